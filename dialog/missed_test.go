package dialog_test

import (
	"reflect"
	"testing"
	"time"

	"github.com/hocketvoice/hocket/dialog"
	"github.com/hocketvoice/hocket/dialog/agent"
)

// TestMissedAfterAnAction checks that a sentence that means nothing to the agent is not taken for
// a noise after an action that cannot be undone: it may be a condition that came too late.
func TestMissedAfterAnAction(t *testing.T) {
	a, problems := dialog.Parse([]agent.File{{Name: "a.yaml", Data: []byte("settings: {min_confidence: 0.3}\n" + tripAgent)}})
	if a == nil {
		t.Fatal(problems)
	}
	found := "I want to fly from Boston to Denver tomorrow"
	for _, c := range []struct {
		name       string
		say        []string
		text       string
		confidence float64
		missed     bool
	}{
		{"before it", []string{"book a flight"}, "wonderful purple elephants", .9, true},
		{"a condition", []string{found, "yes"}, "but only if it is refundable", .9, false},
		{"doubtful words", []string{found, "yes"}, "but only if it is refundable", .1, true},
		{"a noise", []string{found, "yes"}, "the hm", .9, true},
	} {
		var st dialog.State
		now := time.Date(2026, 1, 5, 12, 0, 0, 0, time.UTC)
		a.Start(&st, now)
		for _, line := range c.say {
			a.Handle(&st, now, dialog.Message{Text: line, Confidence: 1})
		}
		before := st.Clone()
		if missed := a.Missed(&st, now, dialog.Message{Text: c.text, Confidence: c.confidence}); missed != c.missed {
			t.Errorf("%s: missed %v, expected %v", c.name, missed, c.missed)
		}
		if !reflect.DeepEqual(before, st) {
			t.Errorf("%s: the state has changed", c.name)
		}
	}
}
