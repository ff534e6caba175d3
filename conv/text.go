package conv

import (
	"slices"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"
)

// heardPerSecond is the estimated number of bytes of text in a second of speech. It is used if
// the playout does not report the text that was heard. People speak about 15 letters a second;
// the lower number avoids an estimate of more than was heard.
const heardPerSecond = 12

// squeeze trims s and replaces each run of white space by a space.
func squeeze(s string) string {
	s = strings.TrimSpace(s)
	if squeezed(s) || !strings.ContainsFunc(s, unicode.IsSpace) {
		return s
	}
	return strings.Join(strings.Fields(s), " ")
}

// squeezed reports whether s is ASCII and needs no change by squeeze, like most texts.
func squeezed(s string) bool {
	space := true
	for i := range len(s) {
		switch c := s[i]; {
		case c == ' ' && !space:
			space = true
		case c <= ' ' || c >= utf8.RuneSelf:
			return false
		default:
			space = false
		}
	}
	return !space || s == ""
}

// joinWords returns a and b with a space between them, unless one is empty.
func joinWords(a, b string) string {
	switch {
	case a == "":
		return b
	case b == "":
		return a
	default:
		return a + " " + b
	}
}

// lastWords returns the last n words of a text.
func lastWords(text string, n int) string {
	words := strings.Fields(text)
	return strings.Join(words[max(0, len(words)-n):], " ")
}

// abbreviations lists words whose full stop does not end a sentence.
var abbreviations = []string{
	"mr.", "mrs.", "ms.", "dr.", "st.", "no.", "vs.", "e.g.", "i.e.", "a.m.", "p.m.",
	"z.b.", "d.h.", "bzw.", "ca.", "nr.", "str.",
}

// sentenceEnd returns the length in bytes of the first whole sentence of text, with the white
// space character after it, or 0 if no sentence is complete. A sentence is complete only when
// white space follows its mark, because more text may arrive.
func sentenceEnd(text string) int {
	for i, r := range text {
		switch r {
		case '\n':
			return i + 1
		case '.', '!', '?', '…', '。', '！', '？':
			next := i + utf8.RuneLen(r)
			if r == '。' || r == '！' || r == '？' {
				return next
			}
			after, size := utf8.DecodeRuneInString(text[next:])
			if size == 0 || !unicode.IsSpace(after) {
				continue
			}
			if r == '.' && abbreviated(text[:next]) {
				continue
			}
			return next + size
		}
	}
	return 0
}

// abbreviated reports whether text ends in an abbreviation or a single letter
// ("J. Smith").
func abbreviated(text string) bool {
	word := text[strings.LastIndexAny(text, " \n\t(")+1:]
	if utf8.RuneCountInString(word) == 2 && word != "I." {
		first, _ := utf8.DecodeRuneInString(word)
		return unicode.IsUpper(first)
	}
	lower := strings.ToLower(word)
	return slices.Contains(abbreviations, lower)
}

// heardPrefix returns the part of full that was heard. That is known, the text that the playout
// reported, if full begins with it. Otherwise heardPrefix estimates the part from the time
// heard and cuts it at the end of a word.
func heardPrefix(full string, heard time.Duration, known string) string {
	if known != "" {
		if strings.HasPrefix(full, known) {
			return full[:len(known)]
		}
		if n := matchFolded(full, known); n > 0 {
			return full[:n]
		}
	}
	if heard >= time.Duration(len(full))*(time.Second/heardPerSecond) {
		return full
	}
	n := int(max(0, heard) * heardPerSecond / time.Second)
	if n >= len(full) {
		return full
	}
	cut := strings.LastIndexFunc(full[:n], unicode.IsSpace)
	if cut < 0 {
		return ""
	}
	return full[:cut]
}

// matchFolded returns the length of the prefix of full that equals known except for white
// space, or 0 if there is none.
func matchFolded(full, known string) int {
	i := 0
	for _, r := range known {
		if unicode.IsSpace(r) {
			continue
		}
		var f rune
		for i < len(full) {
			var size int
			f, size = utf8.DecodeRuneInString(full[i:])
			i += size
			if !unicode.IsSpace(f) {
				break
			}
		}
		if f != r {
			return 0
		}
	}
	return i
}

// cutRunes cuts s to at most n bytes, between two runes.
func cutRunes(s string, n int) string {
	for n > 0 && n < len(s) && !utf8.RuneStart(s[n]) {
		n--
	}
	return s[:min(n, len(s))]
}
