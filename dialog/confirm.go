package dialog

import (
	"strings"

	"github.com/hocketvoice/hocket/dialog/agent"
	"github.com/hocketvoice/hocket/dialog/value"
)

// This file asks for confirmations and handles the answers.

// asksToConfirm sets Output.Confirm if the turn asks to confirm, with the position of the
// last value.
func (t *speech) asksToConfirm() {
	c := t.st.Confirmation
	if c == nil {
		return
	}
	c.Asked, c.Tail = t.confirms > 0 && t.confirms <= len(t.out.Say) && t.st.ConversationState == Confirming, ""
	if !c.Asked {
		return
	}
	from := t.confirms
	if t.valued > 0 {
		from, c.Tail = min(from, t.valued), strings.TrimSpace(t.tail)
	}
	t.out.Confirm = &Question{Text: joinLines(t.out.Say[from-1:]), Tail: c.Tail}
}

// askEarly asks again after a yes that came before the user had heard the values. It
// repeats the part of the question that was not heard.
func (t *turn) askEarly() {
	c := t.st.Confirmation
	t.trace("confirmed_early", TraceData{Step: c.Step})
	t.st.Misses = 0
	switch {
	case c.Unheard == "":
		t.phrase("confirm_early")
	case strings.HasSuffix(c.Unheard, c.Tail) && c.Tail != "":
		t.confirms = len(t.out.Say) + 1
		t.sayValues(c.Unheard, len(c.Tail), true)
	default:
		t.confirms = len(t.out.Say) + 1
		t.sayText(c.Unheard, true)
	}
	t.readBack = true
	c.Early, c.Unheard = false, ""
	if !t.failed {
		t.enter(Confirming)
	}
}

// runConfirm runs a confirm step: it asks for a yes or no.
func (t *speech) runConfirm(s *agent.Step) bool {
	t.st.CurrentStep = s.ID
	t.st.WaitingForSlot = ""
	t.st.Confirmation = &Confirmation{Step: s.ID}
	t.askConfirmation(s)
	return false
}

// askConfirmation says what is going to happen and waits for a yes or no.
func (t *speech) askConfirmation(s *agent.Step) {
	m := s.Message
	key := "confirm"
	if s.Type == agent.StepAction {
		m, key = s.Action.Confirmation, "confirm_action"
	}
	t.confirms = len(t.out.Say) + 1
	tpl := t.variant(m)
	if tpl != nil && tpl.Lacks(t.scope()) {
		tpl = nil // a yes counts for values that are all said
	}
	if (tpl == nil || !t.sayTemplate(tpl, s.Wording)) && !t.failed {
		if summary := t.summary(s); summary != "" {
			t.phrase(key, "summary", summary)
			t.readBack = true
		} else {
			t.phrase("confirm_plain")
		}
	}
	if !t.failed {
		t.enter(Confirming)
	}
}

// summary lists the values that a confirmation is about.
func (t *flows) summary(s *agent.Step) string {
	v := t.voice()
	var parts []string
	add := func(name string) {
		sl := t.a.def.SlotIndex[name]
		if sl == nil || sl.Secret || t.st.Slots[name] == nil {
			return
		}
		parts = append(parts, sl.Label+" "+v.Speak(t.st.Slots[name], &sl.Spec, ""))
	}
	if s.Type == agent.StepAction && s.Action.Declared {
		for _, in := range s.Action.Inputs {
			add(in.From)
		}
	} else {
		for _, sl := range t.flow.Slots {
			add(sl.Name)
		}
	}
	if len(parts) == 0 {
		return ""
	}
	return agent.FirstUpper(strings.Join(parts, ", "))
}

// confirmed continues after a yes.
func (t *turn) confirmed() {
	st := t.st
	s := t.confirmStep()
	if s == nil {
		return
	}
	if st.Confirmation.Early {
		t.askEarly()
		return
	}
	action := st.Confirmation.Action
	st.Confirmation = nil
	t.grant()
	t.trace("confirmed", TraceData{Step: s.ID})
	if action {
		t.advance() // runs the same step, now confirmed
		return
	}
	if s.Answer != "" {
		st.Slots[s.Answer] = true
	}
	if t.next(s, s.OnConfirm) {
		t.advance()
	}
}

// grant records a yes and the inputs of the flow's actions to which it applies. A later
// question, a set step or an action may change an input.
func (t *flows) grant() {
	st := t.st
	st.Granted, st.GrantedFor = true, nil
	for _, s := range t.flow.Steps {
		if s.Type != agent.StepAction || !s.Action.RequiresConfirmation {
			continue
		}
		for _, in := range s.Action.Inputs {
			if v := st.Slots[in.From]; v != nil {
				put(&st.GrantedFor, in.From, v)
			}
		}
	}
}

// granted reports whether the user has confirmed this run of the action with its current
// inputs.
func (t *flows) granted(a *agent.Action) bool {
	if !t.st.Granted {
		return false
	}
	for _, in := range a.Inputs {
		if !value.Equal(t.st.Slots[in.From], t.st.GrantedFor[in.From]) {
			t.trace("confirmation_stale", TraceData{Action: a.Name, Slot: in.From})
			return false
		}
	}
	return true
}

// denied continues after a no.
func (t *turn) denied() {
	st := t.st
	s := t.confirmStep()
	if s == nil {
		return
	}
	action := st.Confirmation.Action
	st.Confirmation, st.Granted, st.GrantedFor = nil, false, nil
	t.trace("denied", TraceData{Step: s.ID})
	t.outcome = "denied"
	if !action && s.Answer != "" {
		st.Slots[s.Answer] = false
	}
	if action || s.DenyEnds {
		t.phrase("denied")
		t.visited(s)
		t.endFlow()
		t.advance()
		return
	}
	if t.next(s, s.OnDeny) {
		t.advance()
	}
}

// confirmStep returns the step of the open confirmation. If there is none, the dialogue
// fails.
func (t *flows) confirmStep() *agent.Step {
	s := t.step()
	if t.st.Confirmation == nil || s == nil || s.ID != t.st.Confirmation.Step {
		t.fail("ConfirmationError", "no confirmation is pending")
		return nil
	}
	return s
}
