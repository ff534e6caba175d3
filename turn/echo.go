package turn

import (
	"bytes"
	"math/bits"
	"unicode/utf8"
)

// Limits of the comparison, in words. If foreignRun heard words in a row are not in the text
// that is playing, they are the user's.
const (
	maxHeard   = 32
	maxPlaying = 128
	foreignRun = 3
)

// echoMatch says which of the heard words are in the text that is playing.
type echoMatch struct {
	echo    bool
	first   int // the index of the token of matched[0]
	matched [maxHeard]bool
	n       int // number of matched tokens
}

// find aligns the heard words with a part of the text that is playing. An echo comes back
// in order and without large gaps. The alignment therefore costs 1 for a heard word without
// counterpart and 1/2 for a played word that is skipped inside the part; the ends of the
// part are free. A few common words scattered over a long text are thus not an echo of it.
func (e *echoMatch) find(heard *tokens, playing string, share float64) {
	var textBuf [1024]byte
	var spanBuf [maxPlaying]span
	played := tokens{text: textBuf[:0], spans: spanBuf[:0]}.read(playing)
	played.spans = played.spans[max(len(played.spans)-maxPlaying, 0):]
	e.first = max(len(heard.spans)-maxHeard, 0)
	rows, columns := len(heard.spans)-e.first, len(played.spans)
	if columns == 0 {
		return
	}

	const (
		same = iota
		other
		foreign
		passed
	)
	// Costs are doubled to be integers.
	var before, row [maxPlaying + 1]uint16
	var steps [maxHeard][maxPlaying + 1]uint8
	for i := range rows {
		row[0] = before[0] + 2
		steps[i][0] = foreign
		for j := 1; j <= columns; j++ {
			cost, step := before[j-1]+2, uint8(other)
			if sounds(heard, e.first+i, &played, j-1) {
				cost, step = before[j-1], same
			}
			if c := before[j] + 2; c < cost {
				cost, step = c, foreign
			}
			if c := row[j-1] + 1; c < cost {
				cost, step = c, passed
			}
			row[j], steps[i][j] = cost, step
		}
		before = row
	}
	end := 0
	for j := 1; j <= columns; j++ {
		if row[j] < row[end] {
			end = j
		}
	}
	if float64(row[end]) > (1-share)*float64(2*rows)+1e-9 {
		return
	}
	for i, j := rows-1, end; i >= 0; {
		switch steps[i][j] {
		case same:
			e.matched[i] = true
			e.n++
			i, j = i-1, j-1
		case other:
			i, j = i-1, j-1
		case foreign:
			i--
		case passed:
			j--
		}
	}
	run := 0
	for i := range rows {
		run++
		if e.matched[i] {
			run = 0
		}
		if run == foreignRun {
			return
		}
	}
	e.echo = e.n > 0
}

// covers reports whether the n tokens from index i on are part of an echo that is longer
// than them.
func (e *echoMatch) covers(i, n int) bool {
	if !e.echo || e.n <= n || i < e.first {
		return false
	}
	for k := i; k < i+n; k++ {
		if !e.matched[k-e.first] {
			return false
		}
	}
	return true
}

// sounds reports whether a heard word may be the played one: it is equal, differs by a
// letter or two, or is cut off at the beginning or end of the recognized text. Words with
// digits must be equal: "2025" after "2024" is a correction.
func sounds(heard *tokens, i int, played *tokens, j int) bool {
	a, b := heard.word(i), played.word(j)
	if bytes.Equal(a, b) {
		return true
	}
	s, p := &heard.spans[i], &played.spans[j]
	if s.digit || p.digit {
		return false
	}
	if i == len(heard.spans)-1 && len(a) >= 2 && bytes.HasPrefix(b, a) {
		return true
	}
	if i == 0 && len(a) >= 3 && bytes.HasSuffix(b, a) {
		return true
	}
	edits := 0
	switch short := min(len(a), len(b)); {
	case short >= 7:
		edits = 2
	case short >= 4:
		edits = 1
	}
	// An edit changes at most two members of the set of letters.
	if edits == 0 || bits.OnesCount32(s.letters^p.letters) > 2*edits {
		return false
	}
	return within(a, b, edits)
}

// maxFuzzy is the maximum length of words that are compared letter by letter.
const maxFuzzy = 24

// within reports whether a can be changed to b by at most the given number of insertions,
// deletions and replacements of characters.
func within(a, b []byte, edits int) bool {
	var x, y [maxFuzzy]rune
	n, m := runes(a, &x), runes(b, &y)
	if n < 0 || m < 0 || n-m > edits || m-n > edits {
		return false
	}
	var row [maxFuzzy + 1]int
	for j := range m + 1 {
		row[j] = j
	}
	for i := range n {
		diagonal := row[0]
		row[0] = i + 1
		for j := range m {
			cost := diagonal
			if x[i] != y[j] {
				cost = min(diagonal, row[j], row[j+1]) + 1
			}
			diagonal, row[j+1] = row[j+1], cost
		}
	}
	return row[m] <= edits
}

// runes decodes a word and returns its length, or -1 if it is too long.
func runes(word []byte, to *[maxFuzzy]rune) int {
	n := 0
	for len(word) > 0 {
		if n == maxFuzzy {
			return -1
		}
		r, size := utf8.DecodeRune(word)
		to[n] = r
		word = word[size:]
		n++
	}
	return n
}
