package redact

import (
	"cmp"
	"slices"
	"strings"
	"unicode"
)

// minSecret is the length, in bytes, below which a value is no credential: a short
// one stands in every other word.
const minSecret = 4

// OneLine is a text of somebody else's for people: on one line, without control
// characters.
func OneLine(text string) string {
	text = strings.Map(func(c rune) rune {
		if unicode.IsControl(c) {
			return ' '
		}
		return c
	}, strings.ToValidUTF8(text, "?"))
	return strings.Join(strings.Fields(text), " ")
}

// Cut bounds a text to limit bytes, at a whole character, and says so with three dots
// behind them.
func Cut(text string, limit int) string {
	if len(text) <= limit {
		return text
	}
	for limit > 0 && text[limit]&0xC0 == 0x80 {
		limit--
	}
	return text[:limit] + "..."
}

// Hide takes credentials out of a text. It comes before [Cut], which could leave a
// part of one.
func Hide(text string, secrets ...string) string {
	for _, s := range longestFirst(secrets) {
		text = strings.ReplaceAll(text, s, "[secret]")
	}
	return text
}

// HideHead takes away the rest of a credential with which a text begins that was cut
// off in front.
func HideHead(text string, secrets ...string) string {
	for _, s := range longestFirst(secrets) {
		for i := 1; i < len(s); i++ {
			if rest, ok := strings.CutPrefix(text, s[i:]); ok {
				return rest
			}
		}
	}
	return text
}

// longestFirst are the values that are credentials: one may be the beginning of another.
func longestFirst(secrets []string) []string {
	list := slices.DeleteFunc(slices.Clone(secrets), func(s string) bool { return len(s) < minSecret })
	slices.SortFunc(list, func(a, b string) int { return cmp.Compare(len(b), len(a)) })
	return list
}
