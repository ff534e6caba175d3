package dialog

import (
	"strconv"
	"strings"

	"github.com/hocketvoice/hocket/dialog/value"
)

// This file: validators that have to ask somebody outside. What asks the outside
// is work and not a function: it becomes an action, awaited like any other behind
// the collecting of the value, whose result takes the value or turns it down.

// outsideCheck says who is asked about a slot's value.
type outsideCheck struct {
	action *Action
	// lenient: when nobody answers, the value is taken as it is.
	lenient bool
}

// slotValidators reads the validators of a slot: names, and who is asked outside.
func (c *compiler) slotValidators(s *slot, n node) {
	what := "slot " + s.name + ".validator"
	items := n.items
	if n.kind != nodeSequence {
		items = []node{n}
	}
	for _, item := range items {
		if item.kind != nodeMapping {
			s.validators = append(s.validators, c.validatorList(item, what)...)
			continue
		}
		if s.check != nil {
			c.fail(item, "%s: a second service is asked: want one", what)
			continue
		}
		s.check = c.outsideCheck(s, item, what)
	}
}

// outsideCheck reads {http: ..} or {mcp: ..}.
func (c *compiler) outsideCheck(s *slot, n node, what string) *outsideCheck {
	a := &Action{
		Name: "check_" + s.name, Description: "Asks whether " + s.name + " can be taken.", Declared: true, Idempotent: true,
		Inputs: []ActionInput{{Name: s.name, From: s.name}}, Outputs: []string{"message", "valid", "value"}, Checks: s.name,
	}
	check := &outsideCheck{action: a}
	c.fields(n, what, map[string]func(key, value node){
		"http":   func(_, v node) { a.HTTP = c.httpCall(v, what+".http") },
		"mcp":    func(_, v node) { a.MCP = c.mcpCall(v, what+".mcp") },
		"inputs": func(_, v node) { a.Inputs = append(a.Inputs, c.actionInputs(a, v, true)...) },
		"on_error": func(_, v node) {
			switch text := c.text(v, what+".on_error"); text {
			case "accept":
				check.lenient = true
			case "error":
			default:
				c.report(SeverityError, v, nearest(text, []string{"accept", "error"}), "%s.on_error: want accept or error", what)
			}
		},
	})
	if (a.HTTP == nil) == (a.MCP == nil) {
		c.fail(n, "%s: want the name of a validator, or http or mcp, one of them", what)
	}
	c.checks = append(c.checks, a)
	return check
}

// addChecks makes actions of the services that slots ask.
func (c *compiler) addChecks() {
	for _, a := range c.checks {
		if c.a.actionIndex[a.Name] != nil {
			c.fail(node{}, "slot %s: an action is called %s, as the question to its validator would be", a.Checks, a.Name)
			continue
		}
		c.addAction(a)
	}
}

// unchecked is the first slot of the flow whose value nobody outside has accepted.
func (t *turn) unchecked() *slot {
	for _, s := range t.flow.slots {
		if v := t.st.Slots[s.name]; s.check != nil && v != nil && !value.Equal(t.st.Checked[s.name], v) {
			return s
		}
	}
	return nil
}

// askOutside has a service asked about a slot's value.
func (t *turn) askOutside(s *slot) {
	st := t.st
	st.Calls++
	a := s.check.action
	key := t.flow.name + "." + a.Name + "." + strconv.Itoa(st.Calls)
	st.WaitingForSlot = ""
	st.Action = &PendingAction{
		ID: key, Key: key, Name: a.Name, Step: st.CurrentStep, Inputs: t.inputs(a), Attempt: 1, Check: s.name,
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
	s := t.a.slotIndex[p.Check]
	if s == nil || s.check == nil || t.flow == nil { // the agent has changed since the checkpoint
		t.st.Action = nil
		t.advance()
		return true
	}
	valid, told := in.Outputs["valid"].(bool)
	switch {
	case in.Failed && !s.check.lenient:
		t.checkFailed(in.Code, in.Message)
	case !in.Failed && !told && !s.check.lenient:
		t.checkFailed("ValidatorError", p.Name+" answers neither valid: true nor valid: false")
	case !in.Failed && told && !valid:
		t.turnedDown(s, in.Outputs["message"])
	default:
		t.acceptedOutside(s, in.Outputs["value"])
	}
	return true
}

// checkFailed is rule 7: the user may have it tried again.
func (t *turn) checkFailed(code, message string) {
	if code == "" {
		code = "ValidatorError"
	}
	t.trace("action_failed", TraceData{Step: t.st.Action.Step, Action: t.st.Action.Name, Detail: code})
	t.st.Action.Failed = true
	t.fail(code, message)
}

// acceptedOutside keeps a value that a service has accepted, in the service's spelling if it
// gives one.
func (t *turn) acceptedOutside(s *slot, v any) {
	st := t.st
	if v != nil && s.Within(value.Canonical(v)) == nil {
		st.Slots[s.name] = value.Canonical(v)
	}
	put(&st.Checked, s.name, st.Slots[s.name])
	st.Action = nil
	t.trace("slot_checked", TraceData{Slot: s.name, Value: st.Slots[s.name]})
	t.advance()
}

// maxReason bounds what a service's own words may say, in bytes.
const maxReason = 300

// turnedDown is rule 4 for a value that a service does not take: the value is
// cleared and asked for again, with the service's reason if it gives one.
func (t *turn) turnedDown(s *slot, reason any) {
	st := t.st
	st.Action = nil
	t.trace("slot_rejected", TraceData{Slot: s.name, Detail: "turned down by " + s.check.action.Name})
	st.Slots[s.name] = nil
	again := &Asking{Slot: s.name}
	if a := st.Asking; a != nil {
		*again = *a
		again.Slot, again.More = s.name, nil
		for _, name := range append([]string{a.Slot}, a.More...) {
			if name != s.name {
				again.More = append(again.More, name)
			}
		}
	}
	st.Asking = again
	st.Misses++
	if t.giveUp() {
		t.awaitAsking(s)
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
