package edits

import (
	"strings"
	"unicode"
)

// Distance returns the minimum number of substitutions, insertions and deletions that
// convert a to b (Levenshtein distance).
func Distance[T comparable](a, b []T) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i, x := range a {
		diagonal := row[0]
		row[0] = i + 1
		for j, y := range b {
			above := row[j+1]
			cost := diagonal
			if x != y {
				cost++
			}
			row[j+1] = min(cost, above+1, row[j]+1)
			diagonal = above
		}
	}
	return row[len(b)]
}

// Words splits a text into lower-case words for comparison. It removes punctuation except
// for apostrophes within words, and treats hyphens as spaces.
func Words(text string) []string {
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

// WordErrors returns the distance between the words of two texts, and the number of words in
// want.
func WordErrors(want, got string) (wrong, words int) {
	w := Words(want)
	return Distance(w, Words(got)), len(w)
}
