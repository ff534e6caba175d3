package edits

import "testing"

func TestWordErrors(t *testing.T) {
	for _, tc := range []struct {
		want, got    string
		wrong, words int
	}{
		{"", "", 0, 0},
		{"Are you a student?", "are you a student", 0, 4},
		{"Are you a student?", "are a student", 1, 4},
		{"one two", "one and two three", 2, 2},
		{"It’s well-known.", "it's well known", 0, 3},
		{"did you come here by bike", "did you come here bye bye", 2, 6},
		{"by bike", "bye bye", 2, 2},
		{"yes", "", 1, 1},
		{"", "yes", 1, 0},
	} {
		if wrong, words := WordErrors(tc.want, tc.got); wrong != tc.wrong || words != tc.words {
			t.Errorf("WordErrors(%q, %q) = %d of %d, want %d of %d", tc.want, tc.got, wrong, words, tc.wrong, tc.words)
		}
	}
}
