package value

import "strings"

// This file finds sentences and questions.

// Sentences splits tokens where a sentence ends.
func (r Reader) Sentences(toks []Token) [][]Token {
	var out [][]Token
	start := 0
	for i := 1; i < len(toks); i++ {
		between := r.Raw[toks[i-1].End:toks[i].Start]
		if strings.ContainsAny(between, "!?;") || strings.Contains(between, ".") && (len(toks[i-1].Text) > 2 || toks[i].Start > toks[i-1].End+1 && len(toks[i-1].Text) > 1) {
			out = append(out, toks[start:i])
			start = i
		}
	}
	return append(out, toks[start:])
}

// SentenceEnds reports whether a sentence ends before token i. It does not within "St.
// Helena".
func (r Reader) SentenceEnds(i int) bool {
	last := r.Toks[i-1]
	between := r.Raw[last.End:r.Toks[i].Start]
	return strings.ContainsAny(between, "!?;:") || len(last.Text) > 2 && strings.Contains(between, ".")
}

// SentenceEndsIn reports whether a sentence or a part of one ends before token i of the
// given tokens.
func (r Reader) SentenceEndsIn(toks []Token, i int) bool {
	from, to := toks[i-1].End, toks[i].Start
	return from <= to && to <= len(r.Raw) && strings.ContainsAny(r.Raw[from:to], ".,;:!?")
}

// Asks reports whether a sentence asks a question about something: "is smoking allowed",
// "do they have seats outside".
func (r Reader) Asks(part []Token) bool {
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
		return false
	}
	_, soft := r.Lang.Soft.At(toks, 0) // "can you find me a place with seats outside"
	_, tells := r.Lang.tells.At(toks, 0)
	return soft == 0 || tells > 0
}

// AsksAt reports whether the sentence of token i asks a question about something.
func (r Reader) AsksAt(i int) bool {
	for _, part := range r.Sentences(r.Toks) {
		if r.Toks[i].Start <= part[len(part)-1].Start {
			return r.Asks(part)
		}
	}
	return false
}

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
