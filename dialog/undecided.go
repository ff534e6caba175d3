package dialog

import (
	"slices"

	"github.com/hocketvoice/hocket/dialog/agent"
	"github.com/hocketvoice/hocket/dialog/value"
)

// askDay says why what was said is no day: a week, or a day that does not exist. It
// reports whether it was that.
func (t *turn) askDay(s *agent.Slot) bool {
	if s == nil || s.Type != value.TypeDate || s.Closed() {
		return false
	}
	day := t.rd.NoSuchDay(&s.Spec)
	switch {
	case day != "":
		t.phrase("no_such_day", "value", day)
	case t.rd.WeekSaid() != "":
		t.phrase("which_week_day")
	default:
		return false
	}
	t.prompt(s, t.collectStep(s))
	return true
}

// askAmount says why what was said is no amount: it is below zero, in another currency, or
// written so that nobody can tell. It reports whether it was that.
func (t *turn) askAmount(s *agent.Slot) bool {
	if s == nil || s.Type != value.TypeMoney || s.Closed() {
		return false
	}
	why, text := t.rd.NoAmount(&s.Spec)
	switch why {
	case value.BelowZero:
		t.phrase("below_zero", "label", s.Label)
	case value.OtherCurrency:
		t.phrase("other_currency", "label", s.Label, "value", t.a.def.Lang.Data.Currencies[s.Currency].Many)
	case value.UnclearAmount:
		t.phrase("unclear_amount", "value", text)
	case value.SomeAmount:
		return false
	}
	t.prompt(s, t.collectStep(s))
	return true
}

// askOther asks for another value than one that was only said not to be meant. It reports
// whether there was one.
func (t *turn) askOther(s *agent.Slot) bool {
	if s == nil || s.Secret || s.AnyWords() || !t.rd.Denies() {
		return false
	}
	for i := range t.rd.Toks {
		if v, n := t.rd.Find(&s.Spec, t.rd.Toks, i, false); n > 0 && t.rd.Negated(i, i+n) {
			t.phrase("not_value", "value", t.voice().Speak(value.Canonical(v), &s.Spec, ""))
			t.prompt(s, t.collectStep(s))
			return true
		}
	}
	return false
}

// askChoice asks which of several values is meant, or for one within a limit. It
// reports whether there was such a doubt.
func (t *turn) askChoice() bool {
	s, open := t.heard().Undecided()
	if s == nil || len(open) == 0 {
		return false
	}
	t.st.Misses++
	t.trace("slot_rejected", TraceData{Slot: s.Name, Detail: "more than one value, or a limit"})
	if t.giveUp() {
		t.back()
		return true
	}
	var texts []string
	for _, v := range open {
		if text := t.voice().Speak(v, &s.Spec, ""); !slices.Contains(texts, text) {
			texts = append(texts, text)
		}
	}
	if len(texts) > 1 && !s.Secret {
		t.phrase("which_value", "label", s.Label, "values", value.Enumerate(texts, t.a.def.Lang.Data.Render.Or))
	} else {
		t.phrase("one_value", "label", s.Label)
		t.prompt(s, t.collectStep(s))
	}
	t.back()
	return true
}
