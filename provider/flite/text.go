package flite

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

const (
	// maxClauseWords bounds the words given to flite at once. Prosody and
	// parameters of a whole piece are computed before its first sample, so this
	// bounds the delay of the first sound and of a cancellation.
	maxClauseWords = 40
	// maxFieldBytes bounds one word. Longer runs without a space (keys, links)
	// are cut: flite holds words in buffers made for language.
	maxFieldBytes = 32
)

// field is one word as flite will see it, with its punctuation.
type field struct {
	text string // ASCII, no space, at least one letter or digit
	at   int    // byte offset in the original text
}

// clause is a piece of text that is synthesized at once.
type clause struct {
	fields []field
	// end is the byte offset in the original text behind the clause.
	end int
	// sentence says that the clause ends a sentence.
	sentence bool
}

// text is what flite reads: the fields, separated by single spaces, closed by
// punctuation that gives the clause its melody.
func (c clause) text() string {
	var b strings.Builder
	for i, f := range c.fields {
		if i > 0 {
			b.WriteByte(' ')
		}
		b.WriteString(f.text)
	}
	return b.String()
}

// split cuts a text into clauses: from a length of words on at each boundary of
// a clause, at maxClauseWords in any case, and at the end of each sentence. The fields of all clauses, in
// order, are the speakable words of the text; what cannot be spoken (emoji,
// stray symbols, other scripts) is left out.
func split(text string, words int) []clause {
	fs := fieldsOf(text)
	var out []clause
	start := 0
	flush := func(end int, sentence bool) {
		if end == start {
			return
		}
		c := clause{fields: fs[start:end], end: len(text), sentence: sentence}
		if end < len(fs) {
			c.end = fs[end].at
		}
		out = append(out, c)
		start = end
	}
	for i, f := range fs {
		last := i == len(fs)-1
		limit := words
		if start == 0 {
			limit = (words + 1) / 2 // the first sound is waited for
		}
		switch n := i - start + 1; {
		case last:
			flush(i+1, true)
		case endsSentence(f.text, fs[i+1].text):
			flush(i+1, true)
		case n >= limit && endsClause(f.text) && len(fs)-i > 2:
			flush(i+1, false)
		case n >= maxClauseWords:
			flush(i+1, false)
		}
	}
	return out
}

// fieldsOf folds the text to what flite can read, word by word.
func fieldsOf(text string) []field {
	var out []field
	var b strings.Builder
	at := 0
	var suffix string
	emit := func() {
		w := b.String()
		b.Reset()
		if suffix != "" {
			w, suffix = strings.TrimRight(w, ".,;:!?")+" "+suffix+trailing(w), ""
		}
		for _, part := range strings.Fields(w) {
			out = appendField(out, part, at)
		}
	}
	for i, r := range text {
		if b.Len() == 0 && suffix == "" {
			at = i
		}
		switch {
		case unicode.IsSpace(r) || unicode.IsControl(r):
			emit()
		case r == '—' || r == '–' && (b.Len() == 0 || !endsInDigit(b.String())):
			// A dash between words is a pause.
			if b.Len() > 0 {
				b.WriteByte(',')
			} else if n := len(out); n > 0 && !endsClause(out[n-1].text) {
				out[n-1].text += ","
			}
			emit()
		case r == '€' || r == '£' || r == '¥':
			suffix = currency(r)
		case r == '°':
			b.WriteString(" degrees ")
		default:
			b.WriteString(fold(r))
		}
	}
	emit()
	return out
}

// appendField adds a word, cut to the length that flite bears. A run without
// letters or digits is punctuation of the word before it, or nothing.
func appendField(out []field, w string, at int) []field {
	if !strings.ContainsFunc(w, alphanumeric) {
		if n := len(out); n > 0 && w != "" && strings.ContainsRune(".,;:!?", rune(w[0])) && !endsClause(out[n-1].text) {
			out[n-1].text += w[:1]
		}
		return out
	}
	for len(w) > maxFieldBytes {
		if head := w[:maxFieldBytes]; strings.ContainsFunc(head, alphanumeric) {
			out = append(out, field{text: head, at: at})
		}
		w = w[maxFieldBytes:]
	}
	if strings.ContainsFunc(w, alphanumeric) {
		out = append(out, field{text: w, at: at})
	}
	return out
}

func alphanumeric(r rune) bool {
	return r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9'
}

func endsInDigit(s string) bool { return s[len(s)-1] >= '0' && s[len(s)-1] <= '9' }

// trailing returns the closing punctuation of a word.
func trailing(w string) string { return w[len(strings.TrimRight(w, ".,;:!?")):] }

func currency(r rune) string {
	switch r {
	case '€':
		return "euros"
	case '£':
		return "pounds"
	default:
		return "yen"
	}
}

// endsClause says that a pause after the word is natural.
func endsClause(w string) bool {
	w = strings.TrimRight(w, "\"')]}")
	return w != "" && strings.IndexByte(",;:.!?", w[len(w)-1]) >= 0
}

// endsSentence says that the word closes a sentence, given the next one.
func endsSentence(w, next string) bool {
	w = strings.TrimRight(w, "\"')]}")
	if w == "" {
		return false
	}
	switch w[len(w)-1] {
	case '!', '?':
		return true
	case '.':
	default:
		return false
	}
	word := strings.TrimLeft(strings.TrimRight(w, "."), "\"'([{")
	if abbreviation(strings.ToLower(word)) || len(word) == 1 && unicode.IsUpper(rune(word[0])) {
		return false
	}
	first, _ := utf8.DecodeRuneInString(strings.TrimLeft(next, "\"'([{"))
	return !unicode.IsLower(first)
}

// abbreviation says that a full stop after the word does not end a sentence.
func abbreviation(w string) bool {
	switch w {
	case "mr", "mrs", "ms", "dr", "prof", "st", "jr", "sr", "vs", "etc", "e.g", "i.e", "no", "approx", "dept", "ave", "mt":
		return true
	}
	return false
}

// fold gives the ASCII reading of a character, empty when it has none.
func fold(r rune) string {
	switch {
	case r < 0x20 || r == 0x7f:
		return ""
	case r < 0x80:
		if strings.ContainsRune("<>\\^_`|~{}[]*#", r) {
			return " " // markup, not language
		}
		return string(r)
	}
	switch r {
	case '‘', '’', 'ʼ', '′':
		return "'"
	case '“', '”', '„', '«', '»', '″':
		return "\""
	case '–', '‐', '‑', '−':
		return "-"
	case '…':
		return "."
	case '½':
		return " 1/2"
	case '×':
		return " times "
	case 'ß':
		return "ss"
	case 'æ':
		return "ae"
	case 'Æ':
		return "Ae"
	case 'œ':
		return "oe"
	case 'ø':
		return "o"
	case 'Ø':
		return "O"
	case 'đ', 'ð':
		return "d"
	case 'ł':
		return "l"
	case 'Ł':
		return "L"
	case 'þ':
		return "th"
	}
	if i := strings.IndexRune(accented, r); i >= 0 {
		n := utf8.RuneCountInString(accented[:i])
		return plain[n : n+1]
	}
	return ""
}

// accented and plain pair the accented letters of Latin-1 and of the Central
// European alphabets with the letter that English readers see in them.
const (
	accented = "àáâãäåāăąçćčďèéêëēėęěğìíîïīįıñńňòóôõöōőřśšşșťţțùúûüūůűųýÿźżžÀÁÂÃÄÅĀĂĄÇĆČĎÈÉÊËĒĖĘĚĞÌÍÎÏĪĮİÑŃŇÒÓÔÕÖŌŐŘŚŠŞȘŤŢȚÙÚÛÜŪŮŰŲÝŸŹŻŽ"
	plain    = "aaaaaaaaacccdeeeeeeeegiiiiiiinnnooooooorsssstttuuuuuuuuyyzzzAAAAAAAAACCCDEEEEEEEEGIIIIIIINNNOOOOOOORSSSSTTTUUUUUUUUYYZZZ"
)
