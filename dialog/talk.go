package dialog

import (
	"strings"

	"github.com/hocketvoice/hocket/dialog/agent"
	"github.com/hocketvoice/hocket/dialog/value"
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
	t.back()
}

// clarify explains the open question.
func (t *turn) clarify() {
	s := t.a.def.SlotIndex[t.st.WaitingForSlot]
	switch {
	case t.before == Error:
		t.phrase("error_help")
	case t.flow == nil:
		t.help()
		return
	case t.st.Confirmation != nil:
		t.phrase("clarify_confirm")
		t.again()
	case s != nil:
		t.explain(s)
		t.again()
	}
	t.back()
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

// listOptions says what can be chosen.
func (t *turn) listOptions() {
	s := t.a.def.SlotIndex[t.st.WaitingForSlot]
	switch {
	case t.flow == nil:
		t.help()
		return
	case t.st.Confirmation != nil:
		t.phrase("example_yes_no")
		t.again()
	case s != nil && s.Closed():
		var texts []string
		for i, v := range s.Values {
			if i == 10 {
				break
			}
			texts = append(texts, v.Value)
		}
		t.phrase("options", "values", value.Enumerate(texts, t.a.def.Lang.Data.Render.Or))
		t.again()
	case s != nil:
		t.explain(s)
		t.example(s)
		t.again()
	}
	t.back()
}

// help says what the agent can do, and then asks again.
func (t *turn) help() {
	switch flows := t.a.offers(); {
	case t.before == Error:
		t.phrase("error_help")
	case t.a.def.Settings.Model.Answers && flows == "" && t.flow == nil:
		t.out.Ask = true
	case t.flow != nil:
		if s := t.a.def.SlotIndex[t.st.WaitingForSlot]; s != nil && t.st.Confirmation == nil {
			t.explain(s)
			t.example(s)
		} else {
			t.phrase("clarify_confirm")
		}
		t.again()
	case flows != "":
		t.phrase("options_flows", "flows", flows)
		t.phrase("what_to_do")
	default:
		t.phrase("what_to_do")
	}
	t.back()
}

// goodbye ends the conversation; in the middle of a flow only a plain farewell
// does.
func (t *turn) goodbye() bool {
	if t.flow != nil {
		core := t.a.def.Lang.Trim(t.rd.Toks)
		if _, ok := t.a.def.Lang.CommandSets["hangup"].Whole(core); !ok {
			t.notUnderstood()
			return true
		}
		t.trace("flow_cancelled", TraceData{Flow: t.st.CurrentFlow})
		t.dropFlow()
		t.st.Finished = nil
		t.enter(Completed)
	} else {
		t.back()
	}
	t.phrase("goodbye")
	t.out.End = true
	return true
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
		st.Misses++
		if !t.giveUp() {
			t.phrase("skip_not", "label", s.Label)
			t.again()
		}
		t.back()
		return
	}
	st.Misses = 0
	st.Slots[s.Name] = nil
	t.trace("slot_skipped", TraceData{Slot: s.Name})
	t.filled(s)
	t.advance()
}

// chat answers small talk.
func (t *turn) chat(cmds []Command) {
	for _, c := range cmds {
		if c.Type == StartFlow { // the flow that is active already
			t.phrase("already_flow")
			t.again()
			t.back()
			return
		}
		if c.Type != Chitchat {
			continue
		}
		switch c.Text {
		case "thanks", "hello":
			t.phrase(c.Text)
			if t.flow != nil || t.before == Error {
				t.again()
			}
		case "wait":
			t.phrase("wait")
		case "no":
			t.phrase("all_right")
		default:
			if t.a.def.Settings.Model.Answers {
				t.out.Ask = true
			} else {
				t.phrase("chitchat")
				t.again()
			}
		}
		t.back()
		return
	}
	t.notUnderstood()
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
	if f := t.a.def.FlowIndex[st.Finished.Flow]; f != nil && f.Proposes != nil {
		t.proposeFlow("propose", f.Proposes, nil)
	} else {
		t.phrase("all_right")
	}
	t.back()
	return true
}
