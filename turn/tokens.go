package turn

import (
	"unicode"
	"unicode/utf8"
)

// tokens is a text split into words for comparison, in lower case, with one space between
// words and without punctuation. An apostrophe inside a word is dropped ("don't" becomes
// "dont"), a hyphen separates words, a point or comma between digits stays ("4.5"). Each
// character of a script without spaces (Han, Hiragana, Katakana) is a word.
type tokens struct {
	text  []byte
	spans []span
}

// span is one word within tokens.text.
type span struct {
	start, end int32
	letters    uint32 // bit set of its letters, by their low five bits
	digit      bool   // whether it contains a digit
}

func (t *tokens) word(i int) []byte { return t.text[t.spans[i].start:t.spans[i].end] }

// read splits a text. It replaces the content of t and returns the result, as append does,
// so that the capacity of t is reused, on the stack if it is there.
func (t tokens) read(text string) tokens {
	t.text, t.spans = t.text[:0], t.spans[:0]
	open := false
	for i, r := range text {
		switch {
		case unicode.IsLetter(r) || unicode.IsDigit(r) || open && unicode.IsMark(r):
			alone := r >= 0x3040 && unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana)
			if !open || alone {
				t = t.begin()
			}
			t = t.add(r)
			open = !alone
		case open && (r == '\'' || r == '\u2019'):
		case open && (r == '.' || r == ',') && digitAt(text, i-1) && digitAt(text, i+1):
			t = t.add(r)
		default:
			open = false
		}
	}
	return t
}

// begin begins a word.
func (t tokens) begin() tokens {
	if len(t.text) > 0 {
		t.text = append(t.text, ' ')
	}
	at := int32(len(t.text))
	t.spans = append(t.spans, span{start: at, end: at})
	return t
}

// add appends a character to the current word.
func (t tokens) add(r rune) tokens {
	r = unicode.ToLower(r)
	t.text = utf8.AppendRune(t.text, r)
	s := &t.spans[len(t.spans)-1]
	s.end = int32(len(t.text))
	s.letters |= 1 << (uint32(r) % 32)
	s.digit = s.digit || unicode.IsDigit(r)
	return t
}

func digitAt(text string, i int) bool {
	return i >= 0 && i < len(text) && text[i] >= '0' && text[i] <= '9'
}
