package dialog

import (
	"fmt"
	"slices"
	"strconv"

	"github.com/hocketvoice/hocket/dialog/value"
)

// This file: how a flow runs from where it stands to the next thing that has
// to be waited for.

// startFlow makes a flow the current one. A fresh start forgets what an earlier
// run of it collected.
func (t *turn) startFlow(f *flow, fresh bool) {
	st := t.st
	other := st.Finished != nil && st.Finished.Flow != f.name // which may have filled what this one takes
	if n := len(st.Stack); n > 0 && st.Stack[n-1].Flow != f.name {
		other = true
	}
	t.flow = f
	st.CurrentFlow, st.CurrentStep, st.WaitingForSlot = f.name, "", ""
	st.Path, st.Granted, st.GrantedFor = nil, false, nil
	st.Asking, st.Suggested, st.Confirmation, st.Action = nil, nil, nil, nil
	st.Runs++
	st.Proposed = ""
	if fresh {
		recent := st.Recent
		st.Recent = nil
		for _, name := range f.writes {
			if st.Slots[name] == nil || !other || !slices.Contains(f.takes, name) || !slices.Contains(recent, name) && !f.collects(name) {
				t.forget(name)
				continue
			}
			st.Recent = append(st.Recent, name)
		}
	}
	t.trace("flow_started", TraceData{Flow: f.name})
}

// forget empties a slot for a new run: its default comes back, and what the
// caller of Start gave stays.
func (t *turn) forget(name string) {
	if slices.Contains(t.st.Given, name) {
		return
	}
	delete(t.st.Slots, name)
	delete(t.st.Checked, name)
	if s := t.a.slotIndex[name]; s != nil && s.def != nil {
		t.st.Slots[name] = value.Canonical(s.def)
	}
}

// enterCalled starts the flow of a call step. It asks anew for what was not
// given in this run.
func (t *turn) enterCalled(f *flow) {
	recent := t.st.Recent
	for _, s := range f.steps {
		if s.typ == stepCollect && !slices.Contains(recent, s.slot.name) {
			t.forget(s.slot.name)
		}
	}
	t.startFlow(f, false)
}

// dropFlow leaves all flows.
func (t *turn) dropFlow() {
	st := t.st
	t.flow = nil
	st.CurrentFlow, st.CurrentStep, st.WaitingForSlot = noFlow, "", ""
	st.Path, st.Stack, st.Granted, st.GrantedFor = nil, nil, false, nil
	st.Asking, st.Suggested, st.Confirmation, st.Action = nil, nil, nil, nil
}

// advance runs the flow from its current step until it waits for the user, for
// an action, or has ended.
func (t *turn) advance() {
	st := t.st
	for t.flow != nil && !t.failed {
		if s := t.unchecked(); s != nil {
			t.askOutside(s)
			return
		}
		if st.Asking != nil {
			t.askOutOfTurn()
			return
		}
		if t.steps++; t.steps > t.a.settings.StepLimit {
			t.fail("StepLimitError", "more than "+strconv.Itoa(t.a.settings.StepLimit)+" steps in one turn")
			return
		}
		s := t.step()
		if s == nil {
			if st.CurrentStep != "" { // the agent has changed since the checkpoint
				t.fail("UnknownStepError", "flow "+t.flow.name+" has no step "+st.CurrentStep)
				return
			}
			if t.flow.first == endTarget {
				t.endFlow()
				continue
			}
			s = t.flow.steps[t.flow.first]
		}
		if s.decides() && st.ConversationState == ValidatingSlot {
			t.enter(Understanding)
		}
		if !t.run(s) {
			return
		}
	}
}

// run runs one step. It reports whether the flow goes on.
func (t *turn) run(s *step) bool {
	switch s.typ {
	case stepCollect:
		return t.runCollect(s)
	case stepSay:
		t.sayMessageOf(s)
		return t.next(s, s.next)
	case stepAction:
		return t.runAction(s)
	case stepBranch:
		return t.runBranch(s)
	case stepConfirm:
		return t.runConfirm(s)
	case stepSet:
		return t.runSet(s)
	case stepWhile:
		return t.runWhile(s)
	case stepCall:
		t.visited(s)
		t.st.CurrentStep = s.id
		if !t.suspend(s.target, true) {
			t.fail("StackError", fmt.Sprintf("more than %d flows wait for each other", maxDepth))
			return false
		}
		t.enterCalled(s.target)
		return true
	case stepLink:
		t.trace("flow_completed", TraceData{Flow: t.flow.name, Detail: "link"})
		t.enterCalled(s.target)
		return true
	case stepHandoff:
		return t.runHandoff(s)
	default:
		panic(fmt.Sprintf("dialog: unexpected step type %d", s.typ))
	}
}

// runHandoff gives the user to a person. All flows are left: the person goes on.
func (t *turn) runHandoff(s *step) bool {
	t.st.CurrentStep = s.id
	if !t.sayMessage(s.message, s.wording) && !t.failed {
		t.phrase("handoff")
	}
	if t.failed {
		return false
	}
	t.visited(s)
	t.handoff()
	ended := FinishedFlow{Flow: t.flow.name, Path: slices.Clone(t.st.Path)}
	t.trace("flow_completed", TraceData{Flow: t.flow.name, Detail: "handoff"})
	t.complete(&ended)
	return false
}

func (t *turn) sayMessageOf(s *step) {
	t.st.CurrentStep = s.id
	t.sayMessage(s.message, s.wording)
}

// next moves behind a step. It reports whether the flow goes on.
func (t *turn) next(s *step, to int) bool {
	if t.failed {
		return false
	}
	t.visited(s)
	t.st.WaitingForSlot = ""
	if to == endTarget {
		t.endFlow()
		return t.flow != nil
	}
	t.st.CurrentStep = t.flow.steps[to].id
	return true
}

// runCollect asks for a slot unless it is filled. A collect step that the flow
// comes back to asks again.
func (t *turn) runCollect(s *step) bool {
	if i := slices.Index(t.st.Path, s.id); i >= 0 { // a jump came back: what for, if not for a new value
		t.st.Path = slices.Delete(t.st.Path, i, i+1)
		t.st.Slots[s.slot.name] = nil
	}
	if t.st.Slots[s.slot.name] != nil {
		return t.next(s, s.next)
	}
	t.st.CurrentStep = s.id
	t.st.WaitingForSlot = s.slot.name
	t.prompt(s.slot, s)
	if t.failed {
		return false
	}
	t.enter(WaitingForSlot)
	return false
}

// prompt asks for a slot.
func (t *turn) prompt(s *slot, st *step) {
	if slices.Contains(t.dropped, s) && t.asked != s { // who has just said it hears why it is asked for
		t.invalid(s)
	}
	switch {
	case t.asked == s:
	case st != nil && st.typ == stepCollect && st.slot == s && t.sayMessage(st.message, st.wording):
	case t.sayMessage(s.prompt, wordingBySettings):
	case s.Type == value.TypeBoolean:
		t.phrase("prompt_yes_no", "label", firstUpper(s.label))
	default:
		t.phrase("prompt", "label", s.label)
	}
}

// askOutOfTurn asks for the slot of Asking.
func (t *turn) askOutOfTurn() {
	s := t.a.slotIndex[t.st.Asking.Slot]
	if s == nil {
		t.st.Asking = nil
		t.fail("UnknownSlotError", "no slot to ask for")
		return
	}
	t.prompt(s, t.collectStep(s))
	t.awaitAsking(s)
}

// awaitAsking awaits the slot of Asking, at its collect step if the flow has one.
func (t *turn) awaitAsking(s *slot) {
	a := t.st.Asking
	if !a.Asked {
		a.Asked, a.Resume = true, t.st.CurrentStep
	}
	if t.failed {
		return
	}
	if c := t.collectStep(s); c != nil {
		t.st.CurrentStep = c.id
	}
	t.st.WaitingForSlot = s.name
	t.enter(WaitingForSlot)
}

// answered ends the question out of turn: the next one, or back to where the
// flow stood.
func (t *turn) answered() {
	a := t.st.Asking
	if t.st.Asking = a.rest(); t.st.Asking == nil && a.Asked {
		t.st.CurrentStep = a.Resume
	}
}

// collectStep finds the flow's step that collects a slot.
func (t *turn) collectStep(s *slot) *step {
	if t.flow == nil {
		return nil
	}
	if cur := t.step(); cur != nil && cur.typ == stepCollect && cur.slot == s {
		return cur
	}
	for _, st := range t.flow.steps {
		if st.typ == stepCollect && st.slot == s {
			return st
		}
	}
	return nil
}

func (t *turn) runBranch(s *step) bool {
	t.st.CurrentStep = s.id
	v, err := s.evaluate.eval(t.value)
	if err != nil {
		t.fail("ExpressionError", err.Error())
		return false
	}
	to := s.fallback
	for _, c := range s.cases {
		if caseMatches(v, c.pattern) {
			to = c.target
			break
		}
	}
	t.trace("branch", TraceData{Step: s.id, Value: value.Canonical(v)})
	return t.next(s, to)
}

func (t *turn) value(name string) any { return t.st.Slots[name] }

func (t *turn) runSet(s *step) bool {
	t.st.CurrentStep = s.id
	if s.condition != nil {
		ok, err := s.condition.truth(t.value)
		if err != nil {
			t.fail("ExpressionError", err.Error())
			return false
		}
		if !ok {
			return t.next(s, s.next)
		}
	}
	for _, set := range s.sets {
		v, err := t.valueOf(set)
		if err != nil {
			t.fail("ExpressionError", err.Error())
			return false
		}
		t.st.Slots[set.name] = value.Canonical(v)
	}
	return t.next(s, s.next)
}

// valueOf works out a value to set.
func (t *turn) valueOf(set setting) (any, error) {
	switch {
	case set.expr != nil:
		return set.expr.eval(t.value)
	case set.text != nil:
		return set.text.render(t.rawScope())
	default:
		return set.value, nil
	}
}

// rawScope fills templates with values as they are kept.
func (t *turn) rawScope() scope {
	s := t.scope()
	s.slot = func(string) *slot { return &slot{Spec: value.Spec{Type: value.TypeString}} }
	return s
}

func (t *turn) runWhile(s *step) bool {
	t.st.CurrentStep = s.id
	ok, err := s.condition.truth(t.value)
	if err != nil {
		t.fail("ExpressionError", err.Error())
		return false
	}
	if ok && len(s.body) > 0 {
		return t.next(s, s.body[0])
	}
	return t.next(s, s.exit)
}
