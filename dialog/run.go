package dialog

import (
	"fmt"
	"maps"
	"slices"

	"github.com/hocketvoice/hocket/dialog/agent"
)

// This file runs the steps of a flow.

// advance runs the flow from its current step until it waits for the user or for an action,
// or has ended.
func (t *turn) advance() {
	st := t.st
	for t.flow != nil && !t.failed {
		if s := t.unchecked(); s != nil {
			t.askOutside(s)
			return
		}
		if s := t.ruledOut(); s != nil {
			t.trace("slot_rejected", TraceData{Slot: s.Name, Detail: "a rule rejects it"})
			t.askAnew(s)
			t.invalid(s)
		}
		if t.failed {
			return
		}
		if st.Asking != nil {
			t.askOutOfTurn()
			return
		}
		if t.tooMany() {
			return
		}
		s := t.step()
		if s == nil {
			if st.CurrentStep != "" { // the agent has changed since the checkpoint
				t.fail("UnknownStepError", "flow "+t.flow.Name+" has no step "+st.CurrentStep)
				return
			}
			if t.flow.First == agent.EndTarget {
				t.endFlow()
				continue
			}
			s = t.flow.Steps[t.flow.First]
		}
		if s.Decides() && st.ConversationState == ValidatingSlot {
			t.enter(Understanding)
		}
		if !t.run(s) {
			return
		}
	}
}

// run runs one step and reports whether the flow goes on.
func (t *turn) run(s *agent.Step) bool {
	switch s.Type {
	case agent.StepCollect:
		return t.runCollect(s)
	case agent.StepSay, agent.StepBranch, agent.StepSet, agent.StepWhile:
		t.st.CurrentStep = s.ID
		to, ok := t.immediate(s)
		return ok && t.next(s, to)
	case agent.StepAction:
		return t.runAction(s)
	case agent.StepConfirm:
		return t.runConfirm(s)
	case agent.StepCall:
		t.visited(s)
		t.st.CurrentStep = s.ID
		if !t.suspend(s.Target, true) {
			t.fail("StackError", fmt.Sprintf("more than %d flows are waiting", maxDepth))
			return false
		}
		t.enterCalled(s.Target)
		return true
	case agent.StepLink:
		t.trace("flow_completed", TraceData{Flow: t.flow.Name, Detail: "link"})
		t.enterCalled(s.Target)
		return true
	case agent.StepHandoff:
		return t.runHandoff(s)
	case agent.StepEngine:
		return t.runEngine(s)
	default:
		panic(fmt.Sprintf("dialog: unexpected step type %d", s.Type))
	}
}

// runHandoff hands the user over to a person and drops all flows.
func (t *turn) runHandoff(s *agent.Step) bool {
	t.st.CurrentStep = s.ID
	t.sayHandoff(s)
	if t.failed {
		return false
	}
	t.visited(s)
	t.handoff()
	ended := FinishedFlow{Flow: t.flow.Name, Path: slices.Clone(t.st.Path)}
	t.trace("flow_completed", TraceData{Flow: t.flow.Name, Detail: "handoff"})
	t.complete(&ended)
	return false
}

// immediate runs a step that needs no answer and returns the index of the next step. It
// reports false if the step has failed.
func (t *turn) immediate(s *agent.Step) (to int, ok bool) {
	var err error
	to = s.Next
	switch s.Type {
	case agent.StepSay:
		t.sayStep(s)
	case agent.StepBranch:
		to, err = t.branch(s)
	case agent.StepSet:
		err = t.setAll(s)
	case agent.StepWhile:
		var again bool
		if again, err = s.Condition.Truth(t.value); again && len(s.Body) > 0 {
			to = s.Body[0]
		} else {
			to = s.Exit
		}
	default:
		panic(fmt.Sprintf("dialog: step type %d is not immediate", s.Type))
	}
	if err != nil {
		t.fail("ExpressionError", err.Error())
		return to, false
	}
	return to, true
}

// texts returns the names and values of the texts in a context, for placeholders in a
// message.
func texts(about builtinContext) []string {
	var out []string
	for _, name := range slices.Sorted(maps.Keys(about)) {
		if text, ok := about[name].(string); ok {
			out = append(out, name, text)
		}
	}
	return out
}

// next moves from step s to the step with index to. It reports whether the flow goes on.
func (t *turn) next(s *agent.Step, to int) bool {
	if t.failed {
		return false
	}
	t.visited(s)
	t.st.WaitingForSlot = ""
	if to == agent.EndTarget {
		t.endFlow()
		return t.flow != nil
	}
	t.st.CurrentStep = t.flow.Steps[to].ID
	return true
}

// runCollect asks for a slot unless it has a value. If the flow comes back to the step,
// runCollect asks again.
func (t *turn) runCollect(s *agent.Step) bool {
	if s.Condition != nil {
		ok, err := s.Condition.Truth(t.value)
		if err != nil {
			t.fail("ExpressionError", err.Error())
			return false
		}
		if !ok {
			return t.next(s, s.Next)
		}
	}
	if i := slices.Index(t.st.Path, s.ID); i >= 0 { // a jump back to the question is for a new value
		t.st.Path = slices.Delete(t.st.Path, i, i+1)
		t.st.Slots[s.Slot.Name] = nil
	}
	if s.AskFirst {
		t.st.Slots[s.Slot.Name] = nil // a value from before the question does not answer it
	}
	if t.st.Slots[s.Slot.Name] != nil {
		return t.next(s, s.Next)
	}
	t.st.CurrentStep = s.ID
	t.st.WaitingForSlot = s.Slot.Name
	t.prompt(s.Slot, s)
	t.propose(s)
	if t.failed {
		return false
	}
	t.enter(WaitingForSlot)
	return false
}
