package words

import (
	"slices"

	"github.com/hocketvoice/hocket/dialog/agent"
	"github.com/hocketvoice/hocket/dialog/value"
)

// This file finds undecided values: "Monday or Tuesday", "between 100 and 200", "any day after
// the 12th". None of them is used; the user is asked.

// decided drops undecided values. Values that words point to stay, unless they are
// alternatives.
func (a *Words) decided(r value.Reader, slots []*agent.Slot, all []found) []found {
	all = slices.DeleteFunc(all, func(f found) bool {
		return (f.cue || f.slot.Free()) && a.alternative(r, f) || slices.ContainsFunc(all, func(o found) bool { return a.tooEarly(r, o, f) })
	})
	for _, s := range slots {
		if a.undecided(r, slots, s, all) == nil {
			continue
		}
		all = slices.DeleteFunc(all, func(f found) bool { return f.slot.Type == s.Type && !f.cue })
	}
	return all
}

// alternative reports whether a value is one of two that "or" joins: "to Bob or Anna".
func (a *Words) alternative(r value.Reader, f found) bool {
	valued := func(i int) bool {
		if _, n := r.Find(&f.slot.Spec, r.Toks, i, false); n > 0 {
			return true
		}
		return f.slot.Type == value.TypeName && i < len(r.Toks) && r.NameRun(r.Toks, i) > 0
	}
	if _, n := r.Lang.Or.At(r.Toks, f.end); n > 0 {
		for k := f.end + n; k < len(r.Toks) && k <= f.end+n+2; k++ {
			if valued(k) {
				return true
			}
		}
	}
	k := a.beforeArticle(r, f.start)
	k -= f.slot.Cues.EndsAt(r.Toks, k)
	return r.Lang.Or.EndsAt(r.Toks, k) > 0
}

// undecided returns the values of a slot of which the user chose none, or nil if there is
// no doubt.
func (a *Words) undecided(r value.Reader, slots []*agent.Slot, s *agent.Slot, all []found) []found {
	var open []found
	limit, doubt := false, false
	for _, f := range all {
		if f.slot != s || f.cue || f.score < 0 {
			continue
		}
		if _, number := value.ToNumber(f.value); number && !r.Stands(f.start, f.end) && !a.unit(r, s, f.end) {
			continue // the 3 in "a one star hotel with 3 rooms" counts something else
		}
		if inside := slices.ContainsFunc(all, func(o found) bool {
			return o.start <= f.start && f.end <= o.end && (o.end-o.start > f.end-f.start || o.cue && o.slot != s)
		}); inside {
			continue
		}
		limit = limit || a.bounded(r, s, f.start)
		doubt = doubt || len(open) > 0 && !value.Equal(open[0].value, f.value)
		open = append(open, f)
	}
	if limit || doubt && len(a.ends(r, slots, open)) == 0 {
		return open
	}
	return nil
}

// bounded reports whether a value at token i is only a limit: "after the 12th", "by three".
func (a *Words) bounded(r value.Reader, s *agent.Slot, i int) bool {
	k := a.beforeArticle(r, i)
	limit := r.Lang.Bounds.EndsAt(r.Toks, k) > 0 || s.Type == value.TypeTime && r.Lang.Clock.Limits.EndsAt(r.Toks, k) > 0
	return limit && a.cueBefore(r, s, i) == 0
}

// beforeArticle returns the index of the article before token i, or i if there is none.
func (a *Words) beforeArticle(r value.Reader, i int) int {
	return i - r.Lang.Articles.EndsAt(r.Toks, i)
}

// ends assigns the ends of a range ("from Jan 10 to Jan 15") to the two slots of their
// type, if there are exactly two.
func (a *Words) ends(r value.Reader, slots []*agent.Slot, open []found) []found {
	if len(open) != 2 || open[0].slot.Past {
		return nil
	}
	first, second := open[0], open[1]
	if first.start > second.start {
		first, second = second, first
	}
	from, to := a.beforeArticle(r, first.start), a.beforeArticle(r, second.start)
	if r.Lang.RangeFrom.EndsAt(r.Toks, from) == 0 {
		return nil
	}
	if n := r.Lang.RangeTo.EndsAt(r.Toks, to); n == 0 || to-n != first.end {
		return nil
	}
	var two []*agent.Slot
	for _, s := range slots {
		if s.Type == first.slot.Type && !s.Past && !s.Closed() {
			two = append(two, s)
		}
	}
	if len(two) != 2 {
		return nil
	}
	first.slot, second.slot = two[0], two[1]
	first.cue, second.cue = true, true
	first.score, second.score = first.score+endOfRange, second.score+endOfRange
	return []found{first, second}
}

// tooEarly reports whether last is the end of a stretch of time that begins with first, and
// before it: "from the 3rd of May to the 1st" does not say of which month.
func (a *Words) tooEarly(r value.Reader, first, last found) bool {
	if first.slot.Type != last.slot.Type || last.slot.Type != value.TypeDate {
		return false
	}
	to := a.beforeArticle(r, last.start)
	n := r.Lang.RangeTo.EndsAt(r.Toks, to)
	from, _ := first.value.(string)
	until, _ := last.value.(string)
	return n > 0 && to-n == first.end && until != "" && until < from
}

// endOfRange is what the words of a range add to the score of its ends: more than a question
// for one of them does.
const endOfRange = 10

// ranges returns the ends of ranges, each assigned to a slot.
func (a *Words) ranges(r value.Reader, slots []*agent.Slot, all []found) []found {
	var out []found
	for _, s := range slots {
		if slices.ContainsFunc(out, func(f found) bool { return f.slot.Type == s.Type }) {
			continue
		}
		var open []found
		for _, f := range all {
			if f.slot == s && !f.cue {
				open = append(open, f)
			}
		}
		out = append(out, a.ends(r, slots, open)...)
	}
	return out
}

// choice returns the awaited slot and the values for it of which the user chose none.
func (t *message) choice() (*agent.Slot, []found) {
	s := t.a.def.SlotIndex[t.st.WaitingForSlot]
	if s == nil || t.flow == nil || t.st.Confirming || s.AnyWords() || s.Type == value.TypeBoolean {
		return nil, nil
	}
	all := t.a.candidates(t.rd, t.flow.Slots, s)
	return s, t.a.undecided(t.rd, t.flow.Slots, s, all)
}
