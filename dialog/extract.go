package dialog

import (
	"cmp"
	"slices"
	"strings"
)

// found is a value that an utterance gives to a slot.
type found struct {
	slot       *slot
	value      any
	start, end int
	score      int
	cue        bool // words before it name the slot
	fits       bool // the slot would take it; known of dates without a cue alone
}

// extract finds values for several slots in one utterance ("from Boston to
// Denver next friday"). A value that could belong to two slots goes to the one
// that the words before it point to, then to the one that is being asked for;
// if neither decides, it goes nowhere: a wrong guess costs more than a question.
func (a *Agent) extract(r reader, slots []*slot, awaited *slot) []found {
	var buf [32]found
	all := buf[:0]
	for _, s := range slots {
		if s.free() || s.typ == TypeBoolean && !s.closed() {
			if f, ok := a.named(r, s); ok {
				all = append(all, f)
			} else if s.typ == TypeBoolean && s != awaited {
				all = a.wished(r, s, all)
			} else if s.typ == TypeName {
				all = a.nameSpans(r, s, slots, awaited, all)
			}
			continue
		}
		for i := 0; i < len(r.toks); i++ {
			v, n := r.find(s, r.toks, i, s == awaited && len(r.toks) <= 4)
			if n == 0 && s.typ == TypeCity && !s.closed() && (s == awaited && r.oneName() || s.typeCues.endsAt(r.toks, i) > 0 || a.cueBefore(r, s, i) > 0) {
				if v, n = r.place(i); n == 0 && (s.typeCues.endsAt(r.toks, i) > 0) {
					v, n = r.spokenPlace(i)
				}
			}
			if n == 0 {
				if s.typ == TypeTime { // "at three" needs no more
					if cn := r.l.clock.at.endsAt(r.toks, i); cn == 0 {
						continue
					}
				}
				continue
			}
			f := found{slot: s, value: v, start: i, end: i + n}
			f.cue, f.score = a.pointed(r, s, slots, i)
			f.score += 10 * n
			if s == awaited {
				f.score += 3
			}
			if s.numeric() && !f.cue && s != awaited && !a.unit(r, s, i+n) && s.typ != TypeMoney && !a.counted(r, s, slots, i, i+n) && !s.onlyIn(v) {
				continue // a bare number belongs to nobody
			}
			if s.typ == TypeMoney && !f.cue && s != awaited {
				if _, cur, _ := r.l.amount(r.toks, i); cur == "" {
					continue
				}
			}
			f.fits = s.typ == TypeDate && !s.past && !f.cue && a.takes(r, s, v)
			all = append(all, f)
		}
	}
	slices.SortStableFunc(all, func(a, b found) int {
		return cmp.Or(cmp.Compare(b.score, a.score), cmp.Compare(a.start, b.start))
	})
	return a.assign(all, awaited)
}

// nameSpans appends the names that a sentence may give to a slot.
func (a *Agent) nameSpans(r reader, s *slot, slots []*slot, awaited *slot, all []found) []found {
	for i := 1; i < len(r.toks); i++ {
		v, n, cue := a.nameFor(r, s, awaited, i)
		if n == 0 {
			continue
		}
		f := found{slot: s, value: v, start: i, end: i + n, score: 10*n + 6}
		f.cue = cue > 0
		if _, pointed := a.pointed(r, s, slots, i); pointed != 0 {
			f.score += pointed
		}
		if s == awaited {
			f.score += 4
		}
		all = append(all, f)
		i += n - 1
	}
	return all
}

// wished finds a yes or no that a wish gives to a slot: "somewhere with outdoor
// seating", "a place without smoking". A question about it is none.
func (a *Agent) wished(r reader, s *slot, all []found) []found {
	for _, part := range r.sentences(r.toks) {
		if len(part) == 0 || len(s.keys) == 0 || r.asksAbout(part) {
			continue
		}
		if r.l.notWanted.within(part) {
			continue
		}
		at, known := -1, 0
		for i := 0; i < len(part); {
			w, n := r.l.meaning(part, i)
			if s.keys[w] {
				known++
				if at < 0 {
					at = i
				}
			}
			i += n
		}
		if known == 0 || known*2 < len(s.keys) {
			continue
		}
		value := true
		for i := max(0, at-5); i < at; i++ {
			switch part[i].text {
			case "no", "not", "non", "without", "dont", "never", "kein", "keine", "nicht", "ohne":
				value = false
			}
		}
		start := slices.IndexFunc(r.toks, func(t token) bool { return t.start == part[at].start })
		all = append(all, found{slot: s, value: value, start: start, end: start + 1, score: 12, cue: true})
	}
	return all
}

// asksAbout reports whether a sentence asks for something that is so or not so:
// "is smoking allowed", "do they have seats outside".
func (r reader) asksAbout(part []token) bool {
	toks := r.l.fillers.trimLeft(part)
	for len(toks) > 0 {
		if _, n := r.l.yesNo.at(toks, 0); n > 0 && n < len(toks) {
			toks = toks[n:]
			continue
		}
		if _, n := r.l.weak.at(toks, 0); n > 0 && n < len(toks) || toks[0].text == "and" || toks[0].text == "also" || toks[0].text == "but" {
			toks = toks[max(1, n):]
			continue
		}
		break
	}
	_, n := r.l.questions.at(toks, 0)
	if n == 0 {
		return false
	}
	_, soft := r.l.soft.at(toks, 0) // "can you find me a place with seats outside"
	_, tells := r.l.tells.at(toks, 0)
	return soft == 0 || tells > 0
}

// sentenceEnds reports whether a sentence ends before token i: "St. Helena" is
// none.
func (r reader) sentenceEnds(i int) bool {
	last := r.toks[i-1]
	between := r.raw[last.end:r.toks[i].start]
	return strings.ContainsAny(between, "!?;:") || len(last.text) > 2 && strings.Contains(between, ".")
}

// counted reports whether a bare number at tokens i to j can only be meant for
// the slot: it counts people or things ("for four people", "a party of six"), and
// no other slot holds a number.
func (a *Agent) counted(r reader, s *slot, slots []*slot, i, j int) bool {
	for _, o := range slots {
		if o != s && o.numeric() && o.typ != TypeMoney {
			return false
		}
	}
	if s.trailing != nil {
		if _, n := s.trailing.at(r.toks, j); n > 0 {
			return true
		}
	}
	return s.typeCues != nil && s.typeCues.endsAt(r.toks, i) > 1
}

// onlyIn reports whether a number is of the few that the slot takes, none of which
// anybody says of something else: a year.
func (s *slot) onlyIn(v any) bool {
	f, ok := toNumber(v)
	return ok && s.low != nil && s.high != nil && *s.low >= 100 && f >= *s.low && f <= *s.high
}

// takes reports whether a slot would take a value, by its limits and validators
// alone: "next friday" is the day of a visit and no date of birth. A slot of days
// past is not guessed at: yesterday is rarely what it asks for.
func (a *Agent) takes(r reader, s *slot, v any) (ok bool) {
	defer func() {
		if recover() != nil {
			ok = false // the validator fails again, where it is reported
		}
	}()
	if s.within(v) != nil {
		return false
	}
	for _, val := range s.validators {
		if val.fn == nil {
			continue
		}
		if _, err := val.fn(v, Check{Slot: s.name, Language: a.settings.Language, Now: r.now, lang: a.lang}); err != nil {
			return false
		}
	}
	return true
}

// pointed scores the words before a value: those that point to the slot raise
// it, those that point to another slot of the kind lower it.
func (a *Agent) pointed(r reader, s *slot, slots []*slot, i int) (bool, int) {
	k := i
	if n := r.l.articles.endsAt(r.toks, k); n > 0 && n < k {
		k -= n
	}
	own := max(a.cueBefore(r, s, i), a.cueBefore(r, s, k))
	other := 0
	for _, o := range slots {
		if o != s && o.typ == s.typ {
			other = max(other, a.cueBefore(r, o, i), a.cueBefore(r, o, k))
		}
	}
	switch {
	case own > other, own > 0 && own == other:
		return own > other, 5 + own
	case other > 0:
		return false, -25
	default:
		return false, 0
	}
}

// cueBefore is how many tokens before i point to the slot.
func (a *Agent) cueBefore(r reader, s *slot, i int) int {
	n := s.cues.endsAt(r.toks, i)
	if m := s.mentions.endsAt(r.toks, i); m > 0 {
		n = max(n, m+10)
	}
	if an := r.l.assign.endsAt(r.toks, i); an > 0 {
		if m := s.mentions.endsAt(r.toks, i-an); m > 0 {
			n = max(n, m+an+10)
		}
	}
	return n
}

// unit reports whether the words behind a number say what it counts: those of
// the slot's name ("two guests").
func (a *Agent) unit(r reader, s *slot, i int) bool {
	if i >= len(r.toks) {
		return false
	}
	w, _ := r.l.meaning(r.toks, i)
	return s.keys[w] || s.typ == TypeInteger && s.words[w] && w[0] == '~'
}

// named finds the value of a slot without a form of its own when its name
// stands before it: "the name is John Smith".
func (a *Agent) named(r reader, s *slot) (found, bool) {
	if r.asksAbout(r.toks) {
		return found{}, false // "what kind of music is it"
	}
	for i := range r.toks {
		_, n := s.mentions.at(r.toks, i)
		if n == 0 {
			continue
		}
		k := i + n
		if _, an := r.l.assign.at(r.toks, k); an > 0 {
			k += an
		} else {
			continue
		}
		if k >= len(r.toks) {
			continue
		}
		rest := r.l.polite.trimRight(r.toks[k:])
		sub := reader{l: r.l, raw: spanText(r.raw, r.toks, k, k+len(rest)), now: r.now}
		var buf [24]token
		sub.toks = tokenize(sub.raw, buf[:0]) // their places are those of the part
		v, sure := sub.answer(s)
		if sure == certain {
			return found{slot: s, value: v, start: i, end: k + len(rest), score: 5*len(rest) + 15, cue: true}, true
		}
	}
	return found{}, false
}

// assign gives spans to slots, the best first; spans do not overlap, a slot
// gets one.
func (a *Agent) assign(all []found, awaited *slot) []found {
	var out []found
	taken := func(f found) bool {
		return slices.ContainsFunc(out, func(o found) bool {
			return o.slot == f.slot || o.start < f.end && f.start < o.end
		})
	}
	for i, f := range all {
		if taken(f) || f.score < 0 {
			continue
		}
		if !f.cue && f.slot != awaited {
			rival := slices.ContainsFunc(all[i+1:], func(o found) bool {
				return o.slot != f.slot && o.start == f.start && o.end == f.end && o.score == f.score && !taken(o) && (o.fits || !f.fits)
			})
			if rival {
				continue // whose it is, nobody can tell
			}
			rivalBefore := slices.ContainsFunc(all[:i], func(o found) bool {
				return o.slot != f.slot && o.start == f.start && o.end == f.end && o.score == f.score && !taken(o) && (o.fits || !f.fits)
			})
			if rivalBefore {
				continue
			}
		}
		out = append(out, f)
	}
	slices.SortFunc(out, func(a, b found) int { return cmp.Compare(a.start, b.start) })
	return out
}
