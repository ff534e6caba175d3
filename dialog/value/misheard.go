package value

import (
	"slices"
	"strings"
)

// Thresholds of the comparison with a closed list. A value is accepted if its score is at least
// fuzzyAccept and leads by fuzzyMargin. From fuzzyAsk on the user is asked.
const (
	fuzzyAccept = 0.90
	fuzzyAsk    = 0.78
	fuzzyMargin = 0.06
)

// Misheard returns the value of a closed list that sounds most like the utterance. It is
// meant for short answers.
func (r Reader) Misheard(s *Spec) (any, Certainty) {
	if !s.Closed() {
		return nil, Unread
	}
	toks := r.Lang.Trim(r.Toks)
	if r.Lang.YesOrNo(toks) != NoAnswer {
		return nil, Unread // a "yes" is not a misheard "eyes"
	}
	k := 0
	for k < len(toks)-1 {
		n := r.carrier(s, toks, k)
		if n == 0 || k+n >= len(toks) {
			break
		}
		k += n
	}
	toks = toks[k:]
	if len(toks) == 0 || len(toks) > 6 {
		return nil, Unread
	}
	text := JoinTokens(toks)
	if len(text) < 3 || len(text) > 60 {
		return nil, Unread
	}
	best, second, value := r.nearest(s, text)
	if squeezed := strings.ReplaceAll(text, " ", ""); squeezed != text {
		b, sec, v := r.nearest(s, squeezed)
		if b > best {
			if v != value {
				sec = max(sec, best)
			}
			best, second, value = b, sec, v
		}
	}
	switch {
	case best >= fuzzyAccept && best-second >= fuzzyMargin:
		return s.Values[value].Value, Certain
	case best >= fuzzyAsk:
		return s.Values[value].Value, Doubtful
	default:
		return nil, Unread
	}
}

// Misspelt returns the value of a closed list from which the word at token i differs by one
// typing error: a letter too many, too few or wrong, or two swapped letters.
func (r Reader) Misspelt(s *Spec, toks []Token, i int) (any, int) {
	if !s.Closed() || len(toks[i].Text) < 5 {
		return nil, 0
	}
	w, best := toks[i].Text, -1
	for _, e := range s.entries {
		if len(e.text) < 5 || e.text[0] != w[0] || EditDistance(w, e.text, 1) > 1 || e.value == best {
			continue
		}
		if best >= 0 {
			return nil, 0
		}
		best = e.value
	}
	if best < 0 {
		return nil, 0
	}
	return s.Values[best].Value, 1
}

// Respell replaces words that differ by a typing error from the name of a day: "firday",
// "tomorow". It skips short words and months, which are too similar to other words.
func (r *Reader) Respell() {
	changed := false
	for i, tok := range r.Toks {
		if len(tok.Text) < 6 {
			continue
		}
		w := r.Lang.calendar.spelling(tok.Text)
		if w == "" || w == tok.Text || r.Lang.calendar.months[w] > 0 {
			continue
		}
		if !changed {
			r.Toks, r.seen, changed = slices.Clone(r.Toks), nil, true
		}
		r.Toks[i].Text = w
	}
}

// nearest scores the list against text. It returns the best score, the best score of
// another value, and the index of the best value.
func (r Reader) nearest(s *Spec, text string) (best, second float64, value int) {
	code := r.Lang.phoneticCode(text)
	value = -1
	for _, e := range s.entries {
		score := jaroWinkler(text, e.text)
		if code != "" && code == e.code && len(code) > 1 {
			score += (1 - score) * 0.5
		} else if score > 0.7 && code != "" && e.code != "" {
			score = 0.8*score + 0.2*jaroWinkler(code, e.code)
		}
		switch {
		case e.value == value:
			best = max(best, score)
		case score > best:
			best, second, value = score, best, e.value
		case score > second:
			second = score
		}
	}
	return best, second, value
}
