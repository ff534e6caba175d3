package redact

import (
	"cmp"
	"slices"
	"strings"
	"unicode"
)

// minSecret is the minimum length in bytes of a credential. Shorter values occur in
// ordinary words.
const minSecret = 4

// OneLine converts a text to one line without control characters.
func OneLine(text string) string {
	text = strings.Map(func(c rune) rune {
		if unicode.IsControl(c) {
			return ' '
		}
		return c
	}, strings.ToValidUTF8(text, "?"))
	return strings.Join(strings.Fields(text), " ")
}

// Cut shortens a text to limit bytes at a character boundary and appends three
// dots.
func Cut(text string, limit int) string {
	if len(text) <= limit {
		return text
	}
	for limit > 0 && text[limit]&0xC0 == 0x80 {
		limit--
	}
	return text[:limit] + "..."
}

// Hide removes credentials from a text. It must be called before [Cut], which could
// leave a part of a credential.
func Hide(text string, secrets ...string) string {
	for _, s := range longestFirst(secrets) {
		text = strings.ReplaceAll(text, s, "[secret]")
	}
	return text
}

// HideHead removes the end of a credential that was cut off at the beginning of a
// text.
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

// longestFirst returns the values that are credentials, the longest first, since
// one may be a prefix of another.
func longestFirst(secrets []string) []string {
	list := slices.DeleteFunc(slices.Clone(secrets), func(s string) bool { return len(s) < minSecret })
	slices.SortFunc(list, func(a, b string) int { return cmp.Compare(len(b), len(a)) })
	return list
}
