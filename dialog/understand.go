package dialog

import (
	"slices"

	"github.com/hocketvoice/hocket/dialog/command"
	"github.com/hocketvoice/hocket/dialog/value"
	"github.com/hocketvoice/hocket/dialog/words"
)

// This file: who understands a message, and when.

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
	if t.a.def.Settings.Model.Understanding && !t.heard().Plain() && !t.mayTell(false) {
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

// understandLocally understands the message by its words.
func (t *turn) understandLocally(context string) {
	said := t.rd.Raw
	t.leaveFor()
	m := t.meaning(t.a.words)
	if len(m.Commands) == 0 && t.askChoice() {
		return
	}
	t.st.Cache = &NLUCache{Text: said, Context: context}
	if slices.ContainsFunc(m.Commands, func(c Command) bool { s := t.a.def.SlotIndex[c.Slot]; return s != nil && s.Secret }) {
		t.st.Cache = nil
	} else if len(m.Commands) > 0 {
		t.st.Cache.Commands = slices.Clone(m.Commands)
	}
	t.apply(m.Commands)
}

// meaning is what the message means to an understanding, noted for what is said of it.
func (t *turn) meaning(u command.Understander) command.Meaning {
	m := u.Understand(t.moment(), t.rd.Raw)
	if m.Heard.Lang != nil {
		t.rd = m.Heard
	}
	for _, name := range m.Either {
		t.either = append(t.either, t.a.def.SlotIndex[name])
	}
	if m.Values != nil {
		t.st.Either = m.Values
	}
	for _, name := range m.Offered {
		t.mayOffer(t.a.def.FlowIndex[name], m.Given)
	}
	if m.Respelt != "" {
		t.trace("respelt", TraceData{Flow: m.Respelt})
	}
	t.unused = m.Unused
	return m
}

// moment is what the message meets.
func (t *turn) moment() *command.Moment {
	st := t.st
	return &command.Moment{
		Now: t.now, CurrentFlow: st.CurrentFlow, WaitingForSlot: st.WaitingForSlot, Slots: st.Slots, Recent: st.Recent, Week: t.rd.Week,
		Confirming: st.Confirmation != nil, Changing: st.Changing, Failed: t.before == Error, Suggested: t.suggested, Either: t.was,
		Proposed: st.Proposed, ProposedSlots: st.ProposedSlots, Finished: st.Finished,
	}
}

// heard is the message as the words are read now.
func (t *turn) heard() *words.Reading { return t.a.words.Hear(t.moment(), t.rd) }

// Understand returns what a model has understood.
func (in Understood) Understand(*command.Moment, string) command.Meaning {
	m := command.Meaning{Failed: in.Failed, Dropped: in.Dropped}
	for _, c := range in.Commands {
		c.Value = value.Canonical(c.Value)
		m.Commands = append(m.Commands, c)
	}
	return m
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
	m := t.meaning(in)
	if m.Failed {
		t.trace("nlu_failed", TraceData{})
		t.understandLocally(st.CurrentFlow + "/" + st.CurrentStep + "/" + st.WaitingForSlot)
		return
	}
	cmds := m.Commands
	for _, d := range m.Dropped { // dropped again, with a trace, or told
		cmds = append(cmds, d.Command)
	}
	cmds = t.heard().Meant(cmds[:min(len(cmds), maxCommands)])
	if cmds = t.guarded(cmds); len(cmds) == 0 && t.offerOnly() {
		return
	}
	t.apply(cmds)
}
