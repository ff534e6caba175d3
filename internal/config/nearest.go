package config

import "strings"

// Nearest returns the choice that is most similar to word, or "" if none is similar.
// Two words are similar if at most a third of the letters must be added, removed,
// changed or swapped.
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

// fold makes different spellings of a name equal: minSilence, min-silence.
func fold(word string) string {
	word = strings.ToLower(word)
	return strings.NewReplacer("-", "", "_", "", " ", "").Replace(word)
}

// distance returns the optimal string alignment distance of two strings, in bytes.
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
