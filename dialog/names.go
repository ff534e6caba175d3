package dialog

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// This file: names in the middle of a sentence, of people, places and things that
// no list has. What was typed has capitals; a recognizer may write none.

// maxNameTokens bounds a name.
const maxNameTokens = 7

// place reads a name that is written with capitals, not at the beginning of a
// sentence: "in Half Moon Bay", "at Puerto 27", "45 Park Lane". Days and months
// are none.
func (r reader) place(i int) (any, int) {
	n, last := 0, 0
	if i > 0 && r.sentenceEnds(i) {
		return nil, 0
	}
	for i > 0 && i+n < len(r.toks) && n < maxNameTokens {
		tok := r.toks[i+n]
		if n > 0 && r.sentenceEnds(i+n) {
			break
		}
		first, _ := utf8.DecodeRuneInString(r.raw[tok.start:tok.end])
		switch {
		case n > 0 && r.raw[r.toks[i+n-1].end:tok.start] == "-": // "Chi-town"
			n++
			last = n
			continue
		case unicode.IsUpper(first):
			if !r.nameAt(i+n, n) {
				return r.span(i, last)
			}
			n++
			last = n
			continue
		case unicode.IsDigit(first) && n > 0 && len(tok.text) <= 4 && !strings.Contains(tok.text, ":"): // "Puerto 27"
			n++
			if r.closesName(i + n) {
				last = n
			}
			continue
		case unicode.IsDigit(first) && n == 0 && len(tok.text) <= 4 && i+1 < len(r.toks) && r.capital(i+1) && r.nameAt(i+1, 1): // "45 Park Lane"
			n++
			continue
		case n > 0 && r.inName(tok.text) && i+n+1 < len(r.toks) && r.capital(i+n+1): // "Bridge of Sighs"
			n++
			continue
		}
		break
	}
	return r.span(i, last)
}

// span is the text of n tokens from i.
func (r reader) span(i, n int) (any, int) {
	if n == 0 {
		return nil, 0
	}
	return strings.TrimRight(spanText(r.raw, r.toks, i, i+n), ".,"), n
}

// capital reports whether token i is written with a capital.
func (r reader) capital(i int) bool {
	first, _ := utf8.DecodeRuneInString(r.raw[r.toks[i].start:r.toks[i].end])
	return unicode.IsUpper(first)
}

// inName reports whether a word may stand inside a name without a capital.
func (r reader) inName(w string) bool {
	switch w {
	case "of", "the", "and", "de", "la", "del", "van", "von", "und", "der":
		return true
	}
	return false
}

// closesName reports whether a name may end before token i, after a number: not
// if the number is an hour or a count.
func (r reader) closesName(i int) bool {
	if i >= len(r.toks) {
		return true
	}
	switch r.toks[i].text {
	case "am", "pm", "people", "oclock", "persons", "nights", "days", "rooms":
		return false
	}
	return true
}

// nameAt reports whether the capital of token i is a name's and no day's, month's
// or pronoun's.
func (r reader) nameAt(i, n int) bool {
	tok := r.toks[i]
	if _, month := r.l.calendar.months[tok.text]; month {
		return n > 0 && !r.calendarAt(i)
	}
	if _, light := r.l.light.at(r.toks, i); light > 0 && !r.inName(tok.text) {
		return false
	}
	return n > 0 || !r.calendarAt(i)
}

func (r reader) calendarAt(i int) bool {
	_, n := (dateReader{l: r.l, today: civilOf(r.now)}).date(r.toks, i)
	return n > 0
}

// nameFor reads a name for the slot at token i: one with capitals behind a word
// that points to it, or behind anything if the slot is asked for.
func (a *Agent) nameFor(r reader, s *slot, awaited *slot, i int) (any, int, int) {
	v, n := r.place(i)
	if n == 0 || r.capital(i-1) && r.capital(i) && i > 1 && !r.sentenceEnds(i) {
		return nil, 0, 0
	}
	cue := max(s.cues.endsAt(r.toks, i), s.mentions.endsAt(r.toks, i))
	if s.typeCues != nil {
		cue = max(cue, s.typeCues.endsAt(r.toks, i))
	}
	if cue == 0 && s != awaited && !a.classBefore(r, s, i) {
		return nil, 0, 0
	}
	if _, city := r.l.typeCues["city"]; city && cue == 0 && s != awaited && r.l.typeCues["city"].endsAt(r.toks, i) > 0 {
		return nil, 0, 0
	}
	return v, n, cue
}

// classBefore reports whether the word before token i is what the slot is about:
// "the restaurant Aq", "the song Hello".
func (a *Agent) classBefore(r reader, s *slot, i int) bool {
	if i == 0 {
		return false
	}
	w, _ := r.l.meaning(r.toks, i-1)
	return s.words[w]
}

// afterCue is a name in an answer without capitals: what stands behind the last
// word that points to it, "get me a table at the golden lion".
func (r reader) afterCue(s *slot, toks []token) (string, bool) {
	for i := len(toks) - 1; i > 0; i-- {
		cued := s.cues.endsAt(toks, i) > 0 || s.mentions.endsAt(toks, i) > 0 || s.typeCues != nil && s.typeCues.endsAt(toks, i) > 0
		if cued && len(toks)-i <= 5 {
			return spanText(r.raw, toks, i, len(toks)), true
		}
	}
	return "", false
}

// spokenPlace reads the name of a place that a recognizer wrote without capitals:
// the words from i to the end of the sentence or to the next word that every
// sentence has.
func (r reader) spokenPlace(i int) (any, int) {
	for k, tok := range r.toks {
		if k > 0 && tok.text != "i" && r.capital(k) {
			return nil, 0 // whoever writes capitals writes those of a place
		}
	}
	n := 0
	for i+n < len(r.toks) && n < 4 {
		tok := r.toks[i+n]
		if n > 0 && r.sentenceEnds(i+n) {
			break
		}
		_, light := r.l.light.at(r.toks, i+n)
		_, polite := r.l.polite.at(r.toks, i+n)
		_, class := r.l.classes[stem(tok.text)]
		_, number := r.l.cardinal(r.toks, i+n)
		if light > 0 && !r.inName(tok.text) || polite > 0 || class || number > 0 || r.calendarAt(i+n) || len(tok.text) < 2 {
			break
		}
		n++
	}
	if n == 0 || n == 4 {
		return nil, 0
	}
	if _, tn := (timeReader{l: r.l, now: r.now}).time(r.toks, i); tn > 0 || r.l.articles.endsAt(r.toks, i) > 0 {
		return nil, 0 // "in the morning"
	}
	return titleWords(spanText(r.raw, r.toks, i, i+n)), n
}

// oneName reports whether the sentence has one name with capitals.
func (r reader) oneName() bool {
	count := 0
	for i := 1; i < len(r.toks); i++ {
		if _, n := r.place(i); n > 0 {
			count++
			i += n - 1
		}
	}
	return count == 1
}

// plainName reports whether the words may be a name and are no sentence.
func (r reader) plainName() bool {
	light := 0
	for i, tok := range r.toks {
		if tok.text == "i" || tok.text == "you" || tok.text == "ich" || tok.text == "sie" {
			return false
		}
		if _, n := r.l.light.at(r.toks, i); n > 0 && !r.inName(tok.text) {
			light++
		}
	}
	return light <= 1 && len(r.toks) <= 5
}
