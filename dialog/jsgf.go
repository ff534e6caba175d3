package dialog

import (
	"maps"
	"slices"
	"strings"
	"unicode"

	"github.com/hocketvoice/hocket/dialog/value"
)

// This file spells out texts for a grammar.

// jsgfWords spells out a text for a grammar as lower-case words: numbers and initials
// become words, everything else is dropped. It returns "" if nothing can be said.
func jsgfWords(l *value.Language, text string) string {
	var words []string
	for _, f := range strings.Fields(text) {
		f = strings.Trim(f, ".,;:!?\"()[]{}<>|*+/\\=&%#@…“”„")
		if value.DottedLetters(strings.ToLower(f)+".") || value.DottedLetters(strings.ToLower(f)) && strings.Contains(f, ".") {
			for _, r := range strings.ToLower(f) {
				if unicode.IsLetter(r) {
					words = append(words, string(r))
				}
			}
			continue
		}
		if len(f) >= 2 && len(f) <= 3 && value.UpperLetters(f) { // initials
			for _, r := range strings.ToLower(f) {
				words = append(words, string(r))
			}
			continue
		}
		for _, part := range strings.FieldsFunc(strings.ToLower(f), func(r rune) bool {
			return !(unicode.IsLetter(r) || unicode.IsDigit(r) || r == '\'' || r == '’')
		}) {
			words = append(words, sayPart(l, strings.ReplaceAll(part, "’", "'"))...)
		}
	}
	return strings.Join(words, " ")
}

// sayPart splits digits off a word. It spells numbers below a hundred as numbers, longer
// ones digit by digit.
func sayPart(l *value.Language, w string) []string {
	var out []string
	for w != "" {
		n := 0
		for n < len(w) && value.IsDigit(w[n]) {
			n++
		}
		if n > 0 {
			out = append(out, sayDigits(l, w[:n])...)
			w = w[n:]
			continue
		}
		for n < len(w) && !value.IsDigit(w[n]) {
			n++
		}
		if part := strings.Trim(w[:n], "'"); part != "" {
			out = append(out, part)
		}
		w = w[n:]
	}
	return out
}

func sayDigits(l *value.Language, digits string) []string {
	if len(digits) <= 2 {
		v := int64(digits[0] - '0')
		if len(digits) == 2 {
			v = v*10 + int64(digits[1]-'0')
		}
		if words := sayNumber(l, v); words != nil && (len(digits) == 1 || v >= 10) {
			return words
		}
	}
	var out []string
	for i := range len(digits) {
		out = append(out, sayNumber(l, int64(digits[i]-'0'))...)
	}
	return out
}

// sayNumber returns the words of a number below a hundred.
func sayNumber(l *value.Language, v int64) []string {
	if v < 0 || v > 99 {
		return nil
	}
	find := func(m map[string]int64, v int64) string {
		for _, k := range slices.Sorted(maps.Keys(m)) {
			if m[k] == v {
				return k
			}
		}
		return ""
	}
	if w := preferred(l.Data.Numbers.Units, v); w != "" {
		return []string{w}
	}
	if v%10 == 0 {
		return []string{find(l.Data.Numbers.Tens, v)}
	}
	ten, unit := find(l.Data.Numbers.Tens, v-v%10), preferred(l.Data.Numbers.Units, v%10)
	if l.Numbers.Compound {
		if v%10 == 1 {
			unit = "ein"
		}
		return []string{unit + "und" + ten}
	}
	return []string{ten, unit}
}

// preferred returns the word for a value. Of several words it prefers one that ends in s
// ("eins"), then one with a non-ASCII letter, then the first in order.
func preferred(m map[string]int64, v int64) string {
	best := ""
	for _, k := range slices.Sorted(maps.Keys(m)) {
		if m[k] == v && (best == "" || strings.HasSuffix(k, "s") && !strings.HasSuffix(best, "s") || strings.ContainsFunc(k, func(r rune) bool { return r > 127 }) && !strings.ContainsFunc(best, func(r rune) bool { return r > 127 }) && !strings.HasSuffix(best, "s")) {
			best = k
		}
	}
	return best
}

// alternatives returns the group (a | b | c) of those texts that can be said.
func alternatives(l *value.Language, texts []string) string {
	var out []string
	size := 0
	for _, t := range texts {
		w := jsgfWords(l, t)
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
