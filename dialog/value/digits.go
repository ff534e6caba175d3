package value

import (
	"strconv"
	"strings"
)

// DigitRun reads digits as people dictate them: "four one five", "double oh seven", "twenty
// three", "eight hundred". It returns the digits and the number of tokens. If plus is true,
// a leading plus sign counts.
func (l *Language) DigitRun(toks []Token, i int, plus bool) (string, int) {
	w := &l.Numbers
	var buf [40]byte
	out := buf[:0]
	k := i
	if plus && k < len(toks) && w.plus[toks[k].Text] {
		out = append(out, '+')
		k++
	}
	end := k
	for k < len(toks) && len(out) < 36 {
		t := toks[k].Text
		if id, n := w.repeat.At(toks, k); n > 0 && k+n < len(toks) {
			if d, ok := w.digit(toks[k+n].Text); ok {
				for range w.repeatTimes[id] {
					out = append(out, d)
				}
				k += n + 1
				end = k
				continue
			}
		}
		if s, ok := WrittenDigits(t, plus && len(out) == 0); ok {
			out = append(out, s...)
			k++
			end = k
			continue
		}
		if v, n := w.pair(toks, k); n > 0 {
			out = strconv.AppendInt(out, v, 10)
			k += n
			end = k
			continue
		}
		if d, ok := w.digitWords[t]; ok && (len(out) > 0 || d == "0") && w.digitNeighbour(toks, k, i) {
			out = append(out, d...)
			k++
			end = k
			continue
		}
		if len(out) > 0 {
			if _, n := w.skip.At(toks, k); n > 0 {
				k += n
				continue
			}
		}
		break
	}
	if len(out) == 0 || len(out) == 1 && out[0] == '+' {
		return "", 0
	}
	return string(out), end - i
}

// digitNeighbour reports whether a word that is also a digit, such as "to" or "for", is
// meant as a digit, judging by the words next to it.
func (w *numberWords) digitNeighbour(toks []Token, k, first int) bool {
	d := w.digitWords[toks[k].Text]
	if d == "0" {
		if k+1 < len(toks) {
			_, ok := w.digit(toks[k+1].Text)
			_, pair := w.pair(toks, k+1)
			return ok || pair > 0 || AllDigits(toks[k+1].Text) || k > first
		}
		return k > first
	}
	if k+1 >= len(toks) {
		return false
	}
	_, before := w.units[toks[k-1].Text]
	_, after := w.units[toks[k+1].Text]
	return before && after
}

// digit returns the digit that a word stands for.
func (w *numberWords) digit(t string) (byte, bool) {
	if v, ok := w.units[t]; ok && v <= 9 {
		return byte('0' + v), true
	}
	if d, ok := w.digitWords[t]; ok {
		return d[0], true
	}
	if len(t) == 1 && IsDigit(t[0]) {
		return t[0], true
	}
	return 0, false
}

// pair reads one group of number words within digits: a digit, a teen, "twenty three",
// "eight hundred", "five thousand".
func (w *numberWords) pair(toks []Token, k int) (int64, int) {
	if k >= len(toks) {
		return 0, 0
	}
	t := toks[k].Text
	if w.Compound {
		if v, ok := w.compoundNumber(t); ok {
			return v, 1
		}
		return 0, 0
	}
	var v int64
	var n int
	if u, ok := w.units[t]; ok {
		v, n = u, 1
	} else if ten, ok := w.tens[t]; ok {
		v, n = ten, 1
		if k+1 < len(toks) {
			if u, ok := w.units[toks[k+1].Text]; ok && u >= 1 && u <= 9 {
				v, n = ten+u, 2
			}
		}
	} else {
		return 0, 0
	}
	if k+n < len(toks) && v > 0 && v < 100 {
		if s, ok := w.scales[toks[k+n].Text]; ok && s <= 1000 && s != 12 {
			return v * s, n + 1
		}
	}
	return v, n
}

// WrittenDigits removes the punctuation of digits such as "555-0123", "(415)" and
// "555.0123". If plus is true, a leading plus sign is kept. It reports false for any other
// text.
func WrittenDigits(t string, plus bool) (string, bool) {
	if t == "" {
		return "", false
	}
	if AllDigits(t) {
		return t, true
	}
	var b strings.Builder
	for i := 0; i < len(t); i++ {
		switch c := t[i]; {
		case IsDigit(c):
			b.WriteByte(c)
		case c == '+' && i == 0 && plus:
			b.WriteByte(c)
		case (c == '-' || c == '.' || c == '/' || c == ',') && i > 0:
		default:
			return "", false
		}
	}
	s := b.String()
	return s, s != "" && s != "+"
}
