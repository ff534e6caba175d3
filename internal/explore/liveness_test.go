package explore

import (
	"strings"
	"testing"
	"time"

	"github.com/hocketvoice/hocket/conv"
	"github.com/hocketvoice/hocket/internal/timers"
)

// TestLiveness checks how long a phase lasts at most, with small given graphs of
// states.
func TestLiveness(t *testing.T) {
	const try, processing, heartbeat = timers.Try, timers.Processing, timers.Heartbeat // 8 s, 30 s
	waiting, ready, suspended := conv.Waiting, conv.ListeningReady, conv.Suspended
	for name, tc := range map[string]struct {
		phases        []conv.Phase
		edges         []edge
		stay, longest time.Duration // of the phase Waiting
		violation     string
	}{
		"one deadline": {
			phases: []conv.Phase{waiting, ready},
			edges:  []edge{{0, 1, try, 0, true}},
			stay:   8 * time.Second, longest: 8 * time.Second,
		},
		"one after the other": {
			phases: []conv.Phase{waiting, waiting, ready},
			edges:  []edge{{0, 1, try, 0, false}, {1, 2, try, 0, true}},
			stay:   16 * time.Second, longest: 16 * time.Second,
		},
		"a limit that is armed all the way": {
			phases: []conv.Phase{waiting, waiting, waiting, waiting, waiting, ready},
			edges: []edge{
				{0, 1, try, 1 << processing, false},
				{0, 5, processing, 0, true},
				{1, 2, try, 1 << processing, false},
				{1, 5, processing, 0, true},
				{2, 3, try, 1 << processing, false},
				{2, 5, processing, 0, true},
				{3, 4, try, 1 << processing, false},
				{3, 5, processing, 0, true},
				{4, 5, try, 0, true},
				{4, 5, processing, 0, true},
			},
			stay: 30 * time.Second, longest: 30 * time.Second,
		},
		"a limit that is armed anew": {
			phases: []conv.Phase{waiting, waiting, ready},
			edges:  []edge{{0, 1, try, 0, false}, {0, 2, processing, 0, true}, {1, 2, processing, 0, true}},
			stay:   38 * time.Second, longest: 38 * time.Second,
			violation: "limit of processing.waiting: processing.waiting may last 38s: expected at most 30s",
		},
		"what only tells is no way out": {
			phases: []conv.Phase{waiting, ready},
			edges:  []edge{{0, 0, heartbeat, 1 << processing, false}, {0, 1, processing, 1 << heartbeat, true}},
			stay:   30 * time.Second, longest: 30 * time.Second,
		},
		"put off for ever": {
			phases:    []conv.Phase{waiting, ready},
			edges:     []edge{{0, 0, heartbeat, 0, false}, {0, 1, processing, 0, true}},
			violation: "liveness: processing.waiting is never left",
		},
		"round and round": {
			phases:    []conv.Phase{waiting, suspended},
			edges:     []edge{{0, 1, try, 0, true}, {1, 0, timers.Suspended, 0, true}},
			violation: "is never left for good",
		},
		"through another phase": {
			phases: []conv.Phase{waiting, suspended, ready},
			edges:  []edge{{0, 1, try, 0, true}, {1, 2, timers.Suspended, 0, true}},
			stay:   8 * time.Second, longest: 38 * time.Second,
		},
		"left for a moment": {
			phases: []conv.Phase{waiting, waiting, ready},
			edges:  []edge{{0, 1, try, 0, true}, {1, 2, try, 0, true}},
			stay:   8 * time.Second, longest: 16 * time.Second,
		},
	} {
		t.Run(name, func(t *testing.T) {
			x, err := newExplorer(Config{Name: name})
			if err != nil {
				t.Fatal(err)
			}
			x.phases, x.nodes, x.edges = tc.phases, make([]node, len(tc.phases)), tc.edges
			x.liveness()
			for _, w := range x.lives {
				if w.Phase == waiting && name != "round and round" && (w.Stay != tc.stay || w.Longest != tc.longest) {
					t.Errorf("it lasts %v, and %v in all; expected %v, %v", w.Stay, w.Longest, tc.stay, tc.longest)
				}
			}
			var got []string
			for check, v := range x.violations {
				got = append(got, check+": "+v.What)
			}
			if text := strings.Join(got, "\n"); (tc.violation == "") != (text == "") || !strings.Contains(text, tc.violation) {
				t.Errorf("violations: %q, expected %q", text, tc.violation)
			}
		})
	}
}
