package dialog

import (
	"slices"

	"github.com/hocketvoice/hocket/dialog/agent"
	"github.com/hocketvoice/hocket/dialog/command"
)

// This file handles several requests in one message. The first is carried out; the others are
// kept, and offered when it is done.

// Request is a flow that the user has asked for together with another one.
type Request struct {
	Flow  string         `json:"flow"`
	Slots map[string]any `json:"slots,omitempty"`
}

const maxLater = 4

// Owners of a value other than a request in State.Later, which has its index: the request that
// is carried out, and one that there is no room for.
const (
	here = -1
	lost = -2
)

// keepLater removes all requests but the first from commands and keeps them in State.Later,
// with the values that follow each.
func (t *hearing) keepLater(cmds []Command) []Command {
	var out []Command
	var first *agent.Flow
	later := here
	for _, c := range cmds {
		f := t.a.def.FlowIndex[c.Flow]
		switch {
		case c.Type == StartFlow && c.Text == command.Again && f != nil:
			later = t.keepRequest(c.Flow)
			t.kept = later != lost
		case c.Type == StartFlow && (first == nil || f == first):
			first, later = f, here
			out = append(out, c)
		case c.Type == StartFlow && f != t.flow:
			if later = slices.IndexFunc(t.st.Later, func(r Request) bool { return r.Flow == c.Flow }); later < 0 {
				later = t.keepRequest(c.Flow)
			}
		case c.Gives() && later == lost:
		case c.Gives() && later >= 0:
			t.keepValue(&t.st.Later[later], c)
		default:
			out = append(out, c)
		}
	}
	return out
}

// keepRequest keeps a request for a flow and returns its index in State.Later, or lost if
// too many are kept.
func (t *hearing) keepRequest(flow string) int {
	if len(t.st.Later) >= maxLater {
		return lost
	}
	t.st.Later = append(t.st.Later, Request{Flow: flow})
	t.trace("request_kept", TraceData{Flow: flow})
	return len(t.st.Later) - 1
}

// keepValue keeps a value for a request in State.Later, if its flow uses the slot.
func (t *hearing) keepValue(r *Request, c Command) {
	s, f := t.a.def.SlotIndex[c.Slot], t.a.def.FlowIndex[r.Flow]
	if c.Value != nil && s != nil && f != nil && f.UsesSlot(s) && !s.Secret {
		put(&r.Slots, c.Slot, c.Value)
	}
}

// offerLater offers the first kept request that may start.
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
