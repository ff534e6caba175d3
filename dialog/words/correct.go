package words

import (
	"slices"
	"strings"

	"github.com/hocketvoice/hocket/dialog/agent"
	"github.com/hocketvoice/hocket/dialog/command"
	"github.com/hocketvoice/hocket/dialog/value"
)

// This file understands corrections ("actually, change the origin to Boston").

// mention is the name of a slot in a message.
type mention struct {
	slot       *agent.Slot
	start, end int
}

// corrections returns the commands for what the user corrects. If no flow is active, they
// concern the flow that ended last.
func (t *Reading) corrections() []command.Command {
	f := t.flow
	if f == nil {
		if t.st.Finished == nil {
			return nil
		}
		if f = t.a.def.FlowIndex[t.st.Finished.Flow]; f == nil {
			return nil
		}
	}
	l, toks := t.a.def.Lang, t.rd.Toks
	if len(toks) > 40 {
		return nil
	}
	head := toks // without the yes of "that's correct, the time is right"
	if answer, n := l.LeadingAnswer(toks); answer == value.Yes {
		head = toks[n:]
	}
	strong, changing := l.Strong.Within(head), l.Wrong(head)
	weak := false
	if _, n := l.Weak.At(l.Trim(toks), 0); n > 0 {
		weak = true
	}
	if id, n := l.YesNo.At(toks, 0); n > 0 && id == 1 {
		weak = true // "no, to Chicago"
	}
	if t.st.Confirming {
		weak = true // here every value is a correction
	}
	negated := t.rd.Denies()
	if t.st.Changing {
		weak = true // "what would you like to change?"
	}
	if cmds := t.chosen(f); cmds != nil {
		return cmds
	}
	if cmds := t.neither(f); cmds != nil {
		return cmds
	}
	m, mentioned := t.mentioned(f)
	var cmds []command.Command
	switch {
	case mentioned && t.rd.AsksAt(m.start): // "what genre of music is it?" names no value
	case mentioned:
		cmds = t.correctMentioned(f, m, strong, weak, changing)
	case strong || weak || negated:
		cmds = t.correctValue(f, strong, negated)
	}
	if len(cmds) == 0 && len(toks) <= 10 && changing {
		if target, _ := t.a.classify(t.a.Core(toks)); target == nil || target == f {
			return []command.Command{{Type: command.CorrectSlot}} // something is to be changed
		}
	}
	return cmds
}

// mentioned returns the first slot that the message names, by the longest name at its
// place. A name inside a value ("the day after tomorrow") does not count.
func (t *message) mentioned(f *agent.Flow) (mention, bool) {
	l := t.a.def.Lang
	var values []found
	for i := range t.rd.Toks {
		id, n := f.Mentions.At(t.rd.Toks, i)
		if n == 0 || i > 0 && l.Number(t.rd.Toks, i-1) == 1 {
			continue // "one person"
		}
		if values == nil {
			values = t.spans(f)
		}
		if !slices.ContainsFunc(values, func(v found) bool { return v.start <= i && i+n <= v.end && v.end-v.start > n }) {
			return mention{f.Slots[id], i, i + n}, true
		}
	}
	return mention{}, false
}

// correctMentioned understands "change the origin to Boston", "the date is wrong" and "make
// Boston the origin".
func (t *message) correctMentioned(f *agent.Flow, m mention, strong, weak, changing bool) []command.Command {
	l, toks := t.a.def.Lang, t.rd.Toks
	s := m.slot
	k := m.end
	for k < len(toks) {
		_, n := l.Assign.At(toks, k)
		if n == 0 {
			if _, n = l.Fillers.At(toks, k); n == 0 {
				break
			}
		}
		k += n
	}
	if rest := t.sameSentence(k); len(rest) > 0 && (k > m.end || strong || weak) && (!s.Free() || s.Type == value.TypeName || t.says(m.end, k)) {
		if v, ok := t.valueIn(s, rest, true); ok {
			if s.Name == t.st.WaitingForSlot && t.a.namesTwo(t.rd, s, found{value: v, start: m.start}) {
				return nil
			}
			return t.correctionWith(f, s, t.changed(s, v, rest), toks[k:])
		}
	}
	if t.onlyMention(m) && s.Name != t.st.WaitingForSlot {
		return []command.Command{{Type: command.CorrectSlot, Slot: s.Name}} // "the date"
	}
	if !strong && !weak {
		return nil
	}
	if v, ok := t.valueIn(s, toks[:m.start], false); ok && !s.Free() {
		return []command.Command{{Type: command.CorrectSlot, Slot: s.Name, Value: t.changed(s, v, toks[:m.start])}}
	}
	if !s.Free() {
		if v, ok := t.valueIn(s, toks[m.end:], false); ok {
			return []command.Command{{Type: command.CorrectSlot, Slot: s.Name, Value: t.changed(s, v, toks[m.end:])}}
		}
	}
	if changing {
		return []command.Command{{Type: command.CorrectSlot, Slot: s.Name}}
	}
	return nil
}

// says reports whether the words from token i to k say what something is or becomes: "the note is ..",
// "change the note to ..". Words such as "with" may begin anything.
func (t *message) says(i, k int) bool {
	l, toks := t.a.def.Lang, t.rd.Toks
	return k > i && (l.States.Within(toks[i:k]) || l.Strong.Within(toks))
}

// sameSentence returns the words from token k on that belong to the sentence of the word before it.
// What comes after it may be about something else: "no, one more time. One copy."
func (t *message) sameSentence(k int) []value.Token {
	toks := t.rd.Toks
	for end := k; end < len(toks); end++ {
		if t.rd.SentenceEnds(end) {
			return toks[k:end]
		}
	}
	return toks[k:]
}

// onlyMention reports whether the message only names a slot.
func (t *message) onlyMention(m mention) bool {
	l := t.a.def.Lang
	before := l.Articles.TrimLeft(l.Carriers.TrimLeft(l.Weak.TrimLeft(l.Trim(t.rd.Toks[:m.start]))))
	return len(before) == 0 && len(l.Trim(t.rd.Toks[m.end:])) == 0
}

// correctionWith returns the correction of a slot together with those in the rest of the
// sentence: "change the origin to Boston and the date to Friday".
func (t *message) correctionWith(f *agent.Flow, s *agent.Slot, v any, after []value.Token) []command.Command {
	cmds := []command.Command{{Type: command.CorrectSlot, Slot: s.Name, Value: v}}
	sub := t.rd
	sub.Toks = after
	for _, x := range t.a.extract(sub, f.Slots, nil) {
		if x.slot != s && x.cue && !value.Equal(x.value, v) && !value.Equal(x.value, t.st.Slots[x.slot.Name]) {
			cmds = append(cmds, command.Command{Type: command.CorrectSlot, Slot: x.slot.Name, Value: x.value})
		}
	}
	return cmds
}

// valueIn reads a value of the slot from tokens. If whole is true, the tokens must be
// nothing but a value, if the slot takes free text.
func (t *message) valueIn(s *agent.Slot, toks []value.Token, whole bool) (any, bool) {
	if len(toks) == 0 {
		return nil, false
	}
	sub := t.rd
	sub.Toks = toks
	sub.Raw = t.rd.Raw[:toks[len(toks)-1].End]
	if s.Free() || s.Type == value.TypeBoolean || s.Type == value.TypeCity && !s.Closed() {
		if !whole {
			return nil, false
		}
		sub = t.rd.Part(toks)
		v, sure := sub.Answer(&s.Spec)
		if text, _ := v.(string); s.Type == value.TypeName && strings.Count(text, " ") >= 5 {
			return nil, false // a sentence
		}
		return v, sure == value.Certain
	}
	if v, sure := sub.Answer(&s.Spec); sure == value.Certain {
		return v, true
	}
	var val any
	best := 0
	for i := range toks {
		if v, n := sub.Find(&s.Spec, toks, i, whole); n > best {
			if sub.Negated(i, i+n) {
				continue
			}
			val, best = v, n
		}
	}
	if best == 0 && whole && s.Closed() {
		if v, sure := sub.Misheard(&s.Spec); sure == value.Certain {
			return v, true
		}
	}
	return val, best > 0
}

// correctValue understands "make it Chicago", "not Boston, Denver" and "actually from
// Chicago", where the value determines the slot.
func (t *Reading) correctValue(f *agent.Flow, strong, negated bool) []command.Command {
	values := t.spans(f)
	if len(values) == 0 {
		return t.correctText(f)
	}
	values = slices.DeleteFunc(values, func(v found) bool {
		return v.slot.Numeric() && !v.cue && !t.counts(v.slot, v) && !t.bareBut(v.slot, v.start) // "her number ends with 31"
	})
	if len(values) == 0 {
		return nil
	}
	if negated {
		if c := t.insteadOf(values); len(c) > 0 {
			return c
		}
		if values = slices.DeleteFunc(values, func(v found) bool { return denied(t.rd, v) }); len(values) == 0 {
			return nil
		}
	}
	if several(values) { // "Denver to Boston": the slot of one determines that of the other
		var cmds []command.Command
		for _, v := range t.a.extract(t.rd, f.Slots, nil) {
			if !value.Equal(v.value, t.st.Slots[v.slot.Name]) {
				cmds = append(cmds, t.correction(v))
			}
		}
		if len(cmds) > 0 {
			return cmds
		}
	}
	var cmds []command.Command
	for _, v := range values { // the words before the value decide
		if v.cue && !slices.ContainsFunc(cmds, func(c command.Command) bool { return c.Slot == v.slot.Name }) {
			cmds = append(cmds, t.correction(v))
		}
	}
	if len(cmds) > 0 {
		return cmds
	}
	return t.correctAlone(t.a.decided(t.rd, f.Slots, values), strong)
}

// several reports whether the values are at more than one place.
func several(values []found) bool {
	for _, v := range values[1:] {
		if v.start != values[0].start {
			return true
		}
	}
	return false
}

func (t *message) correction(v found) command.Command {
	c := command.Command{Type: command.CorrectSlot, Slot: v.slot.Name, Value: v.value}
	old := t.st.Slots[v.slot.Name]
	if old == nil && t.flow != nil {
		c.Type = command.SetSlot
	}
	if kept, ok := t.rd.Changed(&v.slot.Spec, old, t.rd.Toks, v.start); ok {
		c.Value = kept
	}
	return c
}

// spans returns all values of the flow's slots in the message, each for every slot that
// accepts it.
func (t *message) spans(f *agent.Flow) []found {
	var out []found
	for _, s := range f.Slots {
		if s.Free() || s.Type == value.TypeBoolean || s.Type == value.TypeCity && !s.Closed() {
			continue
		}
		end := 0
		for i := range t.rd.Toks {
			if i < end {
				continue
			}
			v, n := t.rd.Find(&s.Spec, t.rd.Toks, i, len(t.rd.Toks) <= 6 && s.Type != value.TypeCode && s.Type != value.TypeDigits)
			if n == 0 && s.Past && t.st.Slots[s.Name] != nil { // "no, 1975"
				if n = t.rd.Year(t.rd.Toks, i); n > 0 {
					v = t.st.Slots[s.Name]
				}
			}
			if n == 0 || n == 1 && t.a.def.Lang.Numbers.One[t.rd.Toks[i].Text] || (s.Type == value.TypeTime || s.Numeric()) && n == 1 && !t.counted(f, s, i) {
				continue
			}
			x := found{slot: s, value: v, start: i, end: i + n}
			if inMarker(t.rd, x) || s.Closed() && n == 1 && t.a.inName(t.rd, i, n) || t.a.meantElsewhere(t.rd, s, f.Slots, i) {
				continue
			}
			x.cue, _ = t.a.pointed(t.rd, s, f.Slots, i)
			x.cue = x.cue || s.Numeric() && t.a.unit(t.rd, s, i+n)
			out = append(out, x)
			end = i + n
		}
	}
	return t.longest(out)
}

// counted reports whether a bare number may be a value of the slot and does not count
// something else: "one person" is not a time, "two rooms" not an amount.
func (t *message) counted(f *agent.Flow, s *agent.Slot, i int) bool {
	if s.Numeric() && t.a.unit(t.rd, s, i+1) {
		return true
	}
	return t.rd.Stands(i, i+1) && !slices.ContainsFunc(f.Slots, func(o *agent.Slot) bool { return o.Numeric() && t.a.unit(t.rd, o, i+1) })
}

// bareBut reports whether a number at token i stands alone among words of corrections and
// answers, common words and words of the slot.
func (t *message) bareBut(s *agent.Slot, i int) bool {
	l, toks := t.a.def.Lang, t.rd.Toks
	for k := 0; k < len(toks); {
		best := 0
		for _, p := range [...]*value.Phrases{
			l.Light, l.Fillers, l.Polite, l.Articles, l.Weak, l.Strong, l.YesNo, l.Not, l.Assign, l.Carriers, l.ChangeVerbs, l.Repairs, l.Prefixes, s.Cues, s.Mentions, s.TypeCues,
		} {
			if p == nil {
				continue
			}
			_, n := p.At(toks, k)
			best = max(best, n)
		}
		if w, n := l.Meaning(toks, k); best == 0 && (s.Keys[w] || s.Words[w]) {
			best = n
		}
		if best == 0 && (k == i || l.Number(toks, k) > 0) {
			best = max(1, l.Number(toks, k))
		}
		if best == 0 {
			return false
		}
		k += best
	}
	return true
}

// longest drops values inside longer ones: the "three" in "the third of may" is not a
// number of guests.
func (t *message) longest(values []found) []found {
	return slices.DeleteFunc(values, func(v found) bool {
		return slices.ContainsFunc(values, func(o found) bool {
			return o.start <= v.start && v.end <= o.end && o.end-o.start > v.end-v.start
		})
	})
}

// insteadOf understands "not Boston but Denver" and "Denver, not Boston".
func (t *message) insteadOf(values []found) []command.Command {
	toks := t.rd.Toks
	for _, old := range values {
		n := t.a.def.Lang.Not.EndsAt(toks, old.start)
		k := old.start
		if n == 0 {
			if an := t.a.def.Lang.Articles.EndsAt(toks, k); an > 0 {
				k -= an
				n = t.a.def.Lang.Not.EndsAt(toks, k)
			}
			if n == 0 { // "not to Boston"
				if cn := old.slot.Cues.EndsAt(toks, k); cn > 0 {
					n = t.a.def.Lang.Not.EndsAt(toks, k-cn)
				}
			}
		}
		if n == 0 || !value.Equal(t.st.Slots[old.slot.Name], old.value) {
			continue
		}
		for _, v := range values {
			if v.slot == old.slot && v.start != old.start {
				return []command.Command{{Type: command.CorrectSlot, Slot: v.slot.Name, Value: v.value}}
			}
		}
		return []command.Command{{Type: command.CorrectSlot, Slot: old.slot.Name}} // "not Boston"
	}
	return nil
}

// correctText understands "I meant rent" for a slot of free text.
func (t *Reading) correctText(f *agent.Flow) []command.Command {
	l := t.a.def.Lang
	toks := l.Trim(t.rd.Toks)
	toks = l.Weak.TrimLeft(toks)
	_, n := l.Strong.At(toks, 0)
	if n == 0 || n >= len(toks) || len(toks)-n > 8 {
		return nil
	}
	if answer, _ := l.LeadingAnswer(toks[n:]); answer != value.NoAnswer {
		return nil // "I said yes if"
	}
	if _, change := l.ChangeVerbs.At(toks, 0); change > 0 {
		return nil
	}
	var cmds []command.Command
	for _, s := range f.Slots {
		if t.st.Slots[s.Name] == nil || !s.Free() && (s.Type != value.TypeCity || s.Closed()) {
			continue
		}
		if v, ok := t.valueIn(s, toks[n:], true); ok && !value.Equal(v, t.st.Slots[s.Name]) {
			cmds = append(cmds, command.Command{Type: command.CorrectSlot, Slot: s.Name, Value: v})
			t.either = append(t.either, s)
		}
	}
	if len(cmds) > 1 {
		return []command.Command{{Type: command.CorrectSlot}}
	}
	return cmds
}
