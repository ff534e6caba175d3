package dialog

import (
	"slices"
	"strings"
	"unicode"
)

// This file: texts as words of a grammar.

// jsgfWords spells a text for a grammar: lower-case words, numbers and initials
// as words, everything else dropped. It is "" if nothing can be said.
func (l *language) jsgfWords(text string) string {
	var words []string
	for _, f := range strings.Fields(text) {
		f = strings.Trim(f, ".,;:!?\"()[]{}<>|*+/\\=&%#@…“”„")
		if dottedLetters(strings.ToLower(f)+".") || dottedLetters(strings.ToLower(f)) && strings.Contains(f, ".") {
			for _, r := range strings.ToLower(f) {
				if unicode.IsLetter(r) {
					words = append(words, string(r))
				}
			}
			continue
		}
		if len(f) >= 2 && len(f) <= 3 && upperLetters(f) { // initials
			for _, r := range strings.ToLower(f) {
				words = append(words, string(r))
			}
			continue
		}
		for _, part := range strings.FieldsFunc(strings.ToLower(f), func(r rune) bool {
			return !(unicode.IsLetter(r) || unicode.IsDigit(r) || r == '\'' || r == '’')
		}) {
			words = append(words, l.sayPart(strings.ReplaceAll(part, "’", "'"))...)
		}
	}
	return strings.Join(words, " ")
}

// sayPart splits digits off a word and says them one by one, numbers below a
// hundred as numbers.
func (l *language) sayPart(w string) []string {
	var out []string
	for w != "" {
		n := 0
		for n < len(w) && isDigit(w[n]) {
			n++
		}
		if n > 0 {
			out = append(out, l.sayDigits(w[:n])...)
			w = w[n:]
			continue
		}
		for n < len(w) && !isDigit(w[n]) {
			n++
		}
		if part := strings.Trim(w[:n], "'"); part != "" {
			out = append(out, part)
		}
		w = w[n:]
	}
	return out
}

func (l *language) sayDigits(digits string) []string {
	if len(digits) <= 2 {
		v := int64(digits[0] - '0')
		if len(digits) == 2 {
			v = v*10 + int64(digits[1]-'0')
		}
		if words := l.sayNumber(v); words != nil && (len(digits) == 1 || v >= 10) {
			return words
		}
	}
	var out []string
	for i := range len(digits) {
		out = append(out, l.sayNumber(int64(digits[i]-'0'))...)
	}
	return out
}

// sayNumber spells a number below a hundred.
func (l *language) sayNumber(v int64) []string {
	if v < 0 || v > 99 {
		return nil
	}
	find := func(m map[string]int64, v int64) string {
		for _, k := range sortedKeys(m) {
			if m[k] == v {
				return k
			}
		}
		return ""
	}
	if w := preferred(l.data.Numbers.Units, v); w != "" {
		return []string{w}
	}
	if v%10 == 0 {
		return []string{find(l.data.Numbers.Tens, v)}
	}
	ten, unit := find(l.data.Numbers.Tens, v-v%10), preferred(l.data.Numbers.Units, v%10)
	if l.numbers.compound {
		if v%10 == 1 {
			unit = "ein"
		}
		return []string{unit + "und" + ten}
	}
	return []string{ten, unit}
}

// preferred is the word for a value: of several the one that ends in s ("eins"),
// else the first in order.
func preferred(m map[string]int64, v int64) string {
	best := ""
	for _, k := range sortedKeys(m) {
		if m[k] == v && (best == "" || strings.HasSuffix(k, "s") && !strings.HasSuffix(best, "s") || strings.ContainsFunc(k, func(r rune) bool { return r > 127 }) && !strings.ContainsFunc(best, func(r rune) bool { return r > 127 }) && !strings.HasSuffix(best, "s")) {
			best = k
		}
	}
	return best
}

// alternatives is (a | b | c) of the texts that can be said.
func (l *language) alternatives(texts []string) string {
	var out []string
	size := 0
	for _, t := range texts {
		w := l.jsgfWords(t)
		if w == "" || slices.Contains(out, w) || len(out) >= maxListed || size+len(w) > maxPhraseBytes/2 {
			continue
		}
		out = append(out, w)
		size += len(w) + 3
	}
	if len(out) == 0 {
		return ""
	}
	return "(" + strings.Join(out, " | ") + ")"
}
