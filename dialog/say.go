package dialog

import (
	"slices"
	"strings"

	"github.com/hocketvoice/hocket/dialog/agent"
	"github.com/hocketvoice/hocket/dialog/value"
)

// This file: what a turn says.

// scope is where templates find values.
func (t *turn) scope() agent.Scope {
	return agent.Scope{
		Get:   t.value,
		Slot:  t.a.def.SlotOf,
		Voice: t.voice(),
	}
}

func (t *turn) voice() value.Voice {
	return value.Voice{Lang: t.a.def.Lang, Today: value.DateOf(t.now)}
}

// sayMessage says one of the variants of a message. It reports whether there
// was anything to say.
func (t *turn) sayMessage(m agent.Variants, w agent.Wording) bool {
	tpl := t.variant(m)
	if tpl == nil {
		return false
	}
	return t.sayTemplate(tpl, w)
}

// variant chooses one of the variants of a message: by the turn, so that the same
// dialogue always says the same, and never the one that was said last.
func (t *turn) variant(m agent.Variants) *agent.Template {
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

func (t *turn) sayTemplate(tpl *agent.Template, w agent.Wording) bool {
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

func (t *turn) sayText(text string, fixed bool) { t.sayValues(text, -1, fixed) }

// sayValues says a text, so many bytes of which stand behind its last value; below 0
// there is none in it.
func (t *turn) sayValues(text string, behind int, fixed bool) bool {
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

// phrase says a phrase of the engine with values of its own.
func (t *turn) phrase(key string, values ...string) {
	tpl := t.variant(t.a.def.Messages[key])
	if tpl == nil {
		return
	}
	t.phraseOf(tpl, values...)
}

func (t *turn) phraseOf(tpl *agent.Template, values ...string) {
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
