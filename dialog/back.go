package dialog

import "slices"

// This file: ways back within a flow: to what a correction changes, to the
// beginning, and out of it.

// reopen makes the flow that ended last the current one again, its slots kept.
func (t *turn) reopen(s *slot) bool {
	f := t.st.Finished
	if f == nil {
		return false
	}
	target := t.a.flowIndex[f.Flow]
	if target == nil || !target.usesSlot(s) {
		return false
	}
	st := t.st
	t.flow = target
	st.CurrentFlow, st.CurrentStep, st.WaitingForSlot = f.Flow, "", ""
	st.Path, st.Granted, st.GrantedFor = slices.Clone(f.Path), false, nil
	st.Finished = nil
	st.Runs++
	t.trace("flow_reopened", TraceData{Flow: f.Flow})
	return true
}

// rewind goes back to the first step that the changed slots decided: an action
// that took them, a branch, a confirmation of what is no longer true. In a flow
// that was re-opened, what was said with the old values is said again. Without
// such a step the flow goes on where it stands.
func (t *turn) rewind(names []string, reopened bool) {
	st := t.st
	st.Granted, st.GrantedFor = false, nil
	for k, id := range st.Path {
		i, ok := t.flow.ids[id]
		if !ok {
			continue
		}
		s := t.flow.steps[i]
		if s.typ == stepCollect || s.inLoop || s.typ == stepSay && !reopened {
			continue
		}
		touched := s.typ == stepConfirm || s.typ == stepCall
		if s.typ == stepAction && !s.action.Declared && len(s.action.Inputs) == 0 {
			touched = true // it gets all slots
		}
		for _, n := range names {
			touched = touched || s.readsName(n)
		}
		if !touched {
			continue
		}
		for _, later := range st.Path[k:] {
			if j, ok := t.flow.ids[later]; ok && t.flow.steps[j].typ == stepConfirm && t.flow.steps[j].answer != "" {
				st.Slots[t.flow.steps[j].answer] = nil
			}
		}
		st.Path = slices.Clone(st.Path[:k])
		st.CurrentStep = id
		t.trace("rewound", TraceData{Step: id})
		return
	}
	if reopened || st.CurrentStep == "" {
		st.CurrentStep = t.lastStep()
	}
}

// lastStep is where a re-opened flow ends again: its last words.
func (t *turn) lastStep() string {
	for k := len(t.st.Path) - 1; k >= 0; k-- {
		if i, ok := t.flow.ids[t.st.Path[k]]; ok && t.flow.steps[i].typ == stepSay {
			return t.st.Path[k]
		}
	}
	if n := len(t.st.Path); n > 0 {
		return t.st.Path[n-1]
	}
	return ""
}

// cancel gives the current flow up, and those that called it.
func (t *turn) cancel() {
	t.st.Misses = 0
	if t.flow == nil {
		t.phrase("nothing_to_cancel")
		t.phrase("what_to_do")
		t.back()
		return
	}
	t.trace("flow_cancelled", TraceData{Flow: t.st.CurrentFlow})
	t.phrase("cancelled")
	for {
		f, ok := t.resume()
		if !ok {
			break
		}
		if !f.Called {
			t.phrase("resume")
			t.advance()
			return
		}
		t.trace("flow_cancelled", TraceData{Flow: f.Flow})
	}
	t.dropFlow()
	t.st.Finished = nil
	t.enter(Completed)
}

// restart begins the flow again.
func (t *turn) restart() {
	st := t.st
	st.Misses = 0
	f := t.flow
	if f == nil && st.Finished != nil {
		f = t.a.flowIndex[st.Finished.Flow]
		st.Finished = nil
	}
	if f == nil {
		t.phrase("restarted")
		t.phrase("what_to_do")
		t.back()
		return
	}
	for len(st.Stack) > 0 && st.Stack[len(st.Stack)-1].Called {
		frame, ok := t.resume()
		if !ok {
			break
		}
		f = t.a.flowIndex[frame.Flow]
	}
	t.phrase("restarted")
	t.startFlow(f, true)
	t.advance()
}
