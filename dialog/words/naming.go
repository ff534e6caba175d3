package words

import (
	"slices"

	"github.com/hocketvoice/hocket/dialog/agent"
	"github.com/hocketvoice/hocket/dialog/value"
)

// This file finds where names end in a sentence. A name of which only a part may have been read is
// not taken: "Angel has fallen", "The Meadows at Fountaingrove".

// placeFor reads a place for the slot at token i.
func (a *Words) placeFor(r value.Reader, s *agent.Slot, slots []*agent.Slot, awaited *agent.Slot, i int) (any, int) {
	pointed := s.TypeCues.EndsAt(r.Toks, i) > 0
	if !pointed && (s != awaited || !r.OneName()) && a.cueBefore(r, s, i) == 0 {
		return nil, 0
	}
	v, n := r.Place(i)
	if n == 0 && pointed {
		if v, n = r.SpokenPlace(i); s != awaited && (r.Hyphen(i) || i+n < len(r.Toks) && !r.SentenceEndsIn(r.Toks, i+n)) {
			return nil, 0 // "in-unit laundry", "interested in getting it"
		}
		return v, n
	}
	if n > 0 && !a.whole(r, s, slots, i, i+n) {
		return nil, 0
	}
	return v, n
}

// whole reports whether a name for the slot at tokens i to j is not a part of a longer one.
func (a *Words) whole(r value.Reader, s *agent.Slot, slots []*agent.Slot, i, j int) bool {
	if i > 0 && !r.SentenceEndsIn(r.Toks, i) && !a.introduces(r, s, i) && !a.apart(r, i-1) {
		return false // "pleasant Hill", "San Francisco, and"
	}
	if j >= len(r.Toks) || r.SentenceEndsIn(r.Toks, j) {
		return true
	}
	if s.Trailing != nil {
		if _, n := s.Trailing.At(r.Toks, j); n > 0 {
			return true // "the Chicago area"
		}
	}
	for _, o := range slots {
		w, _ := r.Lang.Meaning(r.Toks, j)
		_, cue := o.Cues.At(r.Toks, j)
		switch {
		case o == s:
		case o.Keys[w]:
			return false // "Spanish subtitles" is not a film
		case cue > 0, o.Type != s.Type && cueAt(o, r.Toks, j) > 0:
			return true
		}
	}
	if _, light := r.Lang.Light.At(r.Toks, j); light > 0 {
		_, more := r.Place(min(j+light, len(r.Toks)-1))
		return j+light >= len(r.Toks) || more == 0 || a.valueOf(r, slots, j+light)
	}
	return a.apart(r, j)
}

// introduces reports whether the words before token i point to the slot: "watch", "near".
func (a *Words) introduces(r value.Reader, s *agent.Slot, i int) bool {
	return a.cueBefore(r, s, i) > 0 || s.TypeCues != nil && s.TypeCues.EndsAt(r.Toks, i) > 0
}

// valueOf reports whether a listed value of one of the slots is at token i.
func (a *Words) valueOf(r value.Reader, slots []*agent.Slot, i int) bool {
	return slices.ContainsFunc(slots, func(o *agent.Slot) bool {
		if !o.Closed() {
			return false
		}
		_, n := o.Lookup.At(r.Toks, i)
		return n > 0
	})
}

// apart reports whether token i is not a part of a name next to it: a common word, or one that the
// agent knows.
func (a *Words) apart(r value.Reader, i int) bool {
	toks := r.Toks
	for _, p := range [...]*value.Phrases{r.Lang.Light, r.Lang.Articles, r.Lang.Polite, r.Lang.Fillers, r.Lang.Joins, r.Lang.OutsideNames, r.Lang.Weak, r.Lang.YesNo} {
		_, n := p.At(toks, i)
		if n > 0 || p.EndsAt(toks, i+1) > 0 {
			return true
		}
	}
	if r.Capital(i) && i > 0 {
		return false
	}
	w, _ := r.Lang.Meaning(toks, i)
	_, spelt := a.spelt[toks[i].Text]
	return spelt || a.knows(w) || r.Lang.Number(toks, i) > 0
}

// inName reports whether n tokens from i stand next to a capitalized word that the agent does not know,
// and are capitalized too: they are part of a name.
func (a *Words) inName(r value.Reader, i, n int) bool {
	if !r.Capital(i) {
		return false
	}
	strange := func(k int) bool {
		w, _ := r.Lang.Meaning(r.Toks, k)
		_, spelt := a.spelt[r.Toks[k].Text]
		_, light := r.Lang.Light.At(r.Toks, k)
		return r.Capital(k) && !spelt && light == 0 && !a.knows(w)
	}
	return i > 0 && !r.SentenceEndsIn(r.Toks, i) && strange(i-1) || i+n < len(r.Toks) && !r.SentenceEndsIn(r.Toks, i+n) && strange(i+n)
}
