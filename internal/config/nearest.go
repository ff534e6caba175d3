package config

import "strings"

// Nearest returns the choice that word was probably meant to be, or "" if none
// is near: the fewest letters to add, drop, change or swap, at most a third of
// the word.
func Nearest(word string, choices []string) string {
	best, least := "", 0
	folded := fold(word)
	for _, choice := range choices {
		limit := max(1, max(len(folded), len(choice))/3)
		if len(folded)-len(choice) > limit || len(choice)-len(folded) > limit {
			continue
		}
		if d := distance(folded, fold(choice)); d <= limit && (best == "" || d < least) {
			best, least = choice, d
		}
	}
	return best
}

// fold makes the spellings of one name equal: minSilence, min-silence.
func fold(word string) string {
	word = strings.ToLower(word)
	return strings.NewReplacer("-", "", "_", "", " ", "").Replace(word)
}

// distance is the number of letters that differ: the optimal string alignment
// distance, on bytes.
func distance(a, b string) int {
	before, last, row := make([]int, len(b)+1), make([]int, len(b)+1), make([]int, len(b)+1)
	for j := range last {
		last[j] = j
	}
	for i := 1; i <= len(a); i++ {
		row[0] = i
		for j := 1; j <= len(b); j++ {
			change := 1
			if a[i-1] == b[j-1] {
				change = 0
			}
			row[j] = min(last[j]+1, row[j-1]+1, last[j-1]+change)
			if i > 1 && j > 1 && a[i-1] == b[j-2] && a[i-2] == b[j-1] {
				row[j] = min(row[j], before[j-2]+1)
			}
		}
		before, last, row = last, row, before
	}
	return last[len(b)]
}
