package dialog

import "github.com/hocketvoice/hocket/dialog/agent"

// This file implements cancelling and restarting a flow.

// cancel cancels the current flow and the flows that called it.
func (t *turn) cancel() {
	t.st.Misses = 0
	switch {
	case t.left != "" && t.flow == nil: // the built-in flow was left, and no other flow runs
		t.phrase("all_right")
		t.enterCompleted()
	case t.sealed():
		t.doneAlready()
	default:
		t.answer(agent.PatternCancel, builtinContext{"failed": t.st.ConversationState == Error})
	}
}

// giveFlowUp drops the current flow and the flows that called it. In the error state it
// drops all flows (seed 003, ERROR to IDLE).
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
			t.then = thenContinue
			return
		}
	}
	t.dropFlow()
	t.st.Finished = nil
	t.then = thenComplete
}

// restart restarts the current flow, or the flow that ended last.
func (t *turn) restart() {
	t.st.Misses = 0
	about := builtinContext{}
	f := t.flow
	if f == nil && t.st.Finished != nil {
		f, about["flow"] = t.a.def.FlowIndex[t.st.Finished.Flow], t.st.Finished.Flow
	}
	if f != nil && !t.mayStart(f) {
		t.cannotHandle("not_possible")
		return
	}
	t.answer(agent.PatternRestart, about)
}

// beginAgain starts the current flow again. If a call step started it, the calling flow
// starts again instead.
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
	t.then = thenAdvance
}
