package realtime_test

import (
	"flag"
	"testing"

	"go.uber.org/goleak"
)

// TestMain has more tests run at once than there are processors: most keep pace with
// the clock, and wait. Those with sound are fewer: [loud].
func TestMain(m *testing.M) {
	if err := flag.Set("test.parallel", "16"); err != nil {
		panic(err)
	}
	goleak.VerifyTestMain(m)
}
