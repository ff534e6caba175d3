package words

import (
	"slices"

	"github.com/hocketvoice/hocket/dialog/agent"
	"github.com/hocketvoice/hocket/dialog/value"
)

// This file: values that are said and not decided upon: "Monday or Tuesday", "between
// 100 and 200", "any day after the 12th". None of them is taken; they are asked about.

// This file: values that are said and not decided upon: "Monday or Tuesday", "between
// 100 and 200", "any day after the 12th". None of them is taken; they are asked about.

// decided drops the values of a slot that are not decided upon. What words point to,
// and what they point to for another slot, is.
func (a *Words) decided(r value.Reader, slots []*agent.Slot, all []found) []found {
	all = slices.DeleteFunc(all, func(f found) bool { return (f.cue || f.slot.Free()) && a.alternative(r, f) })
	for _, s := range slots {
		if a.undecided(r, slots, s, all) == nil {
			continue
		}
		all = slices.DeleteFunc(all, func(f found) bool { return f.slot.Type == s.Type && !f.cue })
	}
	return all
}

// alternative reports whether a value is one of two that an "or" joins: "to Bob or Anna".
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

// undecided are the values of a slot of which none is chosen, nil if there is no doubt.
func (a *Words) undecided(r value.Reader, slots []*agent.Slot, s *agent.Slot, all []found) []found {
	var open []found
	limit, doubt := false, false
	for _, f := range all {
		if f.slot != s || f.cue || f.score < 0 {
			continue
		}
		if _, number := value.ToNumber(f.value); number && !r.Stands(f.start, f.end) && !a.unit(r, s, f.end) {
			continue // "3" of "a one star hotel with 3 rooms" counts something else
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

// bounded reports whether a value at token i is only a limit: "after the 12th".
func (a *Words) bounded(r value.Reader, s *agent.Slot, i int) bool {
	return r.Lang.Bounds.EndsAt(r.Toks, a.beforeArticle(r, i)) > 0 && a.cueBefore(r, s, i) == 0
}

// beforeArticle is the place before the article of what stands at token i.
func (a *Words) beforeArticle(r value.Reader, i int) int {
	return i - r.Lang.Articles.EndsAt(r.Toks, i)
}

// ends gives the two ends of a range ("from Jan 10 to Jan 15") to the two slots of
// their type, where there are two.
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
	return []found{first, second}
}

// ranges finds the ranges whose two ends have a slot each.
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

// choice are the values for the awaited slot of which the user chose none.
func (t *message) choice() (*agent.Slot, []found) {
	s := t.a.def.SlotIndex[t.st.WaitingForSlot]
	if s == nil || t.flow == nil || t.st.Confirming || s.AnyWords() || s.Type == value.TypeBoolean {
		return nil, nil
	}
	all := t.a.candidates(t.rd, t.flow.Slots, s)
	return s, t.a.undecided(t.rd, t.flow.Slots, s, all)
}
