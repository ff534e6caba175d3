package realtime_test

import (
	"flag"
	"strings"
	"sync"
	"testing"
)

var rewrite = flag.Bool("rewrite", false, "write docs/realtime.md from this run")

// check is one of the 74 checks of the protocol.
type check struct {
	id, what string
	test     func(t *testing.T, r *rig)
	with     rigOptions
	speech   bool // it needs the speech engines
}

// results are how the checks came out: "passed", "failed" or "not run".
var results = struct {
	sync.Mutex
	of map[string]string
}{of: map[string]string{}}

// TestConformance runs the checks against the real handler, over real sockets,
// with real speech. Those of the whole run come last.
func TestConformance(t *testing.T) {
	t.Parallel()
	t.Run("checks", func(t *testing.T) {
		for _, list := range [][]check{sessionChecks, itemChecks, responseChecks, audioChecks, bufferChecks, turnChecks, otherChecks} {
			for _, c := range list {
				t.Run(c.id+" "+strings.ReplaceAll(c.what, "/", " "), func(t *testing.T) {
					t.Parallel()
					t.Cleanup(func() { c.note(t) })
					if c.speech {
						engine(t)
						take(t, 1)
					}
					c.with.silent = !c.speech
					c.test(t, newRig(t, c.with))
				})
			}
		}
	})
	for _, c := range wholeChecks {
		t.Run(c.id+" "+c.what, func(t *testing.T) {
			t.Cleanup(func() { c.note(t) })
			run.mu.Lock() // tests beside this one go on
			defer run.mu.Unlock()
			c.test(t, nil)
		})
	}
	documentation(t)
}

func (c *check) note(t *testing.T) {
	results.Lock()
	defer results.Unlock()
	switch {
	case t.Failed():
		results.of[c.id] = "failed"
	case t.Skipped():
		results.of[c.id] = "not run"
	default:
		results.of[c.id] = "passed"
	}
}

// wholeChecks are about every event that any check has seen.
var wholeChecks = []check{
	{id: "C72", what: "every server event validates against the types of npm openai", test: func(t *testing.T, _ *rig) {
		if len(run.invalid) > 0 {
			t.Errorf("%d of %d events do not fit:\n%s", len(run.invalid), run.events, some(run.invalid))
		}
		if run.events < 1000 {
			t.Skipf("only %d events: run all checks", run.events)
		}
	}},
	{id: "C73", what: "no event types that npm openai does not know", test: func(t *testing.T, _ *rig) {
		if len(run.unknown) > 0 {
			t.Errorf("unknown: %s", some(run.unknown))
		}
	}},
	{id: "C74", what: "every event has an event_id, and none is used twice", test: func(t *testing.T, _ *rig) {
		if len(run.withoutID) > 0 || len(run.reused) > 0 {
			t.Errorf("without: %s; twice: %s", some(run.withoutID), some(run.reused))
		}
	}},
}
