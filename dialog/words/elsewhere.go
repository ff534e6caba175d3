package words

import (
	"slices"

	"github.com/hocketvoice/hocket/dialog/agent"
	"github.com/hocketvoice/hocket/dialog/value"
)

// This file tells values of a slot from those of other things: what a message asks about, tells of
// what was, of something that the agent does not know, or of another slot.

// onlyAsks reports whether the message has values for the slot of the current flow in questions
// alone: "what would one dog cost?" gives no number of dogs. A question that may be a wish ("do you
// have a table for two?") gives the value of the slot that was asked for.
func (t *message) onlyAsks(s *agent.Slot, f *agent.Flow) bool {
	if f != t.flow {
		return false
	}
	asks := false
	for _, x := range t.a.candidates(t.rd, f.Slots, t.a.def.SlotIndex[t.st.WaitingForSlot]) {
		if x.slot != s {
			continue
		}
		q := t.rd.Within(x.start)
		if q == value.Told || q == value.Wondering && s.Name == t.st.WaitingForSlot && !t.aboutOther(x, 1) {
			return false
		}
		asks = true
	}
	return asks
}

// tellsPast reports whether a sentence tells what was: "the last order was 300 copies", "I was there
// yesterday".
func (t *message) tellsPast(x found) bool {
	was := t.a.def.Lang.PastStates
	day, _ := x.value.(string)
	past := x.slot.Type == value.TypeDate && !x.slot.Past && day < value.DateOf(t.rd.Now).String()
	return was.EndsAt(t.rd.Toks, t.introduction(x)) > 0 || past && was.Within(t.rd.SentenceOf(x.start)) ||
		x.slot.Type == value.TypeTime && t.othersWere(x)
}

// othersWere reports whether somebody or something that the agent does not know was somewhere at a
// time: "my wife was here at 9", but not "I was thinking of 9".
func (t *message) othersWere(x found) bool {
	toks := t.rd.Toks[:x.start]
	for i := len(toks) - 1; i > 0 && !t.rd.SentenceEndsIn(t.rd.Toks, i); i-- {
		if _, n := t.a.def.Lang.PastStates.At(toks, i); n > 0 {
			w, _ := t.a.def.Lang.Meaning(toks, i-1)
			return !t.a.def.Lang.Pronouns.Within(toks[i-1:i]) && t.strange(w)
		}
	}
	return false
}

// introduction returns the index of the first of the words that only introduce a value.
func (t *message) introduction(x found) int {
	k := t.a.beforeArticle(t.rd, x.start)
	if x.slot.TypeCues != nil {
		k -= x.slot.TypeCues.EndsAt(t.rd.Toks, k)
	}
	return k
}

// aboutOther reports whether the sentence of a value has so many words that the agent does not know,
// and none that it knows: "do you close at six?", "I am on channel 16".
func (t *message) aboutOther(x found, least int) bool {
	var said []string
	l := t.a.def.Lang
	for _, part := range t.besideValue(x) {
		for len(part) > 0 { // a yes or no and the words of a correction are about the value
			n := 0
			for _, p := range [...]*value.Phrases{l.YesNo, l.Weak, l.Strong, l.Polite, l.Repairs} {
				_, m := p.At(part, 0)
				n = max(n, m)
			}
			if n == 0 {
				_, n = l.Meaning(part, 0)
				said = l.Contents(part[:n], said)
			}
			part = part[n:]
		}
	}
	strange := 0
	for _, w := range said {
		switch {
		case x.slot.PromptWords[w]: // neither
		case !t.strange(w):
			return false
		default:
			strange++
		}
	}
	return strange >= least
}

// besideValue returns the words of the sentence of a value before it and after it.
func (t *message) besideValue(x found) [2][]value.Token {
	part := t.rd.SentenceOf(x.start)
	i := slices.IndexFunc(part, func(tok value.Token) bool { return tok.Start == t.rd.Toks[x.start].Start })
	j := min(len(part), i+x.end-x.start)
	return [2][]value.Token{part[:i], part[j:]}
}

// tellsOfOther reports whether a sentence tells a value of something that the agent does not know:
// "my birthday is on the 5th".
func (t *message) tellsOfOther(x found) bool {
	l, toks := t.a.def.Lang, t.rd.Toks
	k := t.introduction(x)
	n := l.States.EndsAt(toks, k)
	if n == 0 || x.slot.Mentions.EndsAt(toks, k-n) > 0 || t.rd.SentenceEndsIn(toks, k) {
		return false // "here it is, 482913"
	}
	from := k - n
	for from > 0 && !t.rd.SentenceEnds(from) {
		from--
	}
	return slices.ContainsFunc(l.Contents(toks[from:k-n], nil), func(w string) bool { return t.strange(w) && !x.slot.PromptWords[w] })
}

// aside reports whether a value is in a clause of its own that tells of something else: "a flight to
// Dallas, my wife lives in Austin". Such a clause begins with a thing or a person that the agent does
// not know, and has no word that it knows.
func (a *Words) aside(r value.Reader, f found) bool {
	from := f.start
	for from > 0 && !r.SentenceEndsIn(r.Toks, from) {
		from--
	}
	said := a.def.Lang.Contents(r.Toks[from:f.start], nil)
	_, article := r.Lang.Articles.At(r.Toks, from)
	return from > 0 && article > 0 && len(said) > 1 && !slices.ContainsFunc(said, a.knows)
}

// knows reports whether a word is one of a flow, a slot or an output of the agent.
func (a *Words) knows(word string) bool {
	return slices.ContainsFunc(a.flowWords, func(words map[string]bool) bool { return words[word] }) ||
		slices.ContainsFunc(a.askables, func(x askable) bool { return x.words[word] })
}

// meantElsewhere reports whether the words of a day or a time at token i say that it is for another
// slot of the type: "until the 9th" while there are a first and a last day, "I collect it on the
// 9th" where only the other slot is described so.
func (a *Words) meantElsewhere(r value.Reader, s *agent.Slot, slots []*agent.Slot, i int) bool {
	if s.Closed() || s.Past || s.Type != value.TypeDate && s.Type != value.TypeTime || a.cueBefore(r, s, i) > 0 {
		return false
	}
	var same []*agent.Slot
	for _, o := range slots {
		if o.Type == s.Type && !o.Past && !o.Closed() {
			same = append(same, o)
		}
	}
	if len(same) == 2 && same[0] == s && a.endsAt(r, i) {
		return true
	}
	said := a.def.Lang.Contents(r.SentenceOf(i), nil)
	tells := func(o, other *agent.Slot) bool {
		return slices.ContainsFunc(said, func(w string) bool { return o.Words[w] && !other.Words[w] })
	}
	return slices.ContainsFunc(same, func(o *agent.Slot) bool { return o != s && tells(o, s) && !tells(s, o) })
}

// endsAt reports whether a value at token i is the end of a stretch whose beginning is not said:
// "until the 9th".
func (a *Words) endsAt(r value.Reader, i int) bool {
	k := a.beforeArticle(r, i)
	n := r.Lang.RangeTo.EndsAt(r.Toks, k)
	if n == 0 {
		return false
	}
	_, joins := r.Lang.Joins.At(r.Toks, k-n)
	return joins == 0
}

// standsAlone reports whether the word at token j does not belong to a listed value of one word
// before it, or is a word that the agent has: "large", "the large unit", but not "a large family".
func (a *Words) standsAlone(r value.Reader, j int) bool {
	if j >= len(r.Toks) || r.Stands(j-1, j) {
		return true
	}
	w, _ := a.def.Lang.Meaning(r.Toks, j)
	_, known := a.spelt[r.Toks[j].Text]
	return known || slices.ContainsFunc(a.def.Slots, func(s *agent.Slot) bool { return s.Words[w] || s.Keys[w] }) ||
		slices.ContainsFunc(a.flowWords, func(words map[string]bool) bool { return words[w] })
}

// namesTwo reports whether an answer begins with another name than the one that it calls the slot's:
// "Tim Smith, my own name is John".
func (a *Words) namesTwo(r value.Reader, s *agent.Slot, f found) bool {
	n := r.NameRun(r.Toks, 0)
	return s.Type == value.TypeName && n > 0 && n <= f.start && r.SentenceEndsIn(r.Toks, n) && !value.Equal(f.value, value.TitleWords(value.SpanText(r.Raw, r.Toks, 0, n)))
}
