package dialog

import (
	"slices"
	"strings"

	"github.com/hocketvoice/hocket/dialog/value"
)

// This file: what a turn says.

// wording says whether a model may put what is said into other words.
type wording int

const (
	wordingBySettings wording = iota // as settings.rephrase_responses says
	wordingFixed                     // it may not
	wordingFree                      // it may
)

// scope is where templates find values.
func (t *turn) scope() scope {
	return scope{
		get:   func(name string) any { return t.st.Slots[name] },
		slot:  t.a.slotOf,
		Voice: t.voice(),
	}
}

func (t *turn) voice() value.Voice { return value.Voice{Lang: t.a.lang, Today: value.DateOf(t.now)} }

// sayMessage says one of the variants of a message. It reports whether there
// was anything to say.
func (t *turn) sayMessage(m variants, w wording) bool {
	tpl := t.variant(m)
	if tpl == nil {
		return false
	}
	return t.sayTemplate(tpl, w)
}

// variant chooses one of the variants of a message: by the turn, so that the same
// dialogue always says the same, and never the one that was said last.
func (t *turn) variant(m variants) *template {
	tpl := m.pick(t.st.TurnCount)
	if len(m) < 2 {
		return tpl
	}
	key := m.key()
	i := slices.Index(m, tpl)
	if last, said := t.st.Variants[key]; said && last == i {
		i = (i + 1) % len(m)
	}
	put(&t.st.Variants, key, i)
	return m[i]
}

func (t *turn) sayTemplate(tpl *template, w wording) bool {
	text, err := tpl.render(t.scope())
	if err != nil {
		t.fail("TemplateError", err.Error())
		return false
	}
	for _, n := range tpl.names {
		if t.a.slotIndex[n] != nil && t.st.Slots[n] != nil {
			t.readBack = true
		}
	}
	return t.sayText(text, w == wordingFixed || w == wordingBySettings && !t.a.settings.Rephrase)
}

func (t *turn) sayText(text string, fixed bool) bool {
	if text = strings.TrimSpace(text); text == "" {
		return false
	}
	t.out.Say = append(t.out.Say, Line{Text: text, Fixed: fixed})
	return true
}

// phrase says a phrase of the engine with values of its own.
func (t *turn) phrase(key string, values ...string) {
	tpl := t.variant(t.a.messages[key])
	if tpl == nil {
		return
	}
	t.phraseOf(tpl, values...)
}

func (t *turn) phraseOf(tpl *template, values ...string) {
	s := t.scope()
	get := s.get
	s.get = func(name string) any {
		for i := 0; i+1 < len(values); i += 2 {
			if values[i] == name {
				return values[i+1]
			}
		}
		return get(name)
	}
	s.slot = func(name string) *slot {
		for i := 0; i+1 < len(values); i += 2 {
			if values[i] == name {
				return nil
			}
		}
		return t.a.slotOf(name)
	}
	text, err := tpl.render(s)
	if err != nil {
		t.fail("TemplateError", err.Error())
		return
	}
	t.sayText(text, true)
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
