package pocketsphinx

import (
	"strings"
	"testing"
	"unicode"
)

// wordsOf splits a text into lower-case words for comparison. It removes punctuation
// except for apostrophes within words, and treats hyphens as spaces.
func wordsOf(text string) []string {
	return strings.Fields(strings.Map(func(r rune) rune {
		switch {
		case unicode.IsLetter(r), unicode.IsDigit(r), r == '\'':
			return unicode.ToLower(r)
		case r == '’':
			return '\''
		}
		return ' '
	}, text))
}

// wordErrors returns the minimum number of substituted, inserted and deleted words that
// turns want into got, and the number of words in want.
func wordErrors(want, got string) (errors, words int) {
	w := wordsOf(want)
	return editDistance(w, wordsOf(got)), len(w)
}

func TestWordErrors(t *testing.T) {
	for _, tc := range []struct {
		want, got     string
		errors, words int
	}{
		{"", "", 0, 0},
		{"Are you a student?", "are you a student", 0, 4},
		{"Are you a student?", "are a student", 1, 4},
		{"one two", "one and two three", 2, 2},
		{"It’s well-known.", "it's well known", 0, 3},
		{"did you come here by bike", "did you come here bye bye", 2, 6},
		{"yes", "", 1, 1},
		{"", "yes", 1, 0},
	} {
		if e, n := wordErrors(tc.want, tc.got); e != tc.errors || n != tc.words {
			t.Errorf("wordErrors(%q, %q) = %d of %d, want %d of %d", tc.want, tc.got, e, n, tc.errors, tc.words)
		}
	}
}
