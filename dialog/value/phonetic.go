package value

import (
	"strings"
)

// This file compares misheard words by spelling (Jaro-Winkler) and by sound (a phonetic code).
// All functions take folded text.

// jaroWinkler returns the similarity of two words from 0 to 1 (Winkler 1990): the share of
// characters that both have at about the same position, raised for a common beginning.
func jaroWinkler(a, b string) float64 {
	if a == b {
		return 1
	}
	const most = 64
	if len(a) == 0 || len(b) == 0 || len(a) > most || len(b) > most {
		return 0
	}
	window := max(len(a), len(b))/2 - 1
	window = max(window, 0)
	var usedA, usedB [most]bool
	matches := 0
	for i := range len(a) {
		for j := max(0, i-window); j < min(len(b), i+window+1); j++ {
			if !usedB[j] && a[i] == b[j] {
				usedA[i], usedB[j] = true, true
				matches++
				break
			}
		}
	}
	if matches == 0 {
		return 0
	}
	swaps, j := 0, 0
	for i := range len(a) {
		if !usedA[i] {
			continue
		}
		for !usedB[j] {
			j++
		}
		if a[i] != b[j] {
			swaps++
		}
		j++
	}
	m := float64(matches)
	jaro := (m/float64(len(a)) + m/float64(len(b)) + (m-float64(swaps)/2)/m) / 3
	prefix := 0
	for prefix < min(4, len(a), len(b)) && a[prefix] == b[prefix] {
		prefix++
	}
	return jaro + float64(prefix)*0.1*(1-jaro)
}

// EditDistance returns the number of characters to insert, delete, replace or swap with a
// neighbor to turn a into b, at most limit+1.
func EditDistance(a, b string, limit int) int {
	if len(a)-len(b) > limit || len(b)-len(a) > limit {
		return limit + 1
	}
	const most = 64
	if len(a) > most || len(b) > most {
		if a == b {
			return 0
		}
		return limit + 1
	}
	var rows [3][most + 1]int
	prev2, prev, cur := &rows[0], &rows[1], &rows[2]
	for j := 0; j <= len(b); j++ {
		prev[j] = j
	}
	for i := 1; i <= len(a); i++ {
		cur[0] = i
		for j := 1; j <= len(b); j++ {
			cost := 1
			if a[i-1] == b[j-1] {
				cost = 0
			}
			cur[j] = min(prev[j]+1, cur[j-1]+1, prev[j-1]+cost)
			if i > 1 && j > 1 && a[i-1] == b[j-2] && a[i-2] == b[j-1] {
				cur[j] = min(cur[j], prev2[j-2]+1)
			}
		}
		prev2, prev, cur = prev, cur, prev2
	}
	return min(prev[len(b)], limit+1)
}

// phoneticCode returns the sound of a text in the language's phonetic code.
func (l *Language) phoneticCode(s string) string {
	if l.Data.Phonetic == "cologne" {
		return cologne(s)
	}
	return metaphone(s)
}

// metaphone codes the consonants of English words by sound, following Lawrence Philips'
// double metaphone (C/C++ Users Journal, June 2000). It has only the primary code, which is
// enough to match "bosten" with "boston".
func metaphone(s string) string {
	var b strings.Builder
	for _, word := range strings.Fields(s) {
		metaphoneWord(&b, word)
	}
	return b.String()
}

func metaphoneWord(b *strings.Builder, w string) {
	m := metaphoneReader{w: w}
	i := 0
	switch {
	case m.has(0, "gn"), m.has(0, "kn"), m.has(0, "pn"), m.has(0, "wr"), m.has(0, "ps"):
		i = 1
	case m.has(0, "x"):
		b.WriteByte('S')
		i = 1
	}
	if m.vowel(i) {
		b.WriteByte('A') // only initial vowels are coded
		i++
	}
	for i < len(w) {
		if c := w[i]; i > 0 && c == w[i-1] && c != 'c' && c != 'g' {
			i++
			continue
		}
		code, n := m.letter(i)
		b.WriteString(code)
		i += n
	}
}

// metaphoneReader reads the letters of a word with their context.
type metaphoneReader struct{ w string }

func (m metaphoneReader) at(i int) byte {
	if i < 0 || i >= len(m.w) {
		return 0
	}
	return m.w[i]
}

func (m metaphoneReader) has(i int, s string) bool {
	return i >= 0 && i <= len(m.w) && strings.HasPrefix(m.w[i:], s)
}

func (m metaphoneReader) vowel(i int) bool {
	return m.at(i) != 0 && strings.IndexByte("aeiouy", m.at(i)) >= 0
}

// soft reports whether the letter at i, after c or g, softens it.
func (m metaphoneReader) soft(i int) bool {
	return m.at(i) != 0 && strings.IndexByte("eiy", m.at(i)) >= 0
}

// letter returns the sound of the letter at i, and the number of letters that make it.
func (m metaphoneReader) letter(i int) (code string, n int) {
	switch c := m.w[i]; c {
	case 'b':
		if i == len(m.w)-1 && m.at(i-1) == 'm' {
			return "", 1
		}
		return "P", 1
	case 'c':
		return m.letterC(i)
	case 'd':
		if m.at(i+1) == 'g' && m.soft(i+2) {
			return "J", 2
		}
		return "T", 1
	case 'f', 'v':
		return "F", 1
	case 'g':
		return m.letterG(i)
	case 'h':
		if (i == 0 || m.vowel(i-1)) && m.vowel(i+1) {
			return "H", 1
		}
		return "", 1
	case 'j', 'k', 'l', 'm', 'n', 'r':
		return string(c - 'a' + 'A'), 1
	case 'p':
		if m.at(i+1) == 'h' {
			return "F", 2
		}
		return "P", 1
	case 'q':
		return "K", 1
	case 's':
		return m.letterS(i)
	case 't':
		switch {
		case m.has(i, "tch"):
			return "X", 3
		case m.has(i, "tion"), m.has(i, "tia"):
			return "X", 1
		case m.at(i+1) == 'h':
			return "0", 2
		}
		return "T", 1
	case 'w':
		if m.vowel(i + 1) {
			return "W", 1
		}
		return "", 1
	case 'x':
		return "KS", 1
	case 'z':
		return "S", 1
	default:
		if IsDigit(c) {
			return m.w[i : i+1], 1
		}
		return "", 1
	}
}

func (m metaphoneReader) letterC(i int) (code string, n int) {
	switch {
	case m.has(i, "ch"):
		hard := i > 0 && (m.has(i, "chr") || m.has(i, "chm")) || i == 0 && (m.has(0, "chor") || m.has(0, "chem"))
		if hard {
			return "K", 2
		}
		return "X", 2
	case m.has(i, "cia"):
		return "X", 1
	case m.soft(i + 1):
		return "S", 1
	case m.at(i+1) == 'k', m.at(i+1) == 'q', m.at(i+1) == 'c' && m.at(i+2) != 'e' && m.at(i+2) != 'i':
		return "K", 2
	}
	return "K", 1
}

func (m metaphoneReader) letterG(i int) (code string, n int) {
	switch {
	case m.at(i+1) == 'h':
		if i == 0 || m.vowel(i+2) && !m.vowel(i-1) {
			return "K", 2
		}
		return "", 2
	case m.at(i+1) == 'n' && i+2 >= len(m.w):
		return "", 1
	case m.soft(i + 1):
		return "J", 1
	case m.at(i+1) == 'g':
		return "K", 2
	}
	return "K", 1
}

func (m metaphoneReader) letterS(i int) (code string, n int) {
	switch {
	case m.has(i, "sh"):
		return "X", 2
	case m.has(i, "sch"):
		return "X", 3
	case m.has(i, "sio"), m.has(i, "sia"):
		return "X", 1
	case m.at(i+1) == 'c' && m.soft(i+2):
		return "S", 2
	}
	return "S", 1
}

// cologne returns the Cologne phonetics of a German text (Postel 1969).
func cologne(s string) string {
	var b strings.Builder
	for _, w := range strings.Fields(s) {
		var last byte
		first := true
		for i := 0; i < len(w); i++ {
			c := w[i]
			next, prev := byte(0), byte(0)
			if i+1 < len(w) {
				next = w[i+1]
			}
			if i > 0 {
				prev = w[i-1]
			}
			code := cologneLetter(c, prev, next, i == 0)
			for k := 0; k < len(code); k++ {
				d := code[k]
				if d == last || d == '0' && !first {
					last = d
					continue
				}
				b.WriteByte(d)
				last = d
			}
			if code != "" {
				first = false
			}
		}
	}
	return b.String()
}

func cologneLetter(c, prev, next byte, initial bool) string {
	in := func(c byte, set string) bool { return c != 0 && strings.IndexByte(set, c) >= 0 }
	switch c {
	case 'a', 'e', 'i', 'j', 'o', 'u', 'y':
		return "0"
	case 'b':
		return "1"
	case 'p':
		if next == 'h' {
			return "3"
		}
		return "1"
	case 'd', 't':
		if in(next, "csz") {
			return "8"
		}
		return "2"
	case 'f', 'v', 'w':
		return "3"
	case 'g', 'k', 'q':
		return "4"
	case 'c':
		if initial {
			if in(next, "ahkloqrux") {
				return "4"
			}
			return "8"
		}
		if in(prev, "sz") || !in(next, "ahkoqux") {
			return "8"
		}
		return "4"
	case 'x':
		if in(prev, "ckq") {
			return "8"
		}
		return "48"
	case 'l':
		return "5"
	case 'm', 'n':
		return "6"
	case 'r':
		return "7"
	case 's', 'z':
		return "8"
	}
	return ""
}
