package words

import (
	"slices"

	"github.com/hocketvoice/hocket/dialog/agent"
	"github.com/hocketvoice/hocket/dialog/value"
)

// This file finds all values in a message that the slots of a flow may take.

// spans returns all values of the flow's slots in the message, each for every slot that
// accepts it.
func (t *message) spans(f *agent.Flow) []found {
	var out []found
	for _, s := range f.Slots {
		if !formed(s) {
			continue
		}
		for i := 0; i < len(t.rd.Toks); i++ {
			v, n := t.spanAt(s, i)
			if n == 0 || (s.Type == value.TypeTime || s.Numeric()) && n == 1 && !t.counted(f, s, i) {
				continue
			}
			x := found{slot: s, value: v, start: i, end: i + n}
			if inMarker(t.rd, x) || s.Closed() && n == 1 && t.a.inName(t.rd, i, n) || t.a.meantElsewhere(t.rd, s, f.Slots, i) {
				continue
			}
			x.cue, _ = t.a.pointed(t.rd, s, f.Slots, i)
			x.cue = x.cue || s.Numeric() && t.a.unit(t.rd, s, i+n)
			out = append(out, x)
			i += n - 1
		}
	}
	return t.longest(out)
}

// spanAt reads a value of a slot at token i. A year alone is a part of a past day that is known.
func (t *message) spanAt(s *agent.Slot, i int) (v any, n int) {
	toks := t.rd.Toks
	v, n = t.rd.Find(&s.Spec, toks, i, len(toks) <= 6 && s.Type != value.TypeCode && s.Type != value.TypeDigits)
	if n == 0 && s.Past && t.st.Slots[s.Name] != nil { // "no, 1975"
		v, n = t.st.Slots[s.Name], t.rd.Year(toks, i)
	}
	if n == 1 && t.a.def.Lang.Numbers.One[toks[i].Text] {
		return nil, 0
	}
	return v, n
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
