package hosted

import (
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/hocketvoice/hocket/audio"
	"github.com/hocketvoice/hocket/port"
)

// Spoken is a word with the time at which it begins, counted from the beginning of an
// utterance. It need not be spelled as in the text: services expand numbers and
// abbreviations.
type Spoken struct {
	Word  string
	Start time.Duration
}

// spell assembles characters with the times at which they begin to words. A word may be
// split over several calls: rest is the beginning of one that may go on, for the next call.
func spell(rest Spoken, chars []string, starts []time.Duration) (words []Spoken, next Spoken) {
	next = rest
	for i, c := range chars[:min(len(chars), len(starts))] {
		for _, r := range c {
			switch {
			case unicode.IsSpace(r):
				if next.Word != "" {
					words = append(words, next)
				}
				next = Spoken{}
				continue
			case next.Word == "":
				next.Start = starts[i]
			}
			next.Word += string(r)
		}
	}
	return words, next
}

// Speller assembles the words of texts whose characters come in pieces, by id. The zero value
// has none.
type Speller struct{ rest map[string]Spoken }

// Add returns the words that are whole after a piece of a text. last says that it is the last
// one.
func (s *Speller) Add(id string, chars []string, starts []time.Duration, last bool) []Spoken {
	words, rest := spell(s.rest[id], chars, starts)
	switch {
	case rest.Word == "" || last:
		delete(s.rest, id)
		if rest.Word != "" {
			words = append(words, rest)
		}
	case s.rest == nil:
		s.rest = map[string]Spoken{id: rest}
	default:
		s.rest[id] = rest
	}
	return words
}

// aligner finds the words that a service has spoken in the text that it was given.
type aligner struct {
	words []textWord
	next  int // the first word that was not found yet
	at    time.Duration
}

// textWord is a word of a text, as far as letters and digits go.
type textWord struct {
	plain  string
	offset int // in bytes
}

func newAligner(text string) *aligner {
	a := &aligner{}
	for i := 0; i < len(text); {
		r, size := utf8.DecodeRuneInString(text[i:])
		if unicode.IsSpace(r) {
			i += size
			continue
		}
		n := strings.IndexFunc(text[i:], unicode.IsSpace)
		if n < 0 {
			n = len(text) - i
		}
		if p := plain(text[i : i+n]); p != "" {
			a.words = append(a.words, textWord{p, i})
		}
		i += n
	}
	return a
}

// plain returns the letters and digits of a word in lower case.
func plain(word string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsLetter(r) || unicode.IsDigit(r) || unicode.Is(unicode.Mn, r) {
			return unicode.ToLower(r)
		}
		return -1
	}, word)
}

// ahead is the number of words of the text that a service may have spoken in other words.
const ahead = 8

// add returns the mark of a spoken word. ok is false if it is not found in the words that are
// next: a mark follows with the next word that is.
func (a *aligner) add(s Spoken, rate int) (m port.Mark, ok bool) {
	p := plain(s.Word)
	if p == "" || s.Start < a.at {
		return m, false
	}
	for i := a.next; i < min(len(a.words), a.next+ahead); i++ {
		if a.words[i].plain == p {
			a.next, a.at = i+1, s.Start
			return port.Mark{At: audio.PosOf(s.Start, rate), Text: a.words[i].offset}, true
		}
	}
	return m, false
}
