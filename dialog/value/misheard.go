package value

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

// Misheard finds the value of a closed list that sounds most like what was
// said. It is for short answers.
func (r Reader) Misheard(s *Spec) (any, Certainty) {
	if !s.Closed() {
		return nil, Unread
	}
	toks := r.Lang.Trim(r.Toks)
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

// nearest scores the list against text: the best score, the best of another
// value, and which value it is.
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
