package realtime_test

import (
	"flag"
	"testing"

	"go.uber.org/goleak"
)

// TestMain allows more parallel tests than there are processors, because most tests
// keep pace with the clock and wait. Tests with sound are limited by take.
func TestMain(m *testing.M) {
	if err := flag.Set("test.parallel", "16"); err != nil {
		panic(err)
	}
	goleak.VerifyTestMain(m)
}
