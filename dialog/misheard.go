package dialog

import (
	"strings"
)

// Thresholds of the comparison with a closed list: a value is taken when it is
// this near and nothing else comes close, and asked about when it may be meant.
const (
	fuzzyAccept = 0.90
	fuzzyAsk    = 0.78
	fuzzyMargin = 0.06
)

// misheard finds the value of a closed list that sounds most like what was
// said. It is for short answers.
func (r reader) misheard(s *slot) (any, certainty) {
	if !s.closed() {
		return nil, unread
	}
	toks := r.l.trim(r.toks)
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
		return nil, unread
	}
	text := joinTokens(toks)
	if len(text) < 3 || len(text) > 60 {
		return nil, unread
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
		return s.values[value].value, certain
	case best >= fuzzyAsk:
		return s.values[value].value, doubtful
	default:
		return nil, unread
	}
}

// nearest scores the list against text: the best score, the best of another
// value, and which value it is.
func (r reader) nearest(s *slot, text string) (best, second float64, value int) {
	code := r.l.phoneticCode(text)
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
