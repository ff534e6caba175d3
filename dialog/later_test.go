package dialog

import (
	"testing"

	"github.com/hocketvoice/hocket/dialog/agent"
)

// TestNoRoomForARequest checks that the values of a request that cannot be kept are not
// used for the first one.
func TestNoRoomForARequest(t *testing.T) {
	a, problems := Parse([]agent.File{{Name: "a.yaml", Data: []byte(`
slots: {amount: {type: number, prompt: How much?}}
flows:
  pay: {description: pay, steps: [{step: a, type: collect, slot: amount}]}
  save: {description: save, steps: [{step: a, type: collect, slot: amount}]}
`)}})
	if a == nil {
		t.Fatal(problems)
	}
	for _, again := range []string{"", "again"} {
		var st State
		a.Start(&st, tuesday)
		for range maxLater {
			st.Later = append(st.Later, Request{Flow: "pay"})
		}
		cmds := a.turn(&st, tuesday).keepLater([]Command{
			{Type: StartFlow, Flow: "pay"},
			{Type: SetSlot, Slot: "amount", Value: 1},
			{Type: StartFlow, Flow: "save", Text: again},
			{Type: SetSlot, Slot: "amount", Value: 2},
		})
		if len(cmds) != 2 || cmds[1].Value != 1 || len(st.Later) != maxLater {
			t.Errorf("%q: %v, with %v for later", again, cmds, st.Later)
		}
	}
}
