package dialog

import (
	"strconv"
	"strings"

	"github.com/hocketvoice/hocket/dialog/agent"
	"github.com/hocketvoice/hocket/dialog/value"
)

// This file implements checks of slot values by an external service. A check is an action
// that runs after the value has been collected, and whose result accepts or rejects the
// value.

// askOutside starts the action that checks a slot's value.
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

// checkEnded handles the result of an action that checks a slot's value. It reports whether
// the result was one.
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
		t.checkFailed("ValidatorError", p.Name+" returned no field \"valid\" with true or false")
	case !in.Failed && told && !valid:
		t.turnedDown(s, in.Outputs["message"])
	default:
		t.acceptedOutside(s, in.Outputs["value"])
	}
	return true
}

// checkFailed puts the dialogue into the error state (seed 003, rule 7), from where the
// user may retry the check.
func (t *dialogue) checkFailed(code, message string) {
	if code == "" {
		code = "ValidatorError"
	}
	t.trace("action_failed", TraceData{Step: t.st.Action.Step, Action: t.st.Action.Name, Detail: code})
	t.st.Action.Failed = true
	t.fail(code, message)
}

// acceptedOutside records that the check has accepted the slot's value. If the service
// returns the value in another form, that form is stored.
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

// maxReason bounds the reason that a service gives, in bytes.
const maxReason = 300

// turnedDown clears a value that the check has rejected and asks for it again, with the
// service's reason if there is one (seed 003, rule 4).
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
