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
