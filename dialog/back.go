package dialog

import "github.com/hocketvoice/hocket/dialog/agent"

// This file: ways back within a flow: to what a correction changes, to the
// beginning, and out of it.

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
