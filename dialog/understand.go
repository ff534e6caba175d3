package dialog

import (
	"slices"

	"github.com/hocketvoice/hocket/dialog/agent"
	"github.com/hocketvoice/hocket/dialog/value"
)

// This file: understanding without a model: what a message asks for, by the
// words alone.

// understand works out what the message means, and does it. It is the call that
// the economy saves: each is counted.
func (t *turn) understand() {
	st := t.st
	if t.failed {
		return
	}
	if len(t.rd.Toks) == 0 { // nothing to understand
		t.notUnderstood()
		return
	}
	context := st.CurrentFlow + "/" + st.CurrentStep + "/" + st.WaitingForSlot
	if c := st.Cache; c != nil && st.LastNLUCall != 0 && t.ts-st.LastNLUCall >= 0 && t.ts-st.LastNLUCall < 1 &&
		c.Text == t.rd.Raw && c.Context == context {
		t.trace("nlu_cached", TraceData{})
		t.apply(slices.Clone(c.Commands))
		return
	}
	st.NLUCalls++
	st.LastNLUCall = t.ts
	t.trace("nlu", TraceData{})
	if t.a.def.Settings.Model.Understanding && !t.plain() && !t.mayTell(false) {
		st.Pending = t.rd.Raw
		st.Cache, st.Suggested = nil, t.suggested
		t.out.Understand = &UnderstandRequest{
			Text: t.rd.Raw, Slot: st.WaitingForSlot, Confirming: st.Confirmation != nil, Slots: t.a.maskSlots(cloneValues(st.Slots)),
		}
		if t.flow != nil {
			t.out.Understand.Flow = t.flow.Name
		}
		return
	}
	t.understandLocally(context)
}

// plain reports whether the words alone leave no doubt: a trigger phrase as it
// stands, or a command that may be given at any time. No model is asked then.
func (t *turn) plain() bool {
	if t.flow == nil && t.a.def.FlowIndex[t.st.Proposed] != nil && t.a.def.Lang.YesOrNo(t.rd.Toks) != value.NoAnswer {
		return true
	}
	f := t.a.exactTrigger(t.rd.Toks)
	return f != nil && f != t.flow || t.command(t.rd.Toks) != ""
}

func (t *turn) understandLocally(context string) {
	said := t.rd.Raw
	t.repair()
	t.rd.Respell()
	cmds := t.local()
	if len(cmds) == 0 && t.askChoice() {
		return
	}
	for i := range cmds {
		cmds[i].Value = value.Canonical(cmds[i].Value)
	}
	t.unused = t.leftOver(cmds)
	t.st.Cache = &NLUCache{Text: said, Context: context}
	if slices.ContainsFunc(cmds, func(c Command) bool { s := t.a.def.SlotIndex[c.Slot]; return s != nil && s.Secret }) {
		t.st.Cache = nil
	} else if len(cmds) > 0 {
		t.st.Cache.Commands = slices.Clone(cmds)
	}
	t.apply(cmds)
}

// understood takes a model's answer. Without one the local understanding does.
func (t *turn) understood(in Understood) {
	st := t.st
	if st.ConversationState != Understanding || st.Pending == "" {
		t.trace("understanding_late", TraceData{})
		return
	}
	t.before = t.resting()
	text := st.Pending
	st.Pending = ""
	t.read(text)
	t.suggested, st.Suggested = st.Suggested, nil
	if in.Failed {
		t.trace("nlu_failed", TraceData{})
		t.understandLocally(st.CurrentFlow + "/" + st.CurrentStep + "/" + st.WaitingForSlot)
		return
	}
	cmds := make([]Command, 0, len(in.Commands)+len(in.Dropped))
	for _, c := range in.Commands {
		c.Value = value.Canonical(c.Value)
		cmds = append(cmds, c)
	}
	for _, d := range in.Dropped { // dropped again, with a trace, or told
		cmds = append(cmds, d.Command)
	}
	cmds = t.meant(cmds[:min(len(cmds), maxCommands)])
	if !in.borne {
		if cmds = t.guarded(cmds); len(cmds) == 0 && t.offerOnly() {
			return
		}
	}
	t.apply(cmds)
}

// meant puts a yes or no in its place: it may answer a question for a slot, or
// whether a value was heard right.
func (t *turn) meant(cmds []Command) []Command {
	s := t.a.def.SlotIndex[t.st.WaitingForSlot]
	if s == nil || t.flow == nil || t.st.Confirmation != nil {
		return cmds
	}
	for i, c := range cmds {
		if c.Type != Confirm && c.Type != Deny {
			continue
		}
		switch sg := t.suggested; {
		case sg != nil && sg.Slot == s.Name && c.Type == Confirm && t.affirms():
			cmds[i] = Command{Type: SetSlot, Slot: s.Name, Value: sg.Value}
		case s.Type == value.TypeBoolean:
			cmds[i] = Command{Type: SetSlot, Slot: s.Name, Value: c.Type == Confirm}
		}
	}
	return cmds
}

// command finds the command that may be given at any time and is all of the message.
func (t *turn) command(toks []value.Token) CommandType {
	if c := t.a.command(toks); c != "" {
		return c
	}
	if t.leaves() {
		return Cancel
	}
	return ""
}

// command finds the universal command that is all of an utterance, "" if none
// is.
func (a *Agent) command(toks []value.Token) CommandType {
	l := a.def.Lang
	for _, t := range [...][]value.Token{toks, l.Trim(toks), a.core(toks), a.core(l.Weak.TrimLeft(l.Trim(toks)))} {
		if len(t) == 0 {
			continue
		}
		if id, ok := l.Commands.Whole(t); ok {
			switch value.CommandWords[id] {
			case "cancel":
				return Cancel
			case "restart":
				return Restart
			case "repeat":
				return RepeatLast
			case "clarify":
				return Clarify
			case "options":
				return ListOptions
			case "help":
				return Help
			case "handoff":
				return Handoff
			case "goodbye":
				return Goodbye
			}
		}
	}
	if len(toks) <= 16 && l.HandoffWithin.Within(toks) {
		return Handoff
	}
	return ""
}

// local understands the message by its words.
func (t *turn) local() []Command {
	l, toks, st := t.a.def.Lang, t.rd.Toks, t.st
	if len(toks) == 0 {
		return nil
	}
	if f := t.a.exactTrigger(toks); f != nil && f != t.flow {
		return []Command{{Type: StartFlow, Flow: f.Name}}
	}
	if c := t.command(toks); c != "" {
		return []Command{{Type: c}}
	}
	if st.Confirmation != nil {
		switch t.assent() {
		case assents:
			return []Command{{Type: Confirm}}
		case refuses:
			return []Command{{Type: Deny}}
		case noAssent, givesUp:
		}
	}
	if id, ok := t.moment(); ok {
		return []Command{id}
	}
	if t.flow == nil && len(t.a.sharing(toks)) > 0 {
		return nil // which of them is asked
	}
	t.rd.Keep()
	answer, rest := value.NoAnswer, 0
	if st.Confirmation != nil || t.awaitsYesNo() {
		answer, rest = l.LeadingAnswer(toks)
	}
	if t.flow == nil && l.YesOrNo(toks) == value.No {
		return t.rest(answer, rest)
	}
	asked := t.questions()
	if c := t.another(); len(c) > 0 {
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
	if t.flow == nil {
		if c := t.twoRequests(); len(c) > 0 {
			return c
		}
	}
	if c := t.request(len(asked) > 0); len(c) > 0 {
		if c[0].Type == StartFlow { // the question was the request, unless something is known to answer it
			asked = slices.DeleteFunc(asked, func(q Command) bool { return st.Slots[q.Slot] == nil || len(t.rd.Sentences(toks)) == 1 })
		}
		return append(t.withMisspelt(c), asked...)
	}
	if len(asked) > 0 {
		return asked
	}
	if c := t.rest(answer, rest); len(c) > 0 {
		return c
	}
	return t.misspelt()
}

// afterwards is what is asked for after something was done: what is known of it, or what
// another flow does. "Change the date" changes a booking, and books no second time.
func (t *turn) afterwards(asked []Command) []Command {
	known := func(c Command) bool { return t.a.def.SlotIndex[c.Slot] != nil && t.st.Slots[c.Slot] != nil }
	if f, _ := t.byPattern(); f == nil && len(t.givenTo(asked)) == 0 && len(asked) > 0 && !slices.ContainsFunc(asked, func(c Command) bool { return !known(c) }) {
		return asked
	}
	c := t.request(len(asked) > 0)
	if len(c) > 0 && c[0].Type == StartFlow && c[0].Flow != t.st.Finished.Flow {
		return c
	}
	return nil
}

// givenTo are the values that the message gives to slots that it asks for.
func (t *turn) givenTo(asked []Command) []found {
	var slots []*agent.Slot
	for _, c := range asked {
		if s := t.a.def.SlotIndex[c.Slot]; s != nil {
			slots = append(slots, s)
		}
	}
	return t.a.extract(t.rd, slots, nil)
}

// moment finds what is a command only at the moment: skip, thanks, hello, wait.
func (t *turn) moment() (Command, bool) {
	l := t.a.def.Lang
	core := l.Trim(t.rd.Toks)
	for _, toks := range [...][]value.Token{t.rd.Toks, core} {
		if len(toks) == 0 {
			continue
		}
		if s := t.a.def.SlotIndex[t.st.WaitingForSlot]; s != nil && t.flow != nil {
			if _, ok := l.CommandSets["skip"].Whole(toks); ok {
				return Command{Type: Skip}, true
			}
		}
		for _, name := range [...]string{"thanks", "hello", "wait"} {
			if name == "thanks" && t.flow == nil && t.likes() {
				continue
			}
			if _, ok := l.CommandSets[name].Whole(toks); ok {
				return Command{Type: Chitchat, Text: name}, true
			}
		}
	}
	return Command{}, false
}

func (t *turn) awaitsYesNo() bool {
	s := t.a.def.SlotIndex[t.st.WaitingForSlot]
	return s != nil && s.Type == value.TypeBoolean
}

// skips reports whether a no leaves the awaited slot empty.
func (t *turn) skips(answer value.Answer) bool {
	s := t.a.def.SlotIndex[t.st.WaitingForSlot]
	return t.flow != nil && s != nil && !s.Required && s.Type != value.TypeBoolean && answer == value.No
}

// answers reports whether the values have one for the awaited slot.
func (t *turn) answers(values []found) bool {
	return slices.ContainsFunc(values, func(f found) bool { return f.slot.Name == t.st.WaitingForSlot })
}

// starting is a flow to start with values for it.
func (t *turn) starting(f *agent.Flow, values []found) []Command {
	again := t.flow == nil && t.st.Finished != nil && t.st.Finished.Flow == f.Name && f.Proposes != nil // a search, with something changed
	if f == t.flow || again {
		if cmds := t.setting(values); len(cmds) > 0 {
			return cmds
		}
	}
	cmds := []Command{{Type: StartFlow, Flow: f.Name}}
	for _, v := range values {
		cmds = append(cmds, Command{Type: SetSlot, Slot: v.slot.Name, Value: v.value})
	}
	return cmds
}

// setting is values for the current flow: new ones are set, others corrected.
func (t *turn) setting(values []found) []Command {
	var cmds []Command
	for _, v := range values {
		c := Command{Type: SetSlot, Slot: v.slot.Name, Value: v.value}
		if old := t.st.Slots[v.slot.Name]; old != nil && v.slot.Name != t.st.WaitingForSlot {
			if value.Equal(old, v.value) {
				continue
			}
			c = t.correction(v)
		}
		cmds = append(cmds, c)
	}
	return cmds
}
