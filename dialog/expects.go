package dialog

import (
	"time"

	"github.com/hocketvoice/hocket/dialog/value"
)

// Expects reports whether words are a value for the slot that the agent asks for, or the beginning
// of one, as they can be said while the agent still speaks. It reports false for a slot that takes
// any words. The state does not change.
func (a *Agent) Expects(st *State, now time.Time, words string) bool {
	s := a.def.SlotIndex[st.WaitingForSlot]
	if st.ConversationState != WaitingForSlot || s == nil || s.Free() {
		return false
	}
	t := a.turn(st, now)
	if t.flow == nil {
		return false
	}
	t.read(words)
	_, sure, direct := t.heard().Simple(s)
	return direct && sure == value.Certain
}
