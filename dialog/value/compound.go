package value

import (
	"strconv"
	"strings"
)

// This file reads numbers that are one word ("dreiundzwanzig"), and ordinals.

// joined reads a number whose words may be written together, as in German: the longest run
// of tokens that is a number if joined.
func (w *numberWords) joined(toks []Token, i int) (float64, int) {
	if v, ok := w.wholeHalves[toks[i].Text]; ok {
		return v, 1
	}
	var best int64
	n := 0
	word := ""
	for k := i; k < len(toks) && k < i+7; k++ {
		if len(word)+len(toks[k].Text) > 80 {
			break
		}
		if scale, ok := w.scales[toks[k].Text]; ok && scale >= 1000000 && n > 0 && i+n == k {
			v := best * scale
			if v > MaxNumber {
				return 0, 0
			}
			if k+1 < len(toks) {
				if rest, rn := w.joined(toks, k+1); rn > 0 && rest < 1000000 {
					return float64(v) + rest, k + 1 + rn - i
				}
			}
			return float64(v), k + 1 - i
		}
		if w.scales[toks[k].Text] == 12 && n > 0 && i+n == k {
			return float64(best * 12), k + 1 - i
		}
		word += toks[k].Text
		if v, ok := w.compoundNumber(word); ok {
			best, n = v, k+1-i
		}
	}
	return float64(best), n
}

// compoundNumber reads "zweitausendfünfhundertdreiundzwanzig".
func (w *numberWords) compoundNumber(s string) (int64, bool) {
	if k := strings.Index(s, w.thousand); k >= 0 {
		head := int64(1)
		if k > 0 {
			v, ok := w.belowThousand(s[:k])
			if !ok || v == 0 {
				return 0, false
			}
			head = v
		}
		rest := s[k+len(w.thousand):]
		if rest == "" {
			return head * 1000, true
		}
		v, ok := w.belowThousand(strings.TrimPrefix(rest, "und"))
		return head*1000 + v, ok && v > 0
	}
	return w.belowThousand(s)
}

func (w *numberWords) belowThousand(s string) (int64, bool) {
	if k := strings.Index(s, w.hundred); k >= 0 {
		head := int64(1)
		if k > 0 {
			v, ok := w.units[s[:k]]
			if !ok || v == 0 {
				return 0, false
			}
			head = v
		}
		rest := s[k+len(w.hundred):]
		if rest == "" {
			return head * 100, true
		}
		v, ok := w.belowHundred(strings.TrimPrefix(rest, "und"))
		return head*100 + v, ok && v > 0
	}
	return w.belowHundred(s)
}

func (w *numberWords) belowHundred(s string) (int64, bool) {
	if v, ok := w.units[s]; ok {
		return v, true
	}
	if v, ok := w.tens[s]; ok {
		return v, true
	}
	for k := strings.Index(s, "und"); k > 0; {
		unit, ok := w.units[s[:k]]
		if ten, is := w.tens[s[k+3:]]; ok && is && unit >= 1 && unit <= 9 {
			return ten + unit, true
		}
		next := strings.Index(s[k+1:], "und")
		if next < 0 {
			break
		}
		k += 1 + next
	}
	return 0, false
}

// ordinal reads "third", "twenty first", "3rd", "dritten".
func (l *Language) ordinal(toks []Token, i int) (v int64, n int) {
	if i >= len(toks) {
		return 0, 0
	}
	w := &l.Numbers
	t := toks[i].Text
	if v, ok := w.ordinals[t]; ok && !w.Compound {
		return v, 1
	}
	for _, suffix := range w.ordSuffixes {
		if head, ok := strings.CutSuffix(t, suffix); ok && len(head) <= 3 && AllDigits(head) {
			v, err := strconv.ParseInt(head, 10, 64)
			if err == nil {
				return v, 1
			}
		}
	}
	if !w.Compound {
		if ten, ok := w.tens[t]; ok && i+1 < len(toks) {
			if u, ok := w.ordinals[toks[i+1].Text]; ok && u < 10 {
				return ten + u, 2
			}
		}
		return 0, 0
	}
	for _, ending := range w.ordEndings {
		stem, ok := strings.CutSuffix(t, ending)
		if !ok {
			continue
		}
		if v, ok := w.ordinals[stem]; ok {
			return v, 1
		}
		if head, ok := strings.CutSuffix(stem, "st"); ok {
			if v, ok := w.compoundNumber(head); ok && v >= 20 {
				return v, 1
			}
		}
		if head, ok := strings.CutSuffix(stem, "t"); ok {
			if v, ok := w.compoundNumber(head); ok && v >= 2 && v < 20 {
				return v, 1
			}
		}
	}
	return 0, 0
}
