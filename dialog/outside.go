package dialog

import (
	"strconv"
	"strings"

	"github.com/hocketvoice/hocket/dialog/agent"
	"github.com/hocketvoice/hocket/dialog/value"
)

// This file: validators that have to ask somebody outside. What asks the outside
// is work and not a function: it becomes an action, awaited like any other behind
// the collecting of the value, whose result takes the value or turns it down.

// askOutside has a service asked about a slot's value.
func (t *speech) askOutside(s *agent.Slot) {
	st := t.st
	st.Calls++
	a := s.Check.Action
	key := t.flow.Name + "." + a.Name + "." + strconv.Itoa(st.Calls)
	st.WaitingForSlot = ""
	st.Action = &PendingAction{
		ID: key, Key: key, Name: a.Name, Step: st.CurrentStep, Inputs: t.inputs(a), Attempt: 1, Check: s.Name,
	}
	t.startAction()
}

// checkEnded takes a service's answer about a slot's value. It reports whether the
// result was one.
func (t *turn) checkEnded(in ActionEnded) bool {
	p := t.st.Action
	if p == nil || p.Check == "" || p.ID != in.ID || p.Failed || t.st.ConversationState != ExecutingAction {
		return false
	}
	s := t.a.def.SlotIndex[p.Check]
	if s == nil || s.Check == nil || t.flow == nil { // the agent has changed since the checkpoint
		t.st.Action = nil
		t.advance()
		return true
	}
	valid, told := in.Outputs["valid"].(bool)
	switch {
	case in.Failed && !s.Check.Lenient:
		t.checkFailed(in.Code, in.Message)
	case !in.Failed && !told && !s.Check.Lenient:
		t.checkFailed("ValidatorError", p.Name+" answers neither valid: true nor valid: false")
	case !in.Failed && told && !valid:
		t.turnedDown(s, in.Outputs["message"])
	default:
		t.acceptedOutside(s, in.Outputs["value"])
	}
	return true
}

// checkFailed is rule 7: the user may have it tried again.
func (t *dialogue) checkFailed(code, message string) {
	if code == "" {
		code = "ValidatorError"
	}
	t.trace("action_failed", TraceData{Step: t.st.Action.Step, Action: t.st.Action.Name, Detail: code})
	t.st.Action.Failed = true
	t.fail(code, message)
}

// acceptedOutside keeps a value that a service has accepted, in the service's spelling if it
// gives one.
func (t *turn) acceptedOutside(s *agent.Slot, v any) {
	st := t.st
	if v != nil && s.Within(value.Canonical(v)) == nil {
		st.Slots[s.Name] = value.Canonical(v)
	}
	put(&st.Checked, s.Name, st.Slots[s.Name])
	st.Action = nil
	t.trace("slot_checked", TraceData{Slot: s.Name, Value: st.Slots[s.Name]})
	t.advance()
}

// maxReason bounds what a service's own words may say, in bytes.
const maxReason = 300

// turnedDown is rule 4 for a value that a service does not take: the value is
// cleared and asked for again, with the service's reason if it gives one.
func (t *turn) turnedDown(s *agent.Slot, reason any) {
	st := t.st
	st.Action = nil
	t.trace("slot_rejected", TraceData{Slot: s.Name, Detail: "turned down by " + s.Check.Action.Name})
	t.askAnew(s)
	st.Misses++
	if t.giveUp() {
		if !t.moved {
			t.awaitAsking(s)
		}
		return
	}
	text, _ := reason.(string)
	if text = strings.Join(strings.Fields(value.CutText(strings.ToValidUTF8(text, "\uFFFD"), maxReason)), " "); text != "" {
		t.sayText(text, true)
	} else {
		t.invalid(s)
	}
	t.advance()
}
