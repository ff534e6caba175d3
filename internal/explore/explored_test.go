package explore

import (
	"testing"

	"github.com/hocketvoice/hocket/conv"
)

// TestExplored checks that exactly what the exploration has reached counts as met.
func TestExplored(t *testing.T) {
	e := KnownExplored()
	for _, known := range Known().Phases {
		for _, cause := range known.Causes {
			if !e.Met(known.From, known.To, cause) {
				t.Errorf("%s -> %s (%s) was not met", known.From, known.To, cause)
			}
		}
	}
	// Programs that draw the machine, such as the panel, count by its chart.
	chart, err := NewChart("")
	if err != nil {
		t.Fatal(err)
	}
	charted := 0
	for _, a := range chart.Transitions {
		for _, cause := range a.Causes {
			charted++
			if !e.Met(a.From, a.To, cause) {
				t.Errorf("the chart has %s -> %s (%s), which was not met", a.From, a.To, cause)
			}
		}
	}
	if charted != len(e.taken) {
		t.Errorf("the chart has %d causes of transitions, expected %d", charted, len(e.taken))
	}
	met := conv.Transition{From: conv.Idle, To: conv.Preparing, Cause: "user.start"}
	for name, tc := range map[string]struct {
		step []conv.Transition
		want bool
	}{
		"it stays in its phase":  {nil, true},
		"reached":                {[]conv.Transition{met}, true},
		"another cause":          {[]conv.Transition{{From: conv.Idle, To: conv.Preparing, Cause: "turn.ended"}}, false},
		"another way":            {[]conv.Transition{{From: conv.Idle, To: conv.Speaking, Cause: "user.start"}}, false},
		"one of two was reached": {[]conv.Transition{met, {From: conv.Preparing, To: conv.Idle, Cause: "user.start"}}, false},
	} {
		if got := e.Step(tc.step); got != tc.want {
			t.Errorf("%s: %t, expected %t", name, got, tc.want)
		}
	}
}
