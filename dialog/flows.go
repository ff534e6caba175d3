package dialog

import (
	"maps"
	"slices"

	"github.com/hocketvoice/hocket/dialog/agent"
	"github.com/hocketvoice/hocket/dialog/value"
)

// flows manages the current flow and the stack of flows that wait:
//
//	          startFlow         suspend: called, interrupted
//	(none) ------------> runs ------------------------------> waits
//	   ^                 | ^ <-------------------------------- |
//	   |  dropFlow       | |            resume
//	   +-----------------+ |
//	ended ---------------- + reopen: the user corrects a value; not if the flow is sealed
//
// A frame of the stack holds the step, the path and the granted confirmation of a flow that
// waits.
type flows struct {
	dialogue

	flow  *agent.Flow // the current flow, or nil
	quiet bool        // the built-in flow that runs is the default one: it is not traced
}

// suspend pushes the current flow on the stack. Unless a call step starts next, suspend
// saves the slots that next writes and a waiting flow needs; resume restores them. It
// reports false if the stack is full.
func (t *flows) suspend(next *agent.Flow, called bool) bool {
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

// needed reports whether the current flow or one on the stack uses a slot or variable.
func (t *flows) needed(name string) bool {
	has := func(f *agent.Flow) bool {
		return f != nil && (slices.Contains(f.Writes, name) || slices.ContainsFunc(f.Slots, func(s *agent.Slot) bool { return s.Name == name }))
	}
	return has(t.flow) || slices.ContainsFunc(t.st.Stack, func(f Frame) bool { return has(t.a.def.FlowIndex[f.Flow]) })
}

// resume pops the flow on top of the stack and makes it the current one. It reports false
// if no flow waits.
func (t *flows) resume() (Frame, bool) {
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

// reopen makes the flow that ended last the current one again, with its slots. It reports
// whether it could.
func (t *flows) reopen(s *agent.Slot) bool {
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

// rewind goes back to the first step that depends on the changed slots: an action that took
// them, a branch on them, or a confirmation. In a re-opened flow it also repeats messages.
// If there is no such step, the flow continues from its current step.
func (t *flows) rewind(names []string, reopened bool) {
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
			touched = true // it takes all slots
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

// lastStep returns the step at which a re-opened flow ends again: the last message of its
// path.
func (t *flows) lastStep() string {
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

// offTop drops the built-in flow on top and resumes the flow below, if there is one.
func (t *flows) offTop() {
	t.st.About = nil
	if _, below := t.resume(); !below {
		t.dropFlow()
	}
}

// found returns the slots that actions of this run have filled and that another flow takes
// over instead of asking.
func (t *flows) found() []string {
	var out []string
	for _, id := range t.st.Path {
		s := t.flow.Steps[t.flow.IDs[id]]
		if s.Type != agent.StepAction {
			continue
		}
		for _, name := range s.Writes {
			if t.st.Slots[name] == nil || slices.Contains(out, name) || slices.Contains(t.st.Recent, name) {
				continue
			}
			if slices.ContainsFunc(t.a.def.Flows, func(f *agent.Flow) bool { return f != t.flow && slices.Contains(f.Takes, name) && collects(f, name) }) {
				out = append(out, name)
			}
		}
	}
	return out
}

// sealed reports whether the flow that ended last has done something that a correction
// cannot undo.
func (t *flows) sealed() bool {
	return t.flow == nil && t.st.Finished != nil && t.st.Finished.Sealed
}

// set stores the value of a slot and makes it the most recent one.
func (t *flows) set(name string, v any) {
	t.st.Slots[name] = value.Canonical(v)
	st := t.st
	t.told(t.a.def.SlotIndex[name])
	if i := slices.Index(st.Recent, name); i >= 0 {
		st.Recent = slices.Delete(st.Recent, i, i+1)
	}
	if len(st.Recent) >= maxRecent {
		st.Recent = slices.Delete(st.Recent, 0, 1)
	}
	st.Recent = append(st.Recent, name)
}

// step returns the current step, or nil if the flow has not begun.
func (t *flows) step() *agent.Step {
	if t.flow == nil || t.st.CurrentStep == "" {
		return nil
	}
	i, ok := t.flow.IDs[t.st.CurrentStep]
	if !ok {
		return nil
	}
	return t.flow.Steps[i]
}

// visited records that the run has passed a step.
func (t *flows) visited(s *agent.Step) {
	if !slices.Contains(t.st.Path, s.ID) {
		t.st.Path = append(t.st.Path, s.ID)
	}
}

// unchecked returns the first slot of the flow whose value an external check has not
// accepted yet, or nil.
func (t *flows) unchecked() *agent.Slot {
	for _, s := range t.flow.Slots {
		if v := t.st.Slots[s.Name]; s.Check != nil && v != nil && !value.Equal(t.st.Checked[s.Name], v) {
			return s
		}
	}
	return nil
}

// askAnew clears a slot and asks for it before anything else.
func (t *flows) askAnew(s *agent.Slot) {
	st := t.st
	st.Slots[s.Name] = nil
	again := &Asking{Slot: s.Name}
	if a := st.Asking; a != nil {
		*again = *a
		again.Slot, again.More = s.Name, nil
		for _, name := range append([]string{a.Slot}, a.More...) {
			if name != s.Name {
				again.More = append(again.More, name)
			}
		}
	}
	st.Asking = again
}

// startFlow makes a flow the current one. If fresh is true, it clears what an earlier run
// of the flow collected, except for values that this flow takes over from another.
func (t *flows) startFlow(f *agent.Flow, fresh bool) {
	st := t.st
	other := st.Finished != nil && st.Finished.Flow != f.Name // another flow may have filled what this one takes
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

// keepSlots records which slots keep their values after the flow f has ended.
func (t *flows) keepSlots(f *agent.Flow) {
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
func (t *flows) mayStart(f *agent.Flow) bool { return f.MayStart(t.value) }

// forget resets a slot to its default for a new run. Values that the caller of Start gave
// and values that another flow keeps stay.
func (t *flows) forget(name string) {
	if slices.Contains(t.st.Given, name) || slices.Contains(t.st.Kept, name) && t.st.Slots[name] != nil {
		return
	}
	delete(t.st.Slots, name)
	delete(t.st.Checked, name)
	if s := t.a.def.SlotIndex[name]; s != nil && s.Default != nil {
		t.st.Slots[name] = value.Canonical(s.Default)
	}
}

// enterCalled starts the flow of a call or link step. It clears the slots that the flow
// asks for and that were not given in this run.
func (t *flows) enterCalled(f *agent.Flow) {
	recent := t.st.Recent
	for _, s := range f.Steps {
		if s.Type == agent.StepCollect && !slices.Contains(recent, s.Slot.Name) {
			t.forget(s.Slot.Name)
		}
	}
	t.startFlow(f, false)
}

// dropFlow drops the current flow and all flows that wait.
func (t *flows) dropFlow() {
	st := t.st
	t.flow = nil
	st.Week = ""
	st.CurrentFlow, st.CurrentStep, st.WaitingForSlot = agent.NoFlow, "", ""
	st.Path, st.Stack, st.Granted, st.GrantedFor = nil, nil, false, nil
	st.Asking, st.Suggested, st.Confirmation, st.Action = nil, nil, nil, nil
}

// awaitAsking waits for the slot of State.Asking, at its collect step if the flow has one.
func (t *flows) awaitAsking(s *agent.Slot) {
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

// answered ends a question out of turn. The next one follows, or the flow continues from
// where it was.
func (t *flows) answered() {
	a := t.st.Asking
	if t.st.Asking = a.rest(); t.st.Asking == nil && a.Asked {
		t.st.CurrentStep = a.Resume
	}
}

// clearAsked ends the question out of turn for a slot that has got its value.
func (t *flows) clearAsked(name string) {
	if a := t.st.Asking; a != nil && a.Slot == name {
		t.answered()
	}
}

// collectStep returns the step of the current flow that collects a slot, or nil.
func (t *flows) collectStep(s *agent.Slot) *agent.Step {
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

// resting returns the state to which the dialogue returns if a message changes nothing.
func (t *flows) resting() ConversationState {
	_, open := t.st.Metadata["error"]
	switch {
	case open:
		return Error
	case t.flow == nil:
		return Idle
	case t.st.Confirmation != nil:
		return Confirming
	default:
		return WaitingForSlot
	}
}

// at returns where the dialogue is, by the name that built-in flows use.
func (t *flows) at() string {
	s := t.a.def.SlotIndex[t.st.WaitingForSlot]
	switch {
	case t.before == Error:
		return "error"
	case t.flow == nil:
		return "idle"
	case t.st.Confirmation != nil:
		return "confirmation"
	case s == nil:
		return "nothing"
	case t.st.Suggested != nil && t.st.Suggested.Slot == s.Name:
		return "suggestion"
	default:
		return "slot"
	}
}

// wanted returns the flow that the commands start, or nil if there is none or it is the
// current one.
func (t *flows) wanted(cmds []Command) *agent.Flow {
	for _, c := range cmds {
		if c.Type == StartFlow {
			if f := t.a.def.FlowIndex[c.Flow]; f != t.flow {
				return f
			}
			return nil
		}
	}
	return nil
}

// branch returns the index of the step to which a branch leads.
func (t *flows) branch(s *agent.Step) (int, error) {
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
