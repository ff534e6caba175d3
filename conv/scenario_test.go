package conv_test

import (
	"testing"

	"github.com/hocketvoice/hocket/conv"
	"github.com/hocketvoice/hocket/convtest"
)

// TestScenarios runs every scenario, and asks of all of them together that they
// take 95 % of the transitions of the phase graph and enter Faulted in every way
// there is (seed 000, section 6).
func TestScenarios(t *testing.T) {
	seen := convtest.NewCoverage()
	if all := convtest.Walk(t, "testdata", seen); !all || t.Failed() {
		return
	}
	total, missing := seen.Edges()
	t.Logf("%d of %d transitions, missing %v", total-len(missing), total, missing)
	if len(missing)*20 > total {
		t.Errorf("%d of %d transitions are in no scenario, expected at most 5 %%: %v", len(missing), total, missing)
	}
	for _, cause := range faultCauses {
		found := false
		for _, p := range conv.Phases() {
			found = found || seen.Took(p, conv.Faulted, cause)
		}
		if !found {
			t.Errorf("no scenario enters Faulted by %s", cause)
		}
	}
	for _, cause := range seen.Causes(conv.Faulted) {
		known := false
		for _, c := range faultCauses {
			known = known || c == cause
		}
		if !known {
			t.Errorf("Faulted is entered by %s, which the list of error paths does not have", cause)
		}
	}
}

// faultCauses are the ways into Faulted.
var faultCauses = []string{
	"fault", "start.timeout", "reply.failed", "reply.stalled", "playout.failed", "playout.timeout",
	"breaker.open", "tool.failed", "tool.timeout", "task.failed", "task.timeout", "reconnect.failed", "reconnect.timeout",
}
