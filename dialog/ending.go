package dialog

import (
	"cmp"
	"slices"

	"github.com/hocketvoice/hocket/dialog/agent"
)

// This file ends flows.

// endFlow completes the current flow and resumes the flow that waits, if there is one.
func (t *turn) endFlow() {
	st := t.st
	st.Week = ""
	if t.flow.Builtin {
		t.offTop()
		if t.about = nil; t.flow == nil {
			t.enterCompleted()
		}
		return
	}
	t.keepSlots(t.flow)
	ended := FinishedFlow{Flow: st.CurrentFlow, Path: slices.Clone(st.Path), Found: t.found(), Sealed: st.Acted}
	t.trace("flow_completed", TraceData{Flow: st.CurrentFlow})
	if f, ok := t.resume(); ok {
		if f.Called {
			if s := t.step(); s != nil {
				t.next(s, s.Next)
			}
			return
		}
		t.builtin(agent.PatternContinue, nil)
		return
	}
	t.complete(&ended)
}

// collects reports whether the flow asks for a slot.
func collects(f *agent.Flow, name string) bool {
	return slices.ContainsFunc(f.Steps, func(s *agent.Step) bool { return s.Type == agent.StepCollect && s.Slot.Name == name })
}

// doneAlready says that what the user wants to change is already done. It offers a flow
// that matches the words, if there is one.
func (t *turn) doneAlready() {
	t.st.Misses = 0
	t.phrase("done_already")
	if f := t.heard().Nearest(); f != nil && f.Name != t.st.Finished.Flow && t.before != Error {
		t.proposeFlow("", f, nil)
	} else {
		t.phrase("what_to_do")
	}
	t.back()
}

// complete enters COMPLETED (seed 003): the flow is left, and its slots stay for reference.
func (t *turn) complete(ended *FinishedFlow) {
	t.dropFlow()
	t.st.Finished = ended
	outcome := cmp.Or(t.outcome, "done")
	if len(t.out.Say) > 0 {
		outcome = "said"
	}
	if t.out.Handoff || t.builtin(agent.PatternCompleted, builtinContext{"flow": ended.Flow, "outcome": outcome}) {
		t.enterCompleted()
	}
}
