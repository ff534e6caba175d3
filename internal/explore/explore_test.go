package explore

import (
	"strings"
	"testing"

	"github.com/hocketvoice/hocket/conv"
)

// TestShippedMachine checks that the shipped machine has all properties in every
// reachable state.
func TestShippedMachine(t *testing.T) {
	r, err := Run(Shipped(), nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("%d states, %d steps, %d late", r.States, r.Steps, r.Late)
	for _, v := range r.Violations {
		t.Errorf("%s: %s: %s\n%s", v.Config, v.Check, v.What, strings.Join(v.Path, "\n"))
	}
	if want := len(conv.Phases()) * len(alphabet()); r.Pairs < want {
		t.Errorf("%d pairs of phase and event were stepped, expected all %d", r.Pairs, want)
	}
	if r.States < 100_000 {
		t.Errorf("only %d states were reached: the exploration has become too coarse", r.States)
	}
	for _, w := range r.Waits {
		if w.Stay <= 0 || w.Longest < w.Stay {
			t.Errorf("%v lasts at most %v, a sign of life comes within %v: the first must be a part of the second", w.Phase, w.Stay, w.Longest)
		}
	}
	if stale := Known().Stale(r); stale != nil {
		t.Errorf("reached_gen.go is out of date: run go generate ./internal/explore\n%s", strings.Join(stale, "\n"))
	}
}

// TestAlphabetHasEveryEvent checks that the alphabet contains every event.
func TestAlphabetHasEveryEvent(t *testing.T) {
	have := map[string]bool{conv.EventType(conv.DeadlinePassed{}): true}
	for _, ev := range alphabet() {
		have[conv.EventType(ev)] = true
	}
	for _, kind := range conv.EventTypes() {
		if !have[kind] {
			t.Errorf("no %s in the alphabet", kind)
		}
	}
}
