package dialog

import (
	"slices"

	"github.com/hocketvoice/hocket/dialog/agent"
	"github.com/hocketvoice/hocket/dialog/command"
)

// This file: two requests in one message. One is carried out, the other is kept and
// offered when the first is done.

// Request is something that the user has asked for beside another.
type Request struct {
	Flow  string         `json:"flow"`
	Slots map[string]any `json:"slots,omitempty"`
}

const maxLater = 4

// keepLater takes the second and further requests from commands and keeps them. The
// values behind one are its own.
func (t *hearing) keepLater(cmds []Command) []Command {
	var out []Command
	var first *agent.Flow
	later, lost := -1, false
	for _, c := range cmds {
		f := t.a.def.FlowIndex[c.Flow]
		switch {
		case c.Type == StartFlow && c.Text == command.Again && f != nil:
			if later = -1; len(t.st.Later) < maxLater {
				later = len(t.st.Later)
				t.st.Later = append(t.st.Later, Request{Flow: c.Flow})
				t.trace("request_kept", TraceData{Flow: c.Flow})
			}
			lost = later < 0
			t.kept = !lost
			continue
		case lost && (c.Type == SetSlot || c.Type == CorrectSlot):
			continue
		case c.Type == StartFlow && (first == nil || f == first):
			first, later = f, -1
		case c.Type == StartFlow && f == t.flow:
		case c.Type == StartFlow:
			later = slices.IndexFunc(t.st.Later, func(r Request) bool { return r.Flow == c.Flow })
			if later < 0 && len(t.st.Later) < maxLater {
				later = len(t.st.Later)
				t.st.Later = append(t.st.Later, Request{Flow: c.Flow})
				t.trace("request_kept", TraceData{Flow: c.Flow})
			}
			continue
		case later >= 0 && (c.Type == SetSlot || c.Type == CorrectSlot):
			s, kept := t.a.def.SlotIndex[c.Slot], t.a.def.FlowIndex[t.st.Later[later].Flow]
			if c.Value != nil && s != nil && kept != nil && kept.UsesSlot(s) && !s.Secret {
				put(&t.st.Later[later].Slots, c.Slot, c.Value)
			}
			continue
		}
		out = append(out, c)
	}
	return out
}

// offerLater asks about a request that was kept, if there is one.
func (t *turn) offerLater() {
	st := t.st
	for len(st.Later) > 0 {
		r := st.Later[0]
		st.Later = slices.Clone(st.Later[1:])
		if len(st.Later) == 0 {
			st.Later = nil
		}
		if f := t.a.def.FlowIndex[r.Flow]; f != nil && t.mayStart(f) {
			t.proposeFlow("propose_later", f, r.Slots)
			return
		}
	}
}
