package journal_test

import (
	"bytes"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/hocketvoice/hocket/conv"
	"github.com/hocketvoice/hocket/journal"
	"github.com/hocketvoice/hocket/turn"
)

// TestAlternatives checks that another barge-in policy decides otherwise exactly where the
// user speaks over the agent, and that the recorded one nowhere does.
func TestAlternatives(t *testing.T) {
	trace, err := os.ReadFile("../web/test/fixtures/desk.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	with := func(p turn.BargeInPolicy) []journal.Alternative {
		t.Helper()
		list, err := journal.Alternatives(bytes.NewReader(trace), func(o *conv.Options) {
			o.BargeIn = turn.Profiles{Greeting: turn.BargeInOptions{Policy: p}, Reply: turn.BargeInOptions{Policy: p}, ReadBack: turn.BargeInOptions{Policy: p}}
		})
		if err != nil {
			t.Fatal(err)
		}
		return list
	}
	same, err := journal.Alternatives(bytes.NewReader(trace), func(*conv.Options) {})
	if err != nil || len(same) > 0 {
		t.Errorf("the same options decide otherwise: %+v, error %v", same, err)
	}
	// The caller speaks over the agent from 6.7 s on; the recorded policy lowers its volume,
	// and stops it with the second word at 6.95 s.
	none := with(turn.BargeInNone)
	i := slices.IndexFunc(none, func(a journal.Alternative) bool { return a.Event == "stt.partial" })
	if i < 0 || !slices.Contains(none[i].Recorded, "-> interrupted") || !slices.Contains(none[i].Recorded, "flush_playout") || slices.Contains(none[i].Other, "flush_playout") {
		t.Errorf("none: %+v", none)
	}
	energy := with(turn.BargeInEnergy)
	i = slices.IndexFunc(energy, func(a journal.Alternative) bool { return slices.Contains(a.Other, "flush_playout") })
	if i < 0 || energy[i].At.Sub(none[0].At) > 0 || slices.Contains(energy[i].Recorded, "flush_playout") {
		t.Errorf("energy: %+v", energy)
	}
	if _, err := journal.Alternatives(bytes.NewReader(trace), func(o *conv.Options) { o.BargeIn.Reply.Policy = "loud" }); err == nil || !strings.Contains(err.Error(), "loud") {
		t.Errorf("a policy that there is not: %v", err)
	}
	if _, err := journal.Alternatives(strings.NewReader("{}\n"), func(*conv.Options) {}); err == nil {
		t.Error("what is not a trace was taken")
	}
}
