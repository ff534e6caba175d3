package task

import (
	"os"
	"testing"

	"go.uber.org/goleak"
)

// TestMain runs the tests, or a worker that one of them kills.
func TestMain(m *testing.M) {
	if os.Getenv(childCount) != "" {
		os.Exit(child())
	}
	goleak.VerifyTestMain(durable.Tests(server.Tests(m)))
}
