package dialog

import (
	"fmt"
	"maps"
	"slices"
	"strconv"

	"github.com/hocketvoice/hocket/dialog/agent"
	"github.com/hocketvoice/hocket/dialog/value"
)

// This file: how a flow runs from where it stands to the next thing that has
// to be waited for.

// startFlow makes a flow the current one. A fresh start forgets what an earlier
// run of it collected.
func (t *turn) startFlow(f *agent.Flow, fresh bool) {
	st := t.st
	other := st.Finished != nil && st.Finished.Flow != f.Name // which may have filled what this one takes
	if n := len(st.Stack); n > 0 && st.Stack[n-1].Flow != f.Name {
		other = true
	}
	t.flow = f
	st.CurrentFlow, st.CurrentStep, st.WaitingForSlot = f.Name, "", ""
	st.Path, st.Granted, st.GrantedFor, st.Acted = nil, false, nil, false
	st.Asking, st.Suggested, st.Confirmation, st.Action = nil, nil, nil, nil
	st.Runs++
	st.Proposed, st.ProposedSlots = "", nil
	if fresh {
		recent := st.Recent
		st.Recent = nil
		for _, name := range f.Writes {
			if st.Slots[name] == nil || !other || !slices.Contains(f.Takes, name) || !slices.Contains(recent, name) && !collects(f, name) {
				t.forget(name)
				continue
			}
			st.Recent = append(st.Recent, name)
		}
	}
	t.trace("flow_started", TraceData{Flow: f.Name})
}

// keep notes which values of a flow that ends outlive it.
func (t *turn) keep(f *agent.Flow) {
	for _, name := range f.Writes {
		i := slices.Index(t.st.Kept, name)
		switch keeps := slices.Contains(f.Keeps, name); {
		case keeps && i < 0:
			t.st.Kept = append(t.st.Kept, name)
		case !keeps && i >= 0:
			t.st.Kept = slices.Delete(t.st.Kept, i, i+1)
		}
	}
}

// mayStart reports whether the condition of a flow is true.
func (t *turn) mayStart(f *agent.Flow) bool { return f.MayStart(t.value) }

// forget empties a slot for a new run: its default comes back. What the caller of Start gave
// stays, and what another flow has kept.
func (t *turn) forget(name string) {
	if slices.Contains(t.st.Given, name) || slices.Contains(t.st.Kept, name) && t.st.Slots[name] != nil {
		return
	}
	delete(t.st.Slots, name)
	delete(t.st.Checked, name)
	if s := t.a.def.SlotIndex[name]; s != nil && s.Default != nil {
		t.st.Slots[name] = value.Canonical(s.Default)
	}
}

// enterCalled starts the flow of a call step. It asks anew for what was not
// given in this run.
func (t *turn) enterCalled(f *agent.Flow) {
	recent := t.st.Recent
	for _, s := range f.Steps {
		if s.Type == agent.StepCollect && !slices.Contains(recent, s.Slot.Name) {
			t.forget(s.Slot.Name)
		}
	}
	t.startFlow(f, false)
}

// dropFlow leaves all flows.
func (t *turn) dropFlow() {
	st := t.st
	t.flow = nil
	st.Week = ""
	st.CurrentFlow, st.CurrentStep, st.WaitingForSlot = agent.NoFlow, "", ""
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

// tooMany counts a step. It reports whether the turn has taken more than it may.
func (t *turn) tooMany() bool {
	t.steps++
	limit := t.a.def.Settings.StepLimit
	if t.steps > limit {
		t.fail("StepLimitError", "more than "+strconv.Itoa(limit)+" steps in one turn")
	}
	return t.steps > limit
}

// run runs one step. It reports whether the flow goes on.
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
			t.fail("StackError", fmt.Sprintf("more than %d flows wait for each other", maxDepth))
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

// runHandoff gives the user to a person. All flows are left: the person goes on.
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

func (t *turn) sayHandoff(s *agent.Step) {
	if !t.sayMessage(s.Message, s.Wording) && !t.failed {
		t.phrase("handoff")
	}
}

// immediate runs a step that needs nobody's answer. It returns the step to go on with; it is
// not ok if the step has failed.
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
		panic(fmt.Sprintf("dialog: step type %d needs an answer", s.Type))
	}
	if err != nil {
		t.fail("ExpressionError", err.Error())
		return to, false
	}
	return to, true
}

// sayStep says the message of a step, or the phrase that it names.
func (t *turn) sayStep(s *agent.Step) {
	if s.Phrase == "" {
		t.sayMessage(s.Message, s.Wording)
		return
	}
	m := t.a.def.Messages[s.Phrase]
	if len(m) == 0 {
		return
	}
	if s.Number == nil {
		t.phraseOf(t.variant(m), texts(t.about)...)
		return
	}
	v, err := s.Number.Eval(t.value)
	if err != nil {
		t.fail("ExpressionError", err.Error())
		return
	}
	n, _ := value.ToNumber(v)
	t.phraseOf(m[max(0, min(int(n), len(m))-1)], texts(t.about)...)
}

// texts are the names and values that a phrase of the engine may have in braces.
func texts(of about) []string {
	var out []string
	for _, name := range slices.Sorted(maps.Keys(of)) {
		if text, ok := of[name].(string); ok {
			out = append(out, name, text)
		}
	}
	return out
}

// next moves behind a step. It reports whether the flow goes on.
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

// runCollect asks for a slot unless it is filled. A collect step that the flow
// comes back to asks again.
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
	if i := slices.Index(t.st.Path, s.ID); i >= 0 { // a jump came back: what for, if not for a new value
		t.st.Path = slices.Delete(t.st.Path, i, i+1)
		t.st.Slots[s.Slot.Name] = nil
	}
	if s.AskFirst {
		t.st.Slots[s.Slot.Name] = nil // what was said before the question is no answer to it
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

// propose notes the value that a yes to the step's question takes, if it has one.
func (t *turn) propose(s *agent.Step) {
	if s.Suggest == nil || s.Slot.Secret || t.failed {
		return
	}
	v, err := s.Suggest.Eval(t.value)
	if err != nil {
		t.fail("ExpressionError", err.Error())
		return
	}
	if v == nil {
		return
	}
	if kept, sure := t.heard().Normalise(s.Slot, v); sure == value.Certain {
		t.st.Suggested = &Suggestion{Slot: s.Slot.Name, Value: value.Canonical(kept)}
	}
}

// prompt asks for a slot.
func (t *turn) prompt(s *agent.Slot, st *agent.Step) {
	if slices.Contains(t.dropped, s) && t.asked != s { // who has just said it hears why it is asked for
		t.invalid(s)
	}
	switch {
	case t.asked == s:
	case st != nil && st.Type == agent.StepCollect && st.Slot == s && t.sayMessage(st.Message, st.Wording):
	case t.sayMessage(s.Prompt, agent.WordingBySettings):
	case s.Type == value.TypeBoolean:
		t.phrase("prompt_yes_no", "label", agent.FirstUpper(s.Label))
	default:
		t.phrase("prompt", "label", s.Label)
	}
}

// askOutOfTurn asks for the slot of Asking.
func (t *turn) askOutOfTurn() {
	s := t.a.def.SlotIndex[t.st.Asking.Slot]
	if s == nil {
		t.st.Asking = nil
		t.fail("UnknownSlotError", "no slot to ask for")
		return
	}
	t.prompt(s, t.collectStep(s))
	t.awaitAsking(s)
}

// awaitAsking awaits the slot of Asking, at its collect step if the flow has one.
func (t *turn) awaitAsking(s *agent.Slot) {
	a := t.st.Asking
	if !a.Asked {
		a.Asked, a.Resume = true, t.st.CurrentStep
	}
	if t.failed {
		return
	}
	if c := t.collectStep(s); c != nil {
		t.st.CurrentStep = c.ID
	}
	t.st.WaitingForSlot = s.Name
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
func (t *turn) collectStep(s *agent.Slot) *agent.Step {
	if t.flow == nil {
		return nil
	}
	if cur := t.step(); cur != nil && cur.Type == agent.StepCollect && cur.Slot == s {
		return cur
	}
	for _, st := range t.flow.Steps {
		if st.Type == agent.StepCollect && st.Slot == s {
			return st
		}
	}
	return nil
}

// branch chooses where a branch goes.
func (t *turn) branch(s *agent.Step) (int, error) {
	v, err := s.Evaluate.Eval(t.value)
	if err != nil {
		return 0, err
	}
	if !t.quiet {
		t.trace("branch", TraceData{Step: s.ID, Value: value.Canonical(v)})
	}
	for _, c := range s.Cases {
		if agent.CaseMatches(v, c.Pattern) {
			return c.Target, nil
		}
	}
	return s.Fallback, nil
}

// value is what a name stands for: a slot or a variable, or what a built-in flow is about.
func (t *turn) value(name string) any {
	if name == agent.Context && t.about != nil {
		return t.about
	}
	return t.st.Slots[name]
}

// setAll gives the slots of a set step their values, unless its condition is false.
func (t *turn) setAll(s *agent.Step) error {
	if s.Condition != nil {
		if ok, err := s.Condition.Truth(t.value); err != nil || !ok {
			return err
		}
	}
	for _, set := range s.Sets {
		v, err := t.valueOf(set)
		if err != nil {
			return err
		}
		t.st.Slots[set.Name] = value.Canonical(v)
	}
	return nil
}

// valueOf works out a value to set.
func (t *turn) valueOf(set agent.Setting) (any, error) {
	switch {
	case set.Expression != nil:
		return set.Expression.Eval(t.value)
	case set.Text != nil:
		return set.Text.Render(t.rawScope())
	default:
		return set.Value, nil
	}
}

// rawScope fills templates with values as they are kept.
func (t *turn) rawScope() agent.Scope {
	s := t.scope()
	s.Slot = func(string) *agent.Slot { return &agent.Slot{Spec: value.Spec{Type: value.TypeString}} }
	return s
}
