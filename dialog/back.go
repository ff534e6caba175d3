package dialog

import (
	"slices"

	"github.com/hocketvoice/hocket/dialog/agent"
)

// This file: ways back within a flow: to what a correction changes, to the
// beginning, and out of it.

// reopen makes the flow that ended last the current one again, its slots kept.
func (t *turn) reopen(s *agent.Slot) bool {
	f := t.st.Finished
	if f == nil || f.Sealed {
		return false
	}
	target := t.a.def.FlowIndex[f.Flow]
	if target == nil || !target.UsesSlot(s) {
		return false
	}
	st := t.st
	t.flow = target
	st.CurrentFlow, st.CurrentStep, st.WaitingForSlot = f.Flow, "", ""
	st.Path, st.Granted, st.GrantedFor = slices.Clone(f.Path), false, nil
	st.Acted = false
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
		i, ok := t.flow.IDs[id]
		if !ok {
			continue
		}
		s := t.flow.Steps[i]
		if s.Type == agent.StepCollect || s.InLoop || s.Type == agent.StepSay && !reopened {
			continue
		}
		touched := s.Type == agent.StepConfirm || s.Type == agent.StepCall
		if s.Type == agent.StepAction && !s.Action.Declared && len(s.Action.Inputs) == 0 {
			touched = true // it gets all slots
		}
		for _, n := range names {
			touched = touched || s.ReadsName(n)
		}
		if !touched {
			continue
		}
		for _, later := range st.Path[k:] {
			if j, ok := t.flow.IDs[later]; ok && t.flow.Steps[j].Type == agent.StepConfirm && t.flow.Steps[j].Answer != "" {
				st.Slots[t.flow.Steps[j].Answer] = nil
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
		if i, ok := t.flow.IDs[t.st.Path[k]]; ok && t.flow.Steps[i].Type == agent.StepSay {
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
	switch {
	case t.left != "" && t.flow == nil: // what was asked beside it
		t.phrase("all_right")
		t.ended()
	case t.sealed():
		t.doneAlready()
	default:
		t.answer(agent.PatternCancel, about{"failed": t.st.ConversationState == Error})
	}
}

// giveFlowUp leaves the current flow and those that called it. After an error all are left
// (seed 003, ERROR to IDLE).
func (t *turn) giveFlowUp() {
	if t.st.ConversationState == Error {
		t.dropFlow()
		t.enter(Idle)
		return
	}
	for t.flow != nil {
		t.trace("flow_cancelled", TraceData{Flow: t.st.CurrentFlow})
		f, ok := t.resume()
		if !ok {
			break
		}
		if !f.Called {
			t.after = returns
			return
		}
	}
	t.dropFlow()
	t.st.Finished = nil
	t.after = leftFlow
}

// restart begins again: the flow, or the one that has ended.
func (t *turn) restart() {
	t.st.Misses = 0
	of := about{}
	f := t.flow
	if f == nil && t.st.Finished != nil {
		f, of["flow"] = t.a.def.FlowIndex[t.st.Finished.Flow], t.st.Finished.Flow
	}
	if f != nil && !t.mayStart(f) {
		t.cannotHandle("not_possible")
		return
	}
	t.answer(agent.PatternRestart, of)
}

// beginAgain begins the flow again, and the one that called it instead if one did.
func (t *turn) beginAgain() {
	st := t.st
	f := t.flow
	if f == nil && st.Finished != nil {
		f = t.a.def.FlowIndex[st.Finished.Flow]
		st.Finished = nil
	}
	if f == nil {
		return
	}
	for len(st.Stack) > 0 && st.Stack[len(st.Stack)-1].Called {
		frame, ok := t.resume()
		if !ok {
			break
		}
		f = t.a.def.FlowIndex[frame.Flow]
	}
	t.startFlow(f, true)
	t.after = goesOn
}
