package words

import (
	"maps"
	"slices"

	"github.com/hocketvoice/hocket/dialog/agent"
	"github.com/hocketvoice/hocket/dialog/command"
	"github.com/hocketvoice/hocket/dialog/value"
)

// This file finds the slot of a value if no word names it.

// alone assigns a value that no word assigns to a slot: to the awaited slot, or to
// the only slot that can take it. If several can, the user is asked which.
func (t *correction) alone(values []found) []command.Command {
	awaited := t.a.def.SlotIndex[t.st.WaitingForSlot]
	// "I meant Austin" and "no wait, make it Austin" correct a value and do not answer the question.
	// "Make it Austin" and "no, Austin" may do both.
	answer, _ := t.a.def.Lang.LeadingAnswer(t.rd.Toks)
	several := slices.ContainsFunc(values, func(v found) bool { return v.slot != awaited && t.st.Slots[v.slot.Name] != nil })
	_, may := t.a.def.Lang.Choosing.At(t.a.def.Lang.Trim(t.rd.Toks), 0)
	corrects := t.strong && several && may == 0
	var open []found
	for _, v := range values {
		if t.st.Slots[v.slot.Name] == nil && (v.slot != awaited || corrects) || slices.ContainsFunc(open, func(o found) bool { return o.slot == v.slot }) {
			continue
		}
		if v.value = t.correction(v).Value; t.acceptable(v) {
			open = append(open, v)
		}
	}
	if len(open) > 1 {
		open = slices.DeleteFunc(open, func(v found) bool {
			return v.slot.Past && t.rd.Relative(&v.slot.Spec, t.rd.Toks, v.start) || value.Equal(t.st.Slots[v.slot.Name], v.value)
		})
	}
	if i := slices.IndexFunc(open, func(v found) bool { return v.slot == awaited }); i >= 0 && t.flow != nil && (!t.strong && answer != value.No || len(open) == 1) {
		return []command.Command{{Type: command.SetSlot, Slot: awaited.Name, Value: open[i].value}}
	}
	switch len(open) {
	case 0:
		return nil
	case 1:
		return []command.Command{t.correction(open[0])}
	}
	for _, v := range open {
		t.either = append(t.either, v.slot)
	}
	if !slices.ContainsFunc(t.either, func(s *agent.Slot) bool { return s.Secret }) {
		t.values = make(map[string]any)
		for _, v := range open {
			t.values[v.slot.Name] = value.Canonical(v.value)
		}
	}
	return []command.Command{{Type: command.CorrectSlot}}
}

// chosen handles the answer to the question which slot a value belongs to: the name of a
// slot, or words that point to one.
func (t *correction) chosen() []command.Command {
	l := t.a.def.Lang
	core := l.Articles.TrimLeft(l.Carriers.TrimLeft(l.Weak.TrimLeft(l.Trim(t.rd.Toks))))
	for _, s := range t.of.Slots {
		v, ok := t.st.Either[s.Name]
		if !ok {
			continue
		}
		_, named := s.Mentions.Whole(core)
		if _, cued := s.Cues.Whole(core); named || cued {
			return []command.Command{{Type: command.CorrectSlot, Slot: s.Name, Value: v}}
		}
	}
	return nil
}

// neither asks again which slot a value belongs to, where the answer was a bare yes. It
// returns nil if that was not asked.
func (t *correction) neither() []command.Command {
	toks := t.a.def.Lang.Trim(t.rd.Toks)
	if answer, n := t.a.def.Lang.LeadingAnswer(toks); len(t.st.Either) < 2 || answer != value.Yes || n < len(toks) {
		return nil
	}
	for _, s := range t.of.Slots {
		if t.st.Either[s.Name] != nil {
			t.either = append(t.either, s)
		}
	}
	t.values = maps.Clone(t.st.Either)
	return []command.Command{{Type: command.CorrectSlot}}
}

// changed returns the value that replaces the slot's. A date keeps the parts that the
// tokens do not name.
func (t *correction) changed(s *agent.Slot, v any, toks []value.Token) any {
	old := t.st.Slots[s.Name]
	for i := range toks {
		if x, n := t.rd.Find(&s.Spec, toks, i, true); n > 0 && value.Equal(x, v) {
			if kept, ok := t.rd.Changed(&s.Spec, old, toks, i); ok {
				return kept
			}
			break
		}
	}
	return v
}
