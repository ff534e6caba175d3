package dialog

import (
	"slices"

	"github.com/hocketvoice/hocket/dialog/agent"
	"github.com/hocketvoice/hocket/dialog/command"
	"github.com/hocketvoice/hocket/dialog/value"
)

// This file carries out commands.

// apply carries out commands.
func (t *turn) apply(cmds []Command) {
	if f := t.a.def.FlowIndex[t.st.Proposed]; f != nil && t.flow == nil && len(cmds) == 1 && cmds[0].Type == Confirm {
		cmds = t.heard().StartProposed(f)
	}
	cmds = t.keepLater(t.checked(cmds))
	if t.flow != nil && t.flow.Builtin && t.foreign(cmds) {
		t.leave()
	}
	if len(cmds) == 0 {
		t.noCommandLeft()
		return
	}
	for _, c := range cmds {
		t.trace("command", TraceData{Command: string(c.Type), Flow: c.Flow, Slot: c.Slot, Value: c.Value, Detail: value.CutText(c.Text, 40)})
	}
	if t.forModel(cmds) {
		t.askModel()
		return
	}
	if t.applyAlone(cmds) {
		return
	}
	start := t.wanted(cmds)
	switch {
	case start == nil && t.sealed() && slices.ContainsFunc(cmds, command.Command.Gives):
		t.doneAlready()
	case start != nil && t.flow != nil && t.before != Error && len(t.st.Stack) >= maxDepth:
		t.notUnderstood()
	default:
		t.applyTo(start, cmds)
	}
}

// noCommandLeft responds to a message without a command that the agent accepts.
func (t *turn) noCommandLeft() {
	switch {
	case t.kept:
		t.st.Misses = 0
		t.phrase("kept")
		t.again()
		t.back()
	case t.barred != nil:
		t.st.Misses = 0
		t.cannotHandle("not_possible")
	case t.sealed() && t.before == Completed && t.heard().AddsCondition():
		t.doneAlready()
	case !t.askWhich() && !t.offerOnly():
		t.notUnderstood()
	}
}

// applyTo carries out commands. If start is not nil, the commands start that flow.
func (t *turn) applyTo(start *agent.Flow, cmds []Command) {
	misses := t.st.Misses
	t.st.Misses = 0
	if t.kept {
		t.phrase("kept")
	} else if len(t.unused) > 0 {
		t.phrase("unused", "value", value.Enumerate(t.unused, t.a.def.Lang.Data.Render.And))
	}
	if start != nil {
		t.begin(start)
	}
	r := t.applySlots(cmds, start != nil)
	if t.failed || r.ended {
		return
	}
	done := r.changed || start != nil || len(r.corrected) > 0
	if r.refused && !done {
		t.st.Misses = misses + 1
		if t.giveUp() && (!r.reopened || t.moved) {
			t.back()
			return
		}
	}
	told := t.answerQuestions(cmds, done)
	switch {
	case t.failed:
	case t.flow != nil:
		t.follow(cmds, start != nil, told, r)
	case told:
		t.back()
	case slices.ContainsFunc(cmds, func(c Command) bool { return c.Type == Confirm }) && t.acceptFound():
	default:
		t.st.Proposed, t.st.ProposedSlots = "", nil
		t.chat(cmds)
	}
}

// follow continues the flow after slots have changed, or carries out the remaining
// commands.
func (t *turn) follow(cmds []Command, started, told bool, r slotResult) {
	has := func(typ CommandType) bool {
		return slices.ContainsFunc(cmds, func(c Command) bool { return c.Type == typ })
	}
	if t.before == Error && (r.changed || len(r.corrected) > 0 || r.ask != nil) {
		t.st.Action = nil
	}
	switch {
	case r.ask != nil:
		t.st.Confirmation = nil
		if len(r.corrected) > 0 {
			t.rewind(r.corrected, r.reopened)
		}
		t.st.Asking = r.ask
		if !r.refused {
			t.phrase("change_what", "label", t.a.def.SlotIndex[r.ask.Slot].Label)
		}
		t.askDeferred()
		t.advance()
	case len(r.corrected) > 0:
		t.st.Confirmation = nil
		t.rewind(r.corrected, r.reopened)
		t.askDeferred()
		t.advance()
	case r.changed || started:
		t.st.Confirmation = nil
		t.advance()
	case has(Confirm) && t.st.Confirmation != nil && t.before == Confirming && !r.refused:
		t.confirmed()
	case has(Deny) && t.st.Confirmation != nil && t.before == Confirming && !r.refused:
		t.denied()
	case r.refused:
		t.again()
		t.back()
	case told:
		if !t.out.Ask {
			t.again()
		}
		t.back()
	default:
		t.chat(cmds)
	}
}

// applyAlone carries out the first command that excludes all others. It reports whether
// there was one.
func (t *turn) applyAlone(cmds []Command) bool {
	for _, c := range cmds {
		switch c.Type {
		case Handoff:
			t.answer(agent.PatternHandoff, builtinContext{"reason": "asked", "possible": t.a.def.Settings.Handoff})
		case Cancel:
			t.cancel()
		case Restart:
			t.restart()
		case RepeatLast:
			t.answer(agent.PatternRepeat, nil)
		case Clarify, ListOptions, Help:
			t.help(string(c.Type))
		case Goodbye:
			t.goodbye()
		case Skip:
			t.leaveEmpty()
		case Retry:
			if t.before != Error {
				t.answer(agent.PatternRepeat, nil)
				return true
			}
			t.retry()
		case CorrectSlot:
			if c.Slot != "" {
				continue
			}
			if t.sealed() {
				t.doneAlready()
				return true
			}
			if t.flow == nil && t.st.Finished == nil {
				t.notUnderstood()
				return true
			}
			t.st.Misses = 0
			t.changing = true
			t.askWhat()
			t.back()
		case StartFlow, SetSlot, Confirm, Deny, Chitchat, AskSlot:
			continue
		}
		return true
	}
	return false
}

// begin starts a flow. If another flow is active, that one waits on the stack.
func (t *turn) begin(f *agent.Flow) {
	if t.flow != nil {
		if t.before == Error { // the new flow replaces the one that failed
			t.dropFlow()
		} else {
			t.suspend(f, false)
		}
	}
	t.startFlow(f, true)
}

// slotResult says what commands did to the slots.
type slotResult struct {
	changed   bool     // a slot was filled
	corrected []string // slots whose values changed
	ask       *Asking  // a slot to ask for again
	reopened  bool     // the flow had ended and was re-opened
	refused   bool     // a value was refused, and the user was told
	ended     bool     // the flow has ended
}

// applySlots puts values into slots. The awaited slot comes last, because its value moves
// the flow on.
func (t *turn) applySlots(cmds []Command, started bool) slotResult {
	var r slotResult
	awaited := ""
	if !started {
		awaited = t.st.WaitingForSlot
	}
	t.coming = make(map[string]any)
	for _, c := range cmds {
		if c.Slot != "" && c.Value != nil {
			t.coming[c.Slot] = c.Value
		}
	}
	defer func() { t.coming = nil }()
	for pass := range 2 {
		for _, c := range cmds {
			if !c.Gives() || (c.Slot == awaited && c.Value != nil) != (pass == 1) {
				continue
			}
			t.applySlot(c, started, pass == 1, &r)
			if t.failed || r.ended {
				return r
			}
		}
	}
	beside := slices.ContainsFunc(cmds, func(c Command) bool { return !c.Gives() })
	if !beside && !r.any() {
		for _, s := range t.dropped { // the message had nothing else
			t.invalid(s)
			r.refused = true
		}
		t.dropped = nil
	}
	return r
}

// any reports whether the commands had an effect.
func (r *slotResult) any() bool {
	return r.changed || r.refused || r.ask != nil || len(r.corrected) > 0
}

func (t *turn) applySlot(c Command, started, awaited bool, r *slotResult) {
	st := t.st
	s := t.a.def.SlotIndex[c.Slot]
	if t.flow == nil {
		if !t.reopen(s) {
			return
		}
		r.reopened = true
	}
	if c.Value == nil {
		r.ask = &Asking{Slot: s.Name, Correction: st.Slots[s.Name] != nil, Reopen: r.reopened}
		return
	}
	old := st.Slots[s.Name]
	kept, ok := t.takeUnderstood(s, c.Value)
	if t.failed {
		return
	}
	if !ok && !r.reopened && t.volunteered(c, awaited) {
		t.dropped = append(t.dropped, s)
		return
	}
	if !ok {
		t.invalid(s)
		r.refused = true
		if r.reopened || old != nil {
			r.ask = &Asking{Slot: s.Name, Correction: true, Reopen: r.reopened}
		}
		return
	}
	t.set(s.Name, kept)
	t.trace("slot_set", TraceData{Slot: s.Name, Value: st.Slots[s.Name]})
	switch {
	case awaited:
		r.changed = true
		t.filled(s)
		r.ended = t.flow == nil
	case old == nil && !r.reopened || started:
		r.changed = true
		t.clearAsked(s.Name)
	default:
		r.corrected = append(r.corrected, s.Name)
		t.clearAsked(s.Name)
		if !value.Equal(old, st.Slots[s.Name]) {
			t.updated(s)
		}
	}
}
