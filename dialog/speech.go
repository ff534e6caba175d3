package dialog

import (
	"slices"
	"strings"

	"github.com/hocketvoice/hocket/dialog/agent"
	"github.com/hocketvoice/hocket/dialog/value"
)

// speech builds what the turn says, and tracks the values that the user must hear before a
// yes counts.
type speech struct {
	hearing

	out      Output
	readBack bool
	confirms int    // the line of Say, from 1, that asks to confirm; 0 if there is none
	valued   int    // the first line of Say, from 1, that says a value; 0 if there is none
	tail     string // what is said after the last value
	said     string // the response that is repeated in other words; it stays the last one
}

// sayMessage says one of the variants of a message. It reports whether it said anything.
func (t *speech) sayMessage(m agent.Variants, w agent.Wording) bool {
	tpl := t.variant(m)
	if tpl == nil {
		return false
	}
	return t.sayTemplate(tpl, w)
}

// variant chooses a variant of a message. The choice depends on the turn count, so that it
// is deterministic, and is never the variant that was said last.
func (t *speech) variant(m agent.Variants) *agent.Template {
	tpl := m.Pick(t.st.TurnCount)
	if len(m) < 2 {
		return tpl
	}
	key := m.Key()
	i := slices.Index(m, tpl)
	if last, said := t.st.Variants[key]; said && last == i {
		i = (i + 1) % len(m)
	}
	put(&t.st.Variants, key, i)
	return m[i]
}

func (t *speech) sayTemplate(tpl *agent.Template, w agent.Wording) bool {
	text, behind, err := tpl.Fill(t.scope())
	if err != nil {
		t.fail("TemplateError", err.Error())
		return false
	}
	for _, n := range tpl.Names {
		if t.a.def.SlotIndex[n] != nil && t.st.Slots[n] != nil {
			t.readBack = true
		}
	}
	return t.sayValues(text, behind, w == agent.WordingFixed || w == agent.WordingBySettings && !t.a.def.Settings.Rephrase)
}

func (t *speech) sayText(text string, fixed bool) { t.sayValues(text, -1, fixed) }

// sayValues says a text. The last behind bytes of it follow its last value; if behind is
// negative, the text has no values.
func (t *speech) sayValues(text string, behind int, fixed bool) bool {
	text = strings.TrimSpace(text)
	if text == "" {
		return false
	}
	t.out.Say = append(t.out.Say, Line{Text: text, Fixed: fixed})
	switch {
	case behind >= 0:
		t.tail = text[len(text)-min(behind, len(text)):]
		if t.valued == 0 {
			t.valued = len(t.out.Say)
		}
	case t.valued > 0:
		t.tail += " " + text
	}
	return true
}

// phrase says a phrase of the engine. The values are pairs of a name and a text for its
// placeholders.
func (t *speech) phrase(key string, values ...string) {
	tpl := t.variant(t.a.def.Messages[key])
	if tpl == nil {
		return
	}
	t.phraseOf(tpl, values...)
}

func (t *speech) phraseOf(tpl *agent.Template, values ...string) {
	s := t.scope()
	get := s.Get
	s.Get = func(name string) any {
		for i := 0; i+1 < len(values); i += 2 {
			if values[i] == name {
				return values[i+1]
			}
		}
		return get(name)
	}
	s.Slot = func(name string) *agent.Slot {
		for i := 0; i+1 < len(values); i += 2 {
			if values[i] == name {
				return nil
			}
		}
		return t.a.def.SlotOf(name)
	}
	text, behind, err := tpl.Fill(s)
	if err != nil {
		t.fail("TemplateError", err.Error())
		return
	}
	t.sayValues(text, behind, true)
}

func joinLines(lines []Line) string {
	if len(lines) == 1 {
		return lines[0].Text
	}
	var b strings.Builder
	for i, l := range lines {
		if i > 0 {
			b.WriteByte(' ')
		}
		b.WriteString(l.Text)
	}
	return b.String()
}

// explain says what a slot means.
func (t *speech) explain(s *agent.Slot) {
	if t.sayMessage(s.Help, agent.WordingFixed) {
		return
	}
	d := s.Description
	if r := []rune(d); len(r) > 0 && (r[len(r)-1] == '.' || r[len(r)-1] == '?' || r[len(r)-1] == '!') {
		t.sayText(d, true) // a whole sentence
		return
	}
	if d == "" {
		d = s.Label
	}
	t.phrase("clarify", "description", d)
}

// options lists at most that many values of a slot.
func (t *speech) options(s *agent.Slot, most int) {
	var texts []string
	for _, v := range s.Values[:min(most, len(s.Values))] {
		texts = append(texts, v.Value)
	}
	t.phrase("options", "values", value.Enumerate(texts, t.a.def.Lang.Data.Render.Or))
}

// example gives an example of an answer for a slot.
func (t *speech) example(s *agent.Slot) {
	if s.Closed() {
		t.options(s, someOptions)
		return
	}
	key := ""
	switch s.Type {
	case value.TypeDate:
		if s.Past {
			return // the examples are days in the future
		}
		key = "example_date"
	case value.TypeTime:
		key = "example_time"
	case value.TypeDigits:
		key = "example_digits"
	case value.TypePhone:
		key = "example_phone"
	case value.TypeEmail:
		key = "example_email"
	case value.TypeInteger, value.TypeNumber, value.TypeFloat:
		key = "example_number"
	case value.TypeMoney:
		t.phrase("example_money", "value", t.voice().Speak(int64(50), &s.Spec, ""))
		return
	case value.TypeBoolean:
		key = "example_yes_no"
	case value.TypeCode:
		key = "example_spelling"
	case value.TypeString, value.TypeName, value.TypeEnum, value.TypeCity, value.TypeAddress, value.TypeAny:
		t.phrase("options_free", "label", s.Label)
		return
	}
	t.phrase(key)
}

// suggest asks the user whether a value is right.
func (t *speech) suggest(s *agent.Slot, value any) {
	t.phrase("did_you_mean", "value", t.voice().Speak(value, &s.Spec, ""))
	t.readBack = true
}

// offer says what the agent can do.
func (t *speech) offer() {
	flows := t.offers()
	if flows == "" || t.st.Misses == 1 {
		t.phrase("rephrase")
		return
	}
	t.phrase("options_flows", "flows", flows)
	t.phrase("what_to_do")
}

// repeat says the last response again. After something that cannot be undone it says that these
// are the same words, so that nobody thinks that it was done twice.
func (t *speech) repeat() {
	switch {
	case t.st.LastResponse == "":
	case t.sealed():
		t.said = t.st.LastResponse
		t.phrase("repeated", "value", t.said)
	default:
		t.out.Say = append(t.out.Say, Line{Text: t.st.LastResponse, Fixed: true})
		t.readBack = t.st.ReadBack
		if c := t.st.Confirmation; c != nil && c.Asked {
			t.confirms, t.valued, t.tail = len(t.out.Say), len(t.out.Say), c.Tail
		}
	}
}

// askWhat asks which slot to change.
func (t *speech) askWhat() {
	if len(t.either) < 2 {
		t.phrase("change_which")
		return
	}
	var labels []string
	for _, s := range t.either {
		labels = append(labels, s.Label)
	}
	t.phrase("change_either", "values", value.Enumerate(labels, t.a.def.Lang.Data.Render.Or))
}

func (t *speech) sayHandoff(s *agent.Step) {
	if !t.sayMessage(s.Message, s.Wording) && !t.failed {
		t.phrase("handoff")
	}
}

// sayStep says the message of a step, or the phrase that the step names.
func (t *speech) sayStep(s *agent.Step) {
	if s.Phrase == "" {
		t.sayMessage(s.Message, s.Wording)
		return
	}
	m := t.a.def.Messages[s.Phrase]
	if len(m) == 0 {
		return
	}
	if s.Number == nil {
		t.phraseOf(t.variant(m), texts(t.about)...)
		return
	}
	v, err := s.Number.Eval(t.value)
	if err != nil {
		t.fail("ExpressionError", err.Error())
		return
	}
	n, _ := value.ToNumber(v)
	t.phraseOf(m[max(0, min(int(n), len(m))-1)], texts(t.about)...)
}

func (t *speech) handoff() {
	t.st.Misses = 0
	t.st.HandedOff = true
	t.out.Handoff = true
	t.trace("handoff", TraceData{})
}

// endConversation drops all flows and ends the conversation.
func (t *speech) endConversation() {
	if t.flow != nil {
		t.trace("flow_cancelled", TraceData{Flow: t.st.CurrentFlow})
		t.dropFlow()
		t.st.Finished = nil
		t.enter(Completed)
	}
	t.out.End = true
}

// answerQuestions answers questions for a slot's value or for what an action found. If more
// is true, the message has done something else too. It reports whether it said anything or
// asks the model, which gets a question that has no answer here, if it answers at all and
// the message has no other command.
func (t *speech) answerQuestions(cmds []Command, more bool) bool {
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
