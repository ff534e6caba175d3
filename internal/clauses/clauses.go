package clauses

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

const (
	// MaxWords limits the words passed to a voice at once. The prosody of a
	// whole piece is computed before its first sample, so this limits the delay of
	// the first sound and of a cancellation.
	MaxWords = 40
	// maxFieldBytes limits the length of a word. Longer runs without a space (keys,
	// links) are divided, since flite has fixed word buffers.
	maxFieldBytes = 32
)

// Field is one word with its punctuation as passed to the voice.
type Field struct {
	Text string // ASCII without spaces, with at least one letter or digit
	At   int    // byte offset in the original text
}

// Clause is a piece of text that is synthesized at once.
type Clause struct {
	Fields []Field
	// End is the offset of the byte after the clause in the original text.
	End int
	// Sentence reports whether the clause ends a sentence.
	Sentence bool
}

// Text returns the input of the voice: the fields, separated by single spaces, with
// final punctuation for the intonation.
func (c Clause) Text() string {
	var b strings.Builder
	for i, f := range c.Fields {
		if i > 0 {
			b.WriteByte(' ')
		}
		b.WriteString(f.Text)
	}
	return b.String()
}

// Split divides a text into clauses: at the first clause boundary after the given
// number of words, at MaxWords at the latest, and at the end of each
// sentence. The fields of all clauses are the speakable words of the text, in
// order; characters that cannot be spoken (emoji, stray symbols, other scripts) are
// omitted.
func Split(text string, words int) []Clause {
	fs := fieldsOf(text)
	var out []Clause
	start := 0
	flush := func(end int, sentence bool) {
		if end == start {
			return
		}
		c := Clause{Fields: fs[start:end], End: len(text), Sentence: sentence}
		if end < len(fs) {
			c.End = fs[end].At
		}
		out = append(out, c)
		start = end
	}
	for i, f := range fs {
		last := i == len(fs)-1
		limit := words
		if start == 0 {
			limit = (words + 1) / 2 // a shorter first clause makes the first sound come sooner
		}
		switch n := i - start + 1; {
		case last:
			flush(i+1, true)
		case endsSentence(f.Text, fs[i+1].Text):
			flush(i+1, true)
		case n >= limit && endsClause(f.Text) && len(fs)-i > 2:
			flush(i+1, false)
		case n >= MaxWords:
			flush(i+1, false)
		}
	}
	return out
}

// fieldsOf converts the text to the characters that a voice can read, word by word.
func fieldsOf(text string) []Field {
	var out []Field
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
			} else if n := len(out); n > 0 && !endsClause(out[n-1].Text) {
				out[n-1].Text += ","
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

// appendField adds a word, divided if it is too long for a voice. A run without
// letters or digits is added to the previous word as punctuation, or omitted.
func appendField(out []Field, w string, at int) []Field {
	if !strings.ContainsFunc(w, alphanumeric) {
		if n := len(out); n > 0 && w != "" && strings.ContainsRune(".,;:!?", rune(w[0])) && !endsClause(out[n-1].Text) {
			out[n-1].Text += w[:1]
		}
		return out
	}
	for len(w) > maxFieldBytes {
		if head := w[:maxFieldBytes]; strings.ContainsFunc(head, alphanumeric) {
			out = append(out, Field{Text: head, At: at})
		}
		w = w[maxFieldBytes:]
	}
	if strings.ContainsFunc(w, alphanumeric) {
		out = append(out, Field{Text: w, At: at})
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

// endsClause reports whether a pause after the word is natural.
func endsClause(w string) bool {
	w = strings.TrimRight(w, "\"')]}")
	return w != "" && strings.IndexByte(",;:.!?", w[len(w)-1]) >= 0
}

// endsSentence reports whether the word ends a sentence, given the next one.
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

// abbreviation reports whether a full stop after the word belongs to an
// abbreviation.
func abbreviation(w string) bool {
	switch w {
	case "mr", "mrs", "ms", "dr", "prof", "st", "jr", "sr", "vs", "etc", "e.g", "i.e", "no", "approx", "dept", "ave", "mt":
		return true
	}
	return false
}

// fold returns the ASCII form of a character, or an empty string if it has none.
func fold(r rune) string {
	switch {
	case r < 0x20 || r == 0x7f:
		return ""
	case r < 0x80:
		if strings.ContainsRune("<>\\^_`|~{}[]*#", r) {
			return " " // markup
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

// accented and plain map the accented letters of Latin-1 and of Central European
// alphabets to unaccented ones.
const (
	accented = "àáâãäåāăąçćčďèéêëēėęěğìíîïīįıñńňòóôõöōőřśšşșťţțùúûüūůűųýÿźżžÀÁÂÃÄÅĀĂĄÇĆČĎÈÉÊËĒĖĘĚĞÌÍÎÏĪĮİÑŃŇÒÓÔÕÖŌŐŘŚŠŞȘŤŢȚÙÚÛÜŪŮŰŲÝŸŹŻŽ"
	plain    = "aaaaaaaaacccdeeeeeeeegiiiiiiinnnooooooorsssstttuuuuuuuuyyzzzAAAAAAAAACCCDEEEEEEEEGIIIIIIINNNOOOOOOORSSSSTTTUUUUUUUUYYZZZ"
)
