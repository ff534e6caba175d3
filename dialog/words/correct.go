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

// correction is a message that may correct values of a flow.
type correction struct {
	*Reading

	of *agent.Flow
	signs
}

// signs are words of a correction in a message.
type signs struct {
	strong   bool // "I meant", "change"
	weak     bool // "no", "actually", or a moment at which each value is a correction
	changing bool // something is wrong
	negated  bool // something is not meant
}

// corrections returns the commands for what the user corrects. If no flow is active, they
// concern the flow that ended last.
func (t *Reading) corrections() []command.Command {
	f := t.flow
	if f == nil && t.st.Finished != nil {
		f = t.a.def.FlowIndex[t.st.Finished.Flow]
	}
	if f == nil || len(t.rd.Toks) > 40 {
		return nil
	}
	c := correction{t, f, t.signsOfCorrection()}
	if cmds := c.chosen(); cmds != nil {
		return cmds
	}
	if cmds := c.neither(); cmds != nil {
		return cmds
	}
	m, mentioned := t.mentioned(f)
	var cmds []command.Command
	switch {
	case mentioned && t.rd.AsksAt(m.start): // "what genre of music is it?" names no value
	case mentioned:
		cmds = c.ofMentioned(m)
	case c.strong || c.weak || c.negated:
		cmds = c.byValue()
	}
	if len(cmds) == 0 && len(t.rd.Toks) <= 10 && c.changing {
		if target, _ := t.a.classify(t.a.Core(t.rd.Toks)); target == nil || target == f {
			return []command.Command{{Type: command.CorrectSlot}} // something is to be changed
		}
	}
	return cmds
}

// signsOfCorrection returns which words of a correction the message has.
func (t *Reading) signsOfCorrection() signs {
	l, toks := t.a.def.Lang, t.rd.Toks
	head := toks // without the yes of "that's correct, the time is right"
	if answer, n := l.LeadingAnswer(toks); answer == value.Yes {
		head = toks[n:]
	}
	_, weak := l.Weak.At(l.Trim(toks), 0)
	id, answer := l.YesNo.At(toks, 0)
	return signs{
		strong: l.Strong.Within(head), changing: l.Wrong(head), negated: t.rd.Denies(),
		// "no, to Chicago"; where a yes or a change was asked for, every value is a correction
		weak: weak > 0 || answer > 0 && id == 1 || t.st.Confirming || t.st.Changing,
	}
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

// ofMentioned understands "change the origin to Boston", "the date is wrong" and "make
// Boston the origin".
func (t *correction) ofMentioned(m mention) []command.Command {
	toks, s := t.rd.Toks, m.slot
	if cmds, decided := t.assigned(m); decided {
		return cmds
	}
	if t.onlyMention(m) && s.Name != t.st.WaitingForSlot {
		return []command.Command{{Type: command.CorrectSlot, Slot: s.Name}} // "the date"
	}
	if !t.strong && !t.weak {
		return nil
	}
	for _, part := range [...][]value.Token{toks[:m.start], toks[m.end:]} {
		if s.Free() {
			break
		}
		if v, ok := t.valueIn(s, part, false); ok {
			return []command.Command{{Type: command.CorrectSlot, Slot: s.Name, Value: t.changed(s, v, part)}}
		}
	}
	if t.changing {
		return []command.Command{{Type: command.CorrectSlot, Slot: s.Name}}
	}
	return nil
}

// assigned returns the commands of a value that follows the slot's name: "change the origin to
// Boston". It reports whether there is one.
func (t *correction) assigned(m mention) (cmds []command.Command, decided bool) {
	l, toks, s := t.a.def.Lang, t.rd.Toks, m.slot
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
	rest := t.sameSentence(k)
	if len(rest) == 0 || k == m.end && !t.strong && !t.weak || s.Free() && s.Type != value.TypeName && !t.says(m.end, k) {
		return nil, false
	}
	v, ok := t.valueIn(s, rest, true)
	switch {
	case !ok:
		return nil, false
	case s.Name == t.st.WaitingForSlot && t.a.namesTwo(t.rd, s, found{value: v, start: m.start}):
		return nil, true
	}
	return t.withOthers(s, t.changed(s, v, rest), toks[k:]), true
}

// says reports whether the words from token i to k say what something is or becomes: "the note is ..",
// "change the note to ..". Words such as "with" may begin anything.
func (t *correction) says(i, k int) bool {
	l, toks := t.a.def.Lang, t.rd.Toks
	return k > i && (l.States.Within(toks[i:k]) || l.Strong.Within(toks))
}

// sameSentence returns the words from token k on that belong to the sentence of the word before it.
// What comes after it may be about something else: "no, one more time. One copy."
func (t *correction) sameSentence(k int) []value.Token {
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

// withOthers returns the correction of a slot together with those in the rest of the
// sentence: "change the origin to Boston and the date to Friday".
func (t *correction) withOthers(s *agent.Slot, v any, after []value.Token) []command.Command {
	cmds := []command.Command{{Type: command.CorrectSlot, Slot: s.Name, Value: v}}
	sub := t.rd
	sub.Toks = after
	for _, x := range t.a.extract(sub, t.of.Slots, nil) {
		if x.slot != s && x.cue && !value.Equal(x.value, v) && !value.Equal(x.value, t.st.Slots[x.slot.Name]) {
			cmds = append(cmds, command.Command{Type: command.CorrectSlot, Slot: x.slot.Name, Value: x.value})
		}
	}
	return cmds
}

// valueIn reads a value of the slot from tokens. If whole is true, the tokens must be
// nothing but a value, if the slot takes free text.
func (t *correction) valueIn(s *agent.Slot, toks []value.Token, whole bool) (any, bool) {
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

// byValue understands "make it Chicago", "not Boston, Denver" and "actually from
// Chicago", where the value determines the slot.
func (t *correction) byValue() []command.Command {
	values := t.spans(t.of)
	if len(values) == 0 {
		return t.byText()
	}
	values = slices.DeleteFunc(values, func(v found) bool {
		return v.slot.Numeric() && !v.cue && !t.counts(v.slot, v) && !t.bareBut(v.slot, v.start) // "her number ends with 31"
	})
	if t.negated {
		if c := t.insteadOf(values); len(c) > 0 {
			return c
		}
		values = slices.DeleteFunc(values, func(v found) bool { return denied(t.rd, v) })
	}
	if len(values) == 0 {
		return nil
	}
	if several(values) { // "Denver to Boston": the slot of one determines that of the other
		if cmds := t.ofSeveral(); len(cmds) > 0 {
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
	return t.alone(t.a.decided(t.rd, t.of.Slots, values))
}

// ofSeveral returns the corrections by several values that are new.
func (t *correction) ofSeveral() (cmds []command.Command) {
	for _, v := range t.a.extract(t.rd, t.of.Slots, nil) {
		if !value.Equal(v.value, t.st.Slots[v.slot.Name]) {
			cmds = append(cmds, t.correction(v))
		}
	}
	return cmds
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

// insteadOf understands "not Boston but Denver" and "Denver, not Boston".
func (t *correction) insteadOf(values []found) []command.Command {
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

// byText understands "I meant rent" for a slot of free text.
func (t *correction) byText() []command.Command {
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
	for _, s := range t.of.Slots {
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
