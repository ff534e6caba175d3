//go:build !race

// The race detector allocates by itself.

package conv_test

import (
	"testing"
	"time"

	"github.com/hocketvoice/hocket/conv"
)

// TestFrequentEventsAllocateNothing: what comes many times a second. The warm-up run
// of AllocsPerRun is right: it is the state of a call that goes on.
func TestFrequentEventsAllocateNothing(t *testing.T) {
	for _, c := range []struct {
		name  string
		phase conv.Phase
		event conv.Event
	}{
		{"playout.progress", conv.Speaking, conv.PlayoutProgress{Heard: time.Second, Text: "Where to?"}},
		{"playout.progress in a tool", conv.ToolRunning, conv.PlayoutProgress{Heard: time.Second}},
		{"stt.partial", conv.ListeningCapturing, conv.STTPartial{Text: "book a flight to", Confidence: 0.8}},
		{"stt.partial over the agent", conv.Speaking, conv.STTPartial{Text: "mhm", Confidence: 0.8}},
		{"stt.partial in a tool", conv.ToolRunning, conv.STTPartial{Text: "and also", Confidence: 0.8}},
		{"a late fact", conv.Speaking, conv.ReplyDelta{Turn: 99, Text: "late"}},
		{"an early deadline", conv.Speaking, conv.DeadlinePassed{}},
	} {
		m := ready(t, c.phase)
		now := m.State().Now
		if n := testing.AllocsPerRun(1000, func() {
			now = now.Add(time.Millisecond)
			m.Step(now, c.event)
		}); n != 0 {
			t.Errorf("%s: %v allocations a step, expected none", c.name, n)
		}
	}
}

// allocations is what one step allocates in a conversation whose buffers have grown,
// as they have in a call that is some turns old.
func allocations(m *conv.Conversation, ev conv.Event) float64 {
	st := m.Fork().State()
	back := testing.AllocsPerRun(100, func() { m.Become(st) })
	return testing.AllocsPerRun(100, func() {
		m.Become(st)
		m.Step(st.Now, ev)
	}) - back
}

// TestAllocationsOfTypicalEvents reports what each event of a call allocates, and
// fails where one takes to allocating many times as much.
func TestAllocationsOfTypicalEvents(t *testing.T) {
	for _, c := range typical() {
		m := ready(t, c.phase)
		n := allocations(m, c.event)
		effects := len(m.Last().Effects)
		t.Logf("%-28s %2.0f allocations, %d effects", c.name, n, effects)
		if n > 12 {
			t.Errorf("%s: %v allocations for %d effects", c.name, n, effects)
		}
	}
}
