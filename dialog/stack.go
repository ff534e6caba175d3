package dialog

import (
	"maps"
	"slices"

	"github.com/hocketvoice/hocket/dialog/agent"
)

// This file: flows that wait for others.

// suspend puts the current flow on the stack. The slots that the next flow
// writes too come back when it ends: what the user has given is not lost.
func (t *turn) suspend(next *agent.Flow, called bool) bool {
	st := t.st
	if len(st.Stack) >= maxDepth {
		return false
	}
	f := Frame{
		Flow: st.CurrentFlow, Step: st.CurrentStep, Called: called, Path: slices.Clone(st.Path),
		Asking: st.Asking, Granted: st.Granted, For: st.GrantedFor, Acted: st.Acted, Recent: slices.Clone(st.Recent),
	}
	if !called {
		for _, name := range next.Writes {
			if v, there := st.Slots[name]; there && t.needed(name) {
				put(&f.Saved, name, v)
			}
		}
	}
	st.Stack = append(st.Stack, f)
	t.trace("flow_suspended", TraceData{Flow: st.CurrentFlow, Step: st.CurrentStep})
	return true
}

// needed reports whether the current flow or one that waits behind it has a slot
// or variable.
func (t *turn) needed(name string) bool {
	has := func(f *agent.Flow) bool {
		return f != nil && (slices.Contains(f.Writes, name) || slices.ContainsFunc(f.Slots, func(s *agent.Slot) bool { return s.Name == name }))
	}
	return has(t.flow) || slices.ContainsFunc(t.st.Stack, func(f Frame) bool { return has(t.a.def.FlowIndex[f.Flow]) })
}

// resume goes back to the flow that waits. It reports whether there was one.
func (t *turn) resume() (Frame, bool) {
	st := t.st
	for len(st.Stack) > 0 {
		f := st.Stack[len(st.Stack)-1]
		st.Stack = st.Stack[:len(st.Stack)-1]
		target := t.a.def.FlowIndex[f.Flow]
		if target == nil {
			continue // the agent has changed since the checkpoint
		}
		t.flow = target
		st.CurrentFlow, st.CurrentStep, st.WaitingForSlot = f.Flow, f.Step, ""
		st.Path, st.Granted, st.GrantedFor, st.Recent = f.Path, f.Granted, f.For, f.Recent
		st.Asking, st.Suggested, st.Confirmation, st.Action = f.Asking, nil, nil, nil
		st.Acted = f.Acted || f.Called && st.Acted
		maps.Copy(st.Slots, f.Saved)
		t.trace("flow_resumed", TraceData{Flow: f.Flow, Step: f.Step})
		return f, true
	}
	return Frame{}, false
}
