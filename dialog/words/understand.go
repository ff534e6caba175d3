package words

import (
	"slices"

	"github.com/hocketvoice/hocket/dialog/agent"
	"github.com/hocketvoice/hocket/dialog/command"
	"github.com/hocketvoice/hocket/dialog/value"
)

// This file understands a message by its words.

// Plain reports whether the words leave no doubt: the message is a trigger or a universal
// command. No model is asked then.
func (t *Reading) Plain() bool {
	if t.flow == nil && t.a.def.FlowIndex[t.st.Proposed] != nil && t.a.def.Lang.YesOrNo(t.rd.Toks) != value.NoAnswer {
		return true
	}
	f := t.a.exactTrigger(t.rd.Toks)
	return f != nil && f != t.flow || t.command(t.rd.Toks) != ""
}

// Meant replaces a yes or no that answers a question for a slot, or whether a suggested
// value is right, by the command that sets the slot.
func (t *Reading) Meant(cmds []command.Command) []command.Command {
	s := t.a.def.SlotIndex[t.st.WaitingForSlot]
	if s == nil || t.flow == nil || t.st.Confirming {
		return cmds
	}
	for i, c := range cmds {
		if c.Type != command.Confirm && c.Type != command.Deny {
			continue
		}
		switch sg := t.st.Suggested; {
		case sg != nil && sg.Slot == s.Name && c.Type == command.Confirm && t.Affirms():
			cmds[i] = command.Command{Type: command.SetSlot, Slot: s.Name, Value: sg.Value}
		case s.Type == value.TypeBoolean:
			cmds[i] = command.Command{Type: command.SetSlot, Slot: s.Name, Value: c.Type == command.Confirm}
		}
	}
	return cmds
}

// command returns the universal command that is the whole message, or "".
func (t *Reading) command(toks []value.Token) command.Type {
	if c := t.a.Command(toks); c != "" {
		return c
	}
	if t.leaves() {
		return command.Cancel
	}
	return ""
}

// Command returns the universal command that is the whole message, or "".
func (a *Words) Command(toks []value.Token) command.Type {
	l := a.def.Lang
	for _, t := range [...][]value.Token{toks, l.Trim(toks), a.Core(toks), a.Core(l.Weak.TrimLeft(l.Trim(toks)))} {
		if len(t) == 0 {
			continue
		}
		if id, ok := l.Commands.Whole(t); ok {
			switch value.CommandWords[id] {
			case "cancel":
				return command.Cancel
			case "restart":
				return command.Restart
			case "repeat":
				return command.RepeatLast
			case "clarify":
				return command.Clarify
			case "options":
				return command.ListOptions
			case "help":
				return command.Help
			case "handoff":
				return command.Handoff
			case "goodbye":
				return command.Goodbye
			}
		}
	}
	switch {
	case len(toks) <= 16 && l.HandoffWithin.Within(toks):
		return command.Handoff
	case a.farewell(toks):
		return command.Goodbye
	}
	return ""
}

// farewell reports whether the message is a farewell with small words around it: "no, that's all
// for now, thanks".
func (a *Words) farewell(toks []value.Token) bool {
	l := a.def.Lang
	toks = l.Trim(toks)
	if id, n := l.YesNo.At(toks, 0); n > 0 && n < len(toks) && id == 1 {
		toks = l.Trim(toks[n:])
	}
	said := false
	for len(toks) > 0 {
		_, n := l.CommandSets["goodbye"].At(toks, 0)
		if said = said || n > 0; said {
			_, after := l.Closing.At(toks, 0)
			n = max(n, after)
		}
		if n == 0 {
			return false
		}
		toks = l.Trim(toks[n:])
	}
	return said
}

// Local returns the commands of the message by its words.
func (t *Reading) Local() []command.Command {
	l, toks, st := t.a.def.Lang, t.rd.Toks, t.st
	if len(toks) == 0 {
		return nil
	}
	if c, ok := t.whole(); ok {
		return []command.Command{c}
	}
	if t.flow == nil && len(t.Sharing()) > 0 {
		return nil // the user is asked which one
	}
	t.rd.Keep()
	answer, rest := value.NoAnswer, 0
	switch {
	case st.Confirming:
		answer, rest = l.LeadingAnswer(toks)
	case t.awaitsYesNo():
		answer, rest = l.Choice(&t.a.def.SlotIndex[st.WaitingForSlot].Spec, toks)
	}
	if t.flow == nil && l.YesOrNo(toks) == value.No {
		return t.rest(answer, rest)
	}
	asked := t.questions()
	if c := t.another(); len(c) > 0 {
		return c
	}
	if c := t.onceAgain(); len(c) > 0 {
		return c
	}
	if t.sealed() {
		if c := t.afterwards(asked); len(c) > 0 || len(t.offered) > 0 {
			return c
		}
	}
	if c := t.corrections(); len(c) > 0 {
		return append(c, asked...)
	}
	if c := t.requests(asked); len(c) > 0 {
		return c
	}
	if len(asked) > 0 {
		return asked
	}
	if c := t.rest(answer, rest); len(c) > 0 {
		return c
	}
	return t.misspelt()
}

// requests returns what the message requests, with the questions about slots that it asks.
func (t *Reading) requests(asked []command.Command) []command.Command {
	if t.flow == nil {
		if c := t.twoRequests(); len(c) > 0 {
			return c
		}
	}
	c := t.request(len(asked) > 0)
	if len(c) == 0 {
		return nil
	}
	if c[0].Type == command.StartFlow { // the question is the request itself, unless its answer is known
		alone := len(t.rd.Sentences(t.rd.Toks)) == 1
		asked = slices.DeleteFunc(asked, func(q command.Command) bool { return alone || t.st.Slots[q.Slot] == nil })
	}
	return append(t.withMisspelt(c), asked...)
}

// whole returns the command that the message is as a whole: a trigger, a universal command, a
// yes or no to a confirmation, a word for the moment.
func (t *Reading) whole() (command.Command, bool) {
	toks, st := t.rd.Toks, t.st
	if f := t.a.exactTrigger(toks); f != nil && f != t.flow {
		return command.Command{Type: command.StartFlow, Flow: f.Name}, true
	}
	if c := t.command(toks); c != "" {
		return command.Command{Type: c}, true
	}
	if st.Confirming && len(st.Either) < 2 {
		switch t.Assent() {
		case Assents:
			return command.Command{Type: command.Confirm}, true
		case Refuses:
			return command.Command{Type: command.Deny}, true
		case NoAssent, GivesUp:
		}
	}
	return t.moment()
}

// afterwards returns what the message asks for after a flow that cannot be undone: a known
// value, or another flow. "Change the date" asks to change a booking, not to book again.
func (t *Reading) afterwards(asked []command.Command) []command.Command {
	known := func(c command.Command) bool { return t.a.def.SlotIndex[c.Slot] != nil && t.st.Slots[c.Slot] != nil }
	if f, _ := t.byPattern(); f == nil && len(t.givenTo(asked)) == 0 && len(asked) > 0 && !slices.ContainsFunc(asked, func(c command.Command) bool { return !known(c) }) {
		return asked
	}
	c := t.request(len(asked) > 0)
	if len(c) > 0 && c[0].Type == command.StartFlow && c[0].Flow != t.st.Finished.Flow {
		return c
	}
	return nil
}

// givenTo returns the values that the message gives for slots that it asks for.
func (t *message) givenTo(asked []command.Command) []found {
	var slots []*agent.Slot
	for _, c := range asked {
		if s := t.a.def.SlotIndex[c.Slot]; s != nil {
			slots = append(slots, s)
		}
	}
	return t.a.extract(t.rd, slots, nil)
}

// moment returns commands that depend on the moment: skip, thanks, hello, wait.
func (t *Reading) moment() (command.Command, bool) {
	l := t.a.def.Lang
	core := l.Trim(t.rd.Toks)
	for _, toks := range [...][]value.Token{t.rd.Toks, core} {
		if len(toks) == 0 {
			continue
		}
		if s := t.a.def.SlotIndex[t.st.WaitingForSlot]; s != nil && t.flow != nil {
			if _, ok := l.CommandSets["skip"].Whole(toks); ok {
				return command.Command{Type: command.Skip}, true
			}
		}
		for _, name := range [...]string{"thanks", "hello", "wait"} {
			if name == "thanks" && t.flow == nil && t.Likes() {
				continue
			}
			if _, ok := l.CommandSets[name].Whole(toks); ok {
				return command.Command{Type: command.Chitchat, Text: name}, true
			}
		}
	}
	return command.Command{}, false
}

func (t *message) awaitsYesNo() bool {
	s := t.a.def.SlotIndex[t.st.WaitingForSlot]
	return s != nil && s.Type == value.TypeBoolean
}

// skips reports whether a no leaves the awaited slot empty.
func (t *message) skips(answer value.Answer) bool {
	s := t.a.def.SlotIndex[t.st.WaitingForSlot]
	return t.flow != nil && s != nil && !s.Required && s.Type != value.TypeBoolean && answer == value.No
}

// answers reports whether the values contain one for the awaited slot.
func (t *message) answers(values []found) bool {
	return slices.ContainsFunc(values, func(f found) bool { return f.slot.Name == t.st.WaitingForSlot })
}

// starting returns the commands that start a flow with values.
func (t *message) starting(f *agent.Flow, values []found) []command.Command {
	again := t.flow == nil && t.st.Finished != nil && t.st.Finished.Flow == f.Name && f.Proposes != nil // the same search with other values
	if f == t.flow || again {
		if cmds := t.setting(values); len(cmds) > 0 {
			return cmds
		}
	}
	cmds := []command.Command{{Type: command.StartFlow, Flow: f.Name}}
	for _, v := range values {
		cmds = append(cmds, command.Command{Type: command.SetSlot, Slot: v.slot.Name, Value: v.value})
	}
	return cmds
}

// setting returns the commands for values of the current flow. It sets new values and
// corrects others.
func (t *message) setting(values []found) []command.Command {
	var cmds []command.Command
	for _, v := range values {
		c := command.Command{Type: command.SetSlot, Slot: v.slot.Name, Value: v.value}
		if old := t.st.Slots[v.slot.Name]; old != nil && v.slot.Name != t.st.WaitingForSlot {
			if value.Equal(old, v.value) || !v.cue && t.a.endsAt(t.rd, v.start) {
				continue // "until Sunday" is not the day of the arrival
			}
			c = t.correction(v)
		}
		cmds = append(cmds, c)
	}
	return cmds
}

// Startable reports whether users may start a flow. They may not start a flow without
// triggers that other flows call.
func (a *Words) Startable(f *agent.Flow) bool {
	return !f.Builtin && !a.closed[f] && (len(f.Triggers) > 0 || !f.Called || f == a.def.Start)
}
