package dialog

import (
	"slices"
	"strings"

	"github.com/hocketvoice/hocket/dialog/agent"
)

// This file: what may be said at any time, and the answers to it.

// repeat says the last response again.
func (t *turn) repeat() {
	if t.st.LastResponse != "" {
		t.out.Say = append(t.out.Say, Line{Text: t.st.LastResponse, Fixed: true})
		t.readBack = t.st.ReadBack
		if c := t.st.Confirmation; c != nil && c.Asked {
			t.confirms, t.valued, t.tail = len(t.out.Say), len(t.out.Say), c.Tail
		}
	}
}

// explain says what a slot is about.
func (t *turn) explain(s *agent.Slot) {
	if t.sayMessage(s.Help, agent.WordingFixed) {
		return
	}
	d := s.Description
	if r := []rune(d); len(r) > 0 && (r[len(r)-1] == '.' || r[len(r)-1] == '?' || r[len(r)-1] == '!') {
		t.sayText(d, true) // a sentence of its own
		return
	}
	if d == "" {
		d = s.Label
	}
	t.phrase("clarify", "description", d)
}

// help answers a question about the question, the choices or the agent: kind is clarify,
// options or help.
func (t *turn) help(kind string) {
	flows := t.offers()
	if t.a.def.Settings.Model.Answers && flows == "" && t.flow == nil && t.before != Error {
		t.out.Ask = true
		t.back()
		return
	}
	of := about{"kind": kind, "at": t.at(), "closed": false}
	if flows != "" {
		of["flows"] = flows
	}
	if s := t.a.def.SlotIndex[t.st.WaitingForSlot]; s != nil {
		of["closed"] = s.Closed()
	}
	t.answer(agent.PatternHelp, of)
}

// goodbye ends the conversation; in the middle of a flow only a plain farewell
// does.
func (t *turn) goodbye() {
	if t.flow != nil {
		core := t.a.def.Lang.Trim(t.rd.Toks)
		if _, ok := t.a.def.Lang.CommandSets["hangup"].Whole(core); !ok {
			t.notUnderstood()
			return
		}
	}
	t.answer(agent.PatternGoodbye, nil)
}

// endConversation leaves all flows and the conversation.
func (t *turn) endConversation() {
	if t.flow != nil {
		t.trace("flow_cancelled", TraceData{Flow: t.st.CurrentFlow})
		t.dropFlow()
		t.st.Finished = nil
		t.enter(Completed)
	}
	t.out.End = true
}

// skip leaves an optional slot empty.
func (t *turn) skip() {
	st := t.st
	s := t.a.def.SlotIndex[st.WaitingForSlot]
	if s == nil || t.flow == nil {
		t.notUnderstood()
		return
	}
	if s.Required {
		if st.Misses++; t.giveUp() {
			t.back()
			return
		}
		t.answer(agent.PatternSkip, about{"slot": s.Name, "label": s.Label})
		return
	}
	st.Misses = 0
	st.Slots[s.Name] = nil
	t.trace("slot_skipped", TraceData{Slot: s.Name})
	t.filled(s)
	t.advance()
}

// chat answers small talk, and the wish for the flow that is active already.
func (t *turn) chat(cmds []Command) {
	i := slices.IndexFunc(cmds, func(c Command) bool { return c.Type == StartFlow || c.Type == Chitchat })
	if i < 0 {
		t.notUnderstood()
		return
	}
	kind := "other"
	switch c := cmds[i]; {
	case c.Type == StartFlow:
		kind = "same_flow"
	case slices.Contains([]string{"thanks", "hello", "wait", "no"}, c.Text):
		kind = c.Text
	case t.a.def.Settings.Model.Answers:
		t.out.Ask = true
		t.back()
		return
	}
	t.answer(agent.PatternChitchat, about{"kind": kind, "at": t.at()})
}

// answerQuestions tells what the user asked about: the value of a slot, or what
// an action found. It reports whether it said or asked anything. What nobody
// knows goes to the model, if it answers at all and nothing else was said.
func (t *turn) answerQuestions(cmds []Command, more bool) bool {
	told := false
	for _, c := range cmds {
		if c.Type != AskSlot || t.failed {
			continue
		}
		s, label := t.a.def.SlotIndex[c.Slot], strings.ReplaceAll(c.Slot, "_", " ")
		if s != nil {
			label = s.Label
		}
		value := t.st.Slots[c.Slot]
		text := t.voice().Speak(value, s.Form(), "")
		switch {
		case s != nil && s.Secret:
			t.phrase("slot_secret", "label", label)
		case text != "":
			t.phrase("slot_value", "label", label, "value", text)
			t.readBack = true
		case t.a.def.Settings.Model.Answers && !more && len(cmds) == 1 && t.before != Error && t.st.Confirmation == nil:
			t.out.Ask = true
			t.trace("asked_model", TraceData{})
		case s != nil && s.Name == t.st.WaitingForSlot && t.flow != nil && !more:
			t.explain(s)
			if s.Closed() {
				t.example(s)
			}
		case s != nil && s.Closed():
			t.example(s)
		default:
			t.phrase("slot_unknown", "label", label)
		}
		told = true
	}
	return told
}

// taken is a yes to what was found or proposed: the proposed flow begins, or what
// was found is the user's choice from now on, and what goes on from there is
// proposed. It reports whether there was anything to take.
func (t *turn) taken() bool {
	st := t.st
	if st.Finished == nil || len(st.Finished.Found) == 0 {
		return false
	}
	for _, name := range st.Finished.Found {
		if v := st.Slots[name]; v != nil {
			t.set(name, v)
			t.trace("slot_accepted", TraceData{Slot: name, Value: v})
		}
	}
	st.Finished.Found = nil
	if f := t.a.def.FlowIndex[st.Finished.Flow]; f != nil && f.Proposes != nil && t.mayStart(f.Proposes) {
		t.proposeFlow("propose", f.Proposes, nil)
	} else {
		t.phrase("all_right")
	}
	t.back()
	return true
}
