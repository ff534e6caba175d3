package value

import "strings"

// This file finds sentences and questions.

// Sentences splits tokens where a sentence ends.
func (r Reader) Sentences(toks []Token) [][]Token {
	var out [][]Token
	start := 0
	for i := 1; i < len(toks); i++ {
		if r.stops(toks[i-1], toks[i]) {
			out = append(out, toks[start:i])
			start = i
		}
	}
	return append(out, toks[start:])
}

// SentenceEnds reports whether a sentence, or a part of one before a colon, ends before token i.
func (r Reader) SentenceEnds(i int) bool {
	last, next := r.Toks[i-1], r.Toks[i]
	return strings.Contains(r.Raw[last.End:next.Start], ":") || r.stops(last, next)
}

// stops reports whether a sentence ends between two tokens. It does not within "St. Helena" and
// "12. Dezember".
func (r Reader) stops(last, next Token) bool {
	between := r.Raw[last.End:next.Start]
	if strings.ContainsAny(between, "!?;") {
		return true
	}
	if !strings.Contains(between, ".") || AllDigits(last.Text) && r.month(next) {
		return false
	}
	two := []Token{last, next}
	_, answer := r.Lang.YesNo.At(two[:1], 0)
	_, light := r.Lang.Light.At(two, 1)
	switch {
	case len(last.Text) > 2:
		return true
	case next.Start == last.End+1, len(last.Text) == 1:
		return false
	}
	return answer+light > 0 || !r.capitalOf(last)
}

// SentenceEndsIn reports whether a sentence or a part of one ends before token i of the
// given tokens.
func (r Reader) SentenceEndsIn(toks []Token, i int) bool {
	from, to := toks[i-1].End, toks[i].Start
	return from <= to && to <= len(r.Raw) && strings.ContainsAny(r.Raw[from:to], ".,;:!?")
}

// Asks reports whether a sentence asks a question about something: "is smoking allowed",
// "do they have seats outside".
func (r Reader) Asks(part []Token) bool { return len(r.question(part)) > 0 }

// question returns a sentence that asks a question about something, from its first word of a
// question on, or nil.
func (r Reader) question(part []Token) []Token {
	toks := r.Lang.Fillers.TrimLeft(part)
	for len(toks) > 0 {
		if answer, n := r.Lang.YesNo.At(toks, 0); n > 0 && n < len(toks) && answer != light {
			toks = toks[n:]
			continue
		}
		if _, n := r.Lang.Weak.At(toks, 0); n > 0 && n < len(toks) || toks[0].Text == "and" || toks[0].Text == "also" || toks[0].Text == "but" {
			toks = toks[max(1, n):]
			continue
		}
		break
	}
	_, n := r.Lang.Questions.At(toks, 0)
	if n == 0 {
		return nil
	}
	_, soft := r.Lang.Soft.At(toks, 0) // "can you find me a place with seats outside"
	if _, tells := r.Lang.tells.At(toks, 0); soft > 0 && tells == 0 {
		return nil
	}
	return toks
}

// A Questioning says whether words are within a question.
type Questioning int

const (
	Told      Questioning = iota // the user tells or wishes it
	Wondering                    // in a question that may be a wish: "do you have a table for two?", "Friday?"
	Wanting                      // in a question that wants to know something: "what does one ticket cost?"
)

// Within reports whether token i is within a question. A question ends with its sentence, or where a
// clause begins that wishes something: "what is it, and make it two".
func (r Reader) Within(i int) Questioning {
	part := r.SentenceOf(i)
	q, wish := Told, false
	for k := range part {
		if part[k].Start > r.Toks[i].Start {
			break
		}
		if k > 0 && !r.clauseEnds(part, k) {
			continue
		}
		switch kind := r.questionOf(part[k:]); {
		case kind != Told:
			q, wish = kind, false
		case r.wishes(part[k:]):
			q, wish = Told, true
		}
	}
	if q == Told && !wish && strings.HasPrefix(r.Raw[part[len(part)-1].End:], "?") {
		return Wondering
	}
	return q
}

// clauseEnds reports whether a clause may begin at token k.
func (r Reader) clauseEnds(toks []Token, k int) bool {
	if strings.ContainsAny(r.Raw[toks[k-1].End:toks[k].Start], ",:") {
		return true
	}
	_, n := r.Lang.Joins.At(toks, k)
	return n > 0
}

// questionOf returns which question a clause is.
func (r Reader) questionOf(clause []Token) Questioning {
	toks := r.question(r.Lang.Joins.TrimLeft(clause))
	if len(toks) == 0 || r.wishes(toks) {
		return Told
	}
	_, soft := r.Lang.Soft.At(toks, 0)
	if _, open := r.Lang.Interrogatives.At(toks, 0); soft > 0 || open == 0 {
		return Wondering
	}
	return Wanting
}

// wishes reports whether a clause begins with words before a wish that are not those of a question:
// "how about", "can you".
func (r Reader) wishes(clause []Token) bool {
	_, question := r.Lang.Questions.At(clause, 0)
	most := 0
	for _, p := range [...]*Phrases{r.Lang.Carriers, r.Lang.Prefixes, r.Lang.Strong} {
		_, n := p.At(clause, 0)
		most = max(most, n)
	}
	return most > question
}

// SentenceOf returns the sentence of token i.
func (r Reader) SentenceOf(i int) []Token {
	for _, part := range r.Sentences(r.Toks) {
		if r.Toks[i].Start <= part[len(part)-1].Start {
			return part
		}
	}
	return nil
}

// AsksAt reports whether the sentence of token i asks a question about something.
func (r Reader) AsksAt(i int) bool { return r.Asks(r.SentenceOf(i)) }

// Names returns the number of capitalized words that do not begin the message.
func (r Reader) Names(toks []Token) int {
	n := 0
	for _, t := range toks {
		if t.Start > 0 && t.End <= len(r.Raw) && r.Raw[t.Start] >= 'A' && r.Raw[t.Start] <= 'Z' && t.Text != "i" {
			n++
		}
	}
	return n
}
