package words

import (
	"cmp"
	"slices"

	"github.com/hocketvoice/hocket/dialog/agent"
	"github.com/hocketvoice/hocket/dialog/value"
)

// found is a value for a slot in a message.
type found struct {
	slot       *agent.Slot
	value      any
	start, end int
	score      int
	cue        bool // whether words before it name the slot
	fits       bool // whether the slot would accept it; set for dates without a cue only
}

// extract returns the values for several slots in a message ("from Boston to Denver next
// friday"). If a value could belong to two slots, it goes to the one that the words before
// it point to, then to the awaited one. If neither decides, the value is dropped: a wrong
// guess costs more than a question.
func (a *Words) extract(r value.Reader, slots []*agent.Slot, awaited *agent.Slot) []found {
	all := slices.DeleteFunc(a.candidates(r, slots, awaited), func(f found) bool { return f.slot != awaited && a.aside(r, f) })
	all = append(a.decided(r, slots, all), a.ranges(r, slots, all)...)
	slices.SortStableFunc(all, func(a, b found) int {
		return cmp.Or(cmp.Compare(b.score, a.score), cmp.Compare(a.start, b.start))
	})
	return a.assign(all, awaited)
}

// candidates returns all values in a message, each for every slot that may take it.
func (a *Words) candidates(r value.Reader, slots []*agent.Slot, awaited *agent.Slot) []found {
	x := extraction{a, r, slots, awaited}
	var all []found
	for _, s := range slots {
		if s.Free() || s.Type == value.TypeBoolean && !s.Closed() {
			all = x.unformed(s, all)
		} else {
			all = x.formed(s, all)
		}
	}
	return slices.DeleteFunc(all, func(f found) bool {
		return denied(r, f) || inMarker(r, f) || f.slot.AnyWords() && thanksFor(r, r.SentenceOf(f.start))
	})
}

// extraction finds values for some slots in a message. One of the slots may have been asked for.
type extraction struct {
	a       *Words
	r       value.Reader
	slots   []*agent.Slot
	awaited *agent.Slot
}

// unformed appends the values of a slot whose values have no form: texts, names, yes and no.
func (x extraction) unformed(s *agent.Slot, all []found) []found {
	f, ok := x.a.named(x.r, s)
	switch {
	case ok && (s != x.awaited || !x.a.namesTwo(x.r, s, f)):
		return append(all, f)
	case ok:
		return all
	case s.Type == value.TypeBoolean && s != x.awaited:
		return x.a.wantedOrNot(x.r, s, all)
	case s.Type == value.TypeName:
		return x.a.nameSpans(x.r, s, x.slots, x.awaited, all)
	}
	return all
}

// formed appends the values of a slot whose values have a form or are listed.
func (x extraction) formed(s *agent.Slot, all []found) []found {
	toks := x.r.Toks
	for i := 0; i < len(toks); i++ {
		v, n := x.valueAt(s, i)
		if n == 0 {
			continue
		}
		if x.a.meantElsewhere(x.r, s, x.slots, i) || !s.Closed() && x.a.listed(x.slots, s, toks[i:i+n]) {
			i += n - 1
			continue
		}
		f := found{slot: s, value: v, start: i, end: i + n}
		f.cue, f.score = x.a.pointed(x.r, s, x.slots, i)
		f.score += 10 * n
		if s == x.awaited {
			f.score += 3
		}
		if s.Numeric() && x.countsOther(f) || s.Closed() && n == 1 && x.describesOther(f) {
			continue
		}
		f.fits = s.Type == value.TypeDate && !s.Past && !f.cue && x.a.takes(x.r, s, v, nil)
		all = append(all, f)
		i += n - 1
	}
	return all
}

// valueAt reads a value of a slot at token i.
func (x extraction) valueAt(s *agent.Slot, i int) (v any, n int) {
	v, n = x.r.Find(&s.Spec, x.r.Toks, i, false)
	if n == 0 && s.Closed() && s.Cues.EndsAt(x.r.Toks, i) > 0 {
		v, n = x.r.Misspelt(&s.Spec, x.r.Toks, i)
	}
	if n == 0 && s.Type == value.TypeCity && !s.Closed() {
		v, n = x.a.placeFor(x.r, s, x.slots, x.awaited, i)
	}
	return v, n
}

// countsOther reports whether a number within a sentence belongs to no slot: "my number one choice".
func (x extraction) countsOther(f found) bool {
	s := f.slot
	stands := x.r.Stands(f.start, f.end)
	if f.cue && (stands || x.a.beforeCounted(x.r, s, f.end)) {
		return false
	}
	if !f.cue && s == x.awaited && stands && !pronoun(x.r, f) {
		return false
	}
	return !x.a.belongs(x.r, s, x.slots, f)
}

// describesOther reports whether one word that is a listed value is about something else: a "large
// family" is no large room, and "John Adams" not Doctor Adams.
func (x extraction) describesOther(f found) bool {
	return !f.cue && (!x.a.standsAlone(x.r, f.end) || x.a.inName(x.r, f.start, 1))
}

// inMarker reports whether a value is a part of the words of a correction: the "second" of "on
// second thought".
func inMarker(r value.Reader, f found) bool {
	for i := range f.start + 1 {
		if _, n := r.Lang.Weak.At(r.Toks, i); i+n >= f.end && n > f.end-f.start {
			return true
		}
	}
	return false
}

// pronoun reports whether a number within a sentence is the word "one", which stands for a
// thing: "find me one with three bedrooms".
func pronoun(r value.Reader, f found) bool {
	return f.end == f.start+1 && value.Equal(f.value, value.Number(1)) && !value.AllDigits(r.Toks[f.start].Text)
}

// denied reports whether the message says that a value is not meant. Booleans are excluded,
// since a denied boolean is a value.
func denied(r value.Reader, f found) bool {
	return f.slot.Type != value.TypeBoolean && r.Negated(f.start, f.end)
}

// nameSpans appends the names that a sentence may give for a slot.
func (a *Words) nameSpans(r value.Reader, s *agent.Slot, slots []*agent.Slot, awaited *agent.Slot, all []found) []found {
	for i := 0; i < len(r.Toks); i++ {
		v, n, cue := a.nameFor(r, s, slots, awaited, i)
		if i == 0 {
			v, n = a.nameFirst(r, s, slots, awaited)
		}
		if n == 0 || cue == 0 && a.listed(slots, s, r.Toks[i:i+n]) {
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

// wantedOrNot appends the yes or no that a wish gives for a slot: "somewhere with outdoor
// seating", "a place without smoking". A wish must contain each word of the slot's name.
// Questions, also indirect ones, are not wishes.
func (a *Words) wantedOrNot(r value.Reader, s *agent.Slot, all []found) []found {
	for _, part := range r.Sentences(r.Toks) {
		if len(part) == 0 || len(s.Keys) == 0 || r.Asks(part) {
			continue
		}
		if r.Lang.NotWanted.Within(part) || r.Lang.Whether.Within(part) {
			continue
		}
		at, known := -1, make(map[string]bool)
		for i := 0; i < len(part); {
			w, n := r.Lang.Meaning(part, i)
			if s.Keys[w] {
				known[w] = true
				if at < 0 {
					at = i
				}
			}
			i += n
		}
		if len(known) < len(s.Keys) {
			continue // "free time" is not free entry
		}
		v := !slices.ContainsFunc(part[max(0, at-5):at], func(t value.Token) bool { return r.Lang.Negates(t.Text) })
		start := slices.IndexFunc(r.Toks, func(t value.Token) bool { return t.Start == part[at].Start })
		all = append(all, found{slot: s, value: v, start: start, end: start + 1, score: 12, cue: true})
	}
	return all
}

// belongs reports whether the context of a number shows that it belongs to the slot: a
// currency, or what it counts.
func (a *Words) belongs(r value.Reader, s *agent.Slot, slots []*agent.Slot, f found) bool {
	if s.Type == value.TypeMoney {
		_, cur, _ := r.Lang.Amount(r.Toks, f.start)
		return cur != ""
	}
	return a.unit(r, s, f.end) || a.counted(r, s, slots, f.start, f.end) || s.OnlyIn(f.value)
}

// beforeCounted reports whether the words at token j often follow a value of the slot's type: "people".
func (a *Words) beforeCounted(r value.Reader, s *agent.Slot, j int) bool {
	if s.Trailing == nil {
		return false
	}
	_, n := s.Trailing.At(r.Toks, j)
	return n > 0
}

// counted reports whether a bare number at tokens i to j can only belong to the slot: it
// counts people or things ("for four people", "a party of six"), and no other slot has
// numbers.
func (a *Words) counted(r value.Reader, s *agent.Slot, slots []*agent.Slot, i, j int) bool {
	for _, o := range slots {
		if o != s && o.Numeric() && o.Type != value.TypeMoney {
			return false
		}
	}
	return a.beforeCounted(r, s, j) || s.TypeCues != nil && s.TypeCues.EndsAt(r.Toks, i) > 1
}

// takes reports whether a slot would accept a value, by its limits and validators: "next
// friday" may be the day of a visit but not a date of birth.
func (a *Words) takes(r value.Reader, s *agent.Slot, v any, slots map[string]any) (ok bool) {
	defer func() {
		if recover() != nil {
			ok = false // the validator panics again when the value is set, where it is reported
		}
	}()
	if value.Half(v) || s.Within(v) != nil {
		return false
	}
	for _, val := range s.Validators {
		if val.Func == nil {
			continue
		}
		if _, err := val.Func(v, agent.Check{Slot: s.Name, Language: a.def.Settings.Language, Now: r.Now, Slots: slots, Words: a.def.Lang}); err != nil {
			return false
		}
	}
	return true
}

// pointed scores the words before a value. Words that point to the slot raise the score,
// words that point to another slot of the same type lower it. It also reports whether they
// point to the slot more than to others.
func (a *Words) pointed(r value.Reader, s *agent.Slot, slots []*agent.Slot, i int) (bool, int) {
	k := i
	if n := r.Lang.Articles.EndsAt(r.Toks, k); n > 0 && n < k {
		k -= n
	}
	own := max(a.cueBefore(r, s, i), a.cueBefore(r, s, k))
	other := 0
	for _, o := range slots {
		if o != s && o.Type == s.Type {
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

// cueBefore returns how strongly the words before token i point to the slot: the number of
// their tokens, plus 10 if they name the slot.
func (a *Words) cueBefore(r value.Reader, s *agent.Slot, i int) int {
	n := s.Cues.EndsAt(r.Toks, i)
	if m := s.Mentions.EndsAt(r.Toks, i); m > 0 {
		n = max(n, m+10)
	}
	if an := r.Lang.Assign.EndsAt(r.Toks, i); an > 0 {
		if m := s.Mentions.EndsAt(r.Toks, i-an); m > 0 {
			n = max(n, m+an+10)
		}
	}
	return n
}

// unit reports whether the words at token i, after a number, are those of the slot's name
// ("two guests").
func (a *Words) unit(r value.Reader, s *agent.Slot, i int) bool {
	if i >= len(r.Toks) {
		return false
	}
	w, _ := r.Lang.Meaning(r.Toks, i)
	return s.Keys[w] || s.Type == value.TypeInteger && s.Words[w] && w[0] == '~'
}

// named returns the value of a slot of free text that follows the slot's name: "the name is
// John Smith". It ends with its sentence.
func (a *Words) named(r value.Reader, s *agent.Slot) (found, bool) {
	for i := range r.Toks {
		_, n := s.Mentions.At(r.Toks, i)
		if n == 0 || r.AsksAt(i) { // "what kind of music is it"
			continue
		}
		k := i + n
		_, an := r.Lang.States.At(r.Toks, k)
		if k += an; an == 0 || k >= len(r.Toks) || r.SentenceEnds(k) {
			continue
		}
		end := k + 1
		for end < len(r.Toks) && !r.SentenceEnds(end) {
			end++
		}
		rest := r.Lang.Polite.TrimRight(r.Toks[k:end])
		sub := value.Reader{Lang: r.Lang, Raw: value.SpanText(r.Raw, r.Toks, k, k+len(rest)), Now: r.Now}
		var buf [24]value.Token
		sub.Toks = value.Tokenize(sub.Raw, buf[:0]) // positions are relative to the part
		v, sure := sub.Answer(&s.Spec)
		if sure == value.Certain {
			return found{slot: s, value: v, start: i, end: k + len(rest), score: 5*len(rest) + 15, cue: true}, true
		}
	}
	return found{}, false
}

// assign assigns values to slots, those with the highest score first. Values do not
// overlap, and a slot gets at most one.
func (a *Words) assign(all []found, awaited *agent.Slot) []found {
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
				continue // it could belong to either slot
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

// nameFirst reads a name at the beginning of an answer: "Bob Miller, but not before
// Friday", "john smith born on 3 May".
func (a *Words) nameFirst(r value.Reader, s *agent.Slot, others []*agent.Slot, awaited *agent.Slot) (any, int) {
	if s != awaited || len(r.Toks) == 0 || a.wordOfFlow(r.Toks, 0) {
		return nil, 0
	}
	n := r.NameRun(r.Toks, 0)
	behind := func(o *agent.Slot) bool {
		k := n + cueAt(o, r.Toks, n)
		_, m := r.Find(&o.Spec, r.Toks, min(k, len(r.Toks)-1), false)
		return o != s && k > n && k < len(r.Toks) && m > 0
	}
	written := n > 1 && r.Capital(0) && r.Capital(1)
	if n == 0 || n == len(r.Toks) || !written && !slices.ContainsFunc(others, behind) {
		return nil, 0
	}
	return value.TitleWords(value.SpanText(r.Raw, r.Toks, 0, n)), n
}

// wordOfFlow reports whether token i is a word with which users ask for a flow.
func (a *Words) wordOfFlow(toks []value.Token, i int) bool {
	w, _ := a.def.Lang.Meaning(toks, i)
	return slices.ContainsFunc(a.flowWords, func(words map[string]bool) bool { return words[w] })
}

// nameFor reads a name for the slot at token i. The name must have capitals and must follow
// a word that points to the slot, unless the slot is awaited.
func (a *Words) nameFor(r value.Reader, s *agent.Slot, slots []*agent.Slot, awaited *agent.Slot, i int) (any, int, int) {
	v, n := r.Place(i)
	if n == 0 || !a.whole(r, s, slots, i, i+n) {
		return nil, 0, 0
	}
	cue := max(s.Cues.EndsAt(r.Toks, i), s.Mentions.EndsAt(r.Toks, i))
	if s.TypeCues != nil {
		cue = max(cue, s.TypeCues.EndsAt(r.Toks, i))
	}
	if cue == 0 && s != awaited && !a.classBefore(r, s, i) {
		return nil, 0, 0
	}
	if _, city := r.Lang.TypeCues["city"]; city && cue == 0 && s != awaited && r.Lang.TypeCues["city"].EndsAt(r.Toks, i) > 0 {
		return nil, 0, 0
	}
	return v, n, cue
}

// classBefore reports whether the word before token i says what kind of thing the slot
// names: "the restaurant Aq", "the song Hello".
func (a *Words) classBefore(r value.Reader, s *agent.Slot, i int) bool {
	if i == 0 {
		return false
	}
	w, _ := r.Lang.Meaning(r.Toks, i-1)
	return s.Words[w]
}
