package dialog

import (
	"strings"
	"time"
	"unicode"
)

// This file: the value that an utterance gives to a slot.

// reader is an utterance to find values in.
type reader struct {
	l    *language
	raw  string
	toks []token
	now  time.Time
	seen *readings // of toks from its first on; nil: nothing is kept
}

// find reads a value of the slot that starts at token i. Whole says that the
// tokens are an answer to the slot's question, so that a bare number may be an
// hour. Values that have no form of their own are found by answer alone.
func (r reader) find(s *slot, toks []token, i int, whole bool) (v any, n int) {
	if s.closed() {
		id, n := s.lookup.at(toks, i)
		if n == 0 {
			return nil, 0
		}
		return s.values[id].value, n
	}
	switch s.typ {
	case TypeInteger, TypeNumber, TypeFloat:
		return r.number(s, toks, i, whole)
	case TypeDate:
		c, n := r.dateAt(s.past, toks, i)
		if n == 0 || !whole && (r.nowAt(toks, i) == n || n == 1 && r.l.numbers.ordinals[toks[i].text] > 0 && r.l.articles.endsAt(toks, i) == 0) {
			return nil, 0 // "first" is a date behind an article alone
		}
		return c.String(), n
	case TypeTime:
		c, n := r.timeAt(whole, toks, i)
		if n == 0 || !whole && r.nowAt(toks, i) == n {
			return nil, 0
		}
		low, high := -1, -1
		if s.low != nil {
			low = int(*s.low)
		}
		if s.high != nil {
			high = int(*s.high)
		}
		return c.resolve(low, high).String(), n
	case TypeDigits:
		d, n := r.l.digitRun(toks, i, false)
		if n == 0 || !whole && len(d) < 3 {
			return nil, 0
		}
		return d, n
	case TypePhone:
		p, n := r.l.phone(toks, i)
		if n == 0 {
			return nil, 0
		}
		return p, n
	case TypeCode:
		c, n, parts := r.l.code(toks, i)
		if n == 0 {
			c, n, parts = r.codeInTwo(s, toks, i, whole)
		}
		if n == 0 || !whole && (parts < 3 && !mixed(c) || len(c) < 4) {
			return nil, 0
		}
		return strings.ToUpper(c), n
	case TypeEmail:
		e, n := r.l.email(toks, i, false)
		if n == 0 {
			return nil, 0
		}
		return e, n
	case TypeMoney:
		f, cur, n := r.l.amount(toks, i)
		if n == 0 || cur != "" && cur != s.currency {
			return nil, 0
		}
		if !whole && cur == "" && n == 1 && r.l.numbers.one[toks[i].text] {
			return nil, 0
		}
		return canonNumber(f), n
	case TypeString, TypeName, TypeBoolean, TypeEnum, TypeCity, TypeAddress, TypeAny:
		return nil, 0
	default:
		return nil, 0
	}
}

// codeInTwo reads an identifier whose letters stand apart from its digits: "BK 1234".
// In the middle of a sentence they stand out by their capitals, or behind the slot's
// name. Words are no part of one, and "EUR 500" is none.
func (r reader) codeInTwo(s *slot, toks []token, i int, whole bool) (c string, n, parts int) {
	if i+1 >= len(toks) || !isDigit(toks[i+1].text[0]) || !letters(toks[i].text) {
		return "", 0, 0
	}
	head, written := toks[i].text, r.raw[toks[i].start:toks[i].end]
	longest := 2
	if written == strings.ToUpper(written) && (whole || r.raw != strings.ToUpper(r.raw)) {
		longest = 4
	} else if !whole && s.mentions.endsAt(toks, i) == 0 {
		return "", 0, 0
	}
	if len(head) < 2 || len(head) > longest || r.isWord(s, toks, i) {
		return "", 0, 0
	}
	c, n, parts = r.l.codeBehind(head, toks, i+1)
	return c, n + 1, parts
}

// isWord reports whether a token before digits is a word that people use there: one
// of every day, of the slot's own, of an amount or a date.
func (r reader) isWord(s *slot, toks []token, i int) bool {
	_, light := r.l.light.at(toks, i)
	_, _, amount := r.l.amount(toks, i)
	_, date := r.dateAt(s.past, toks, i)
	answer, _ := r.l.leadingAnswer(toks[i : i+1])
	return light > 0 || amount > 1 || date > 1 || answer != answerNone || r.carrier(s, toks, i) > 0 || s.words[stem(toks[i].text)]
}

// letters reports whether a word is made of the letters of identifiers.
func letters(t string) bool {
	return !strings.ContainsFunc(t, func(c rune) bool { return c < 'a' || c > 'z' })
}

// number reads a value of a slot that holds numbers.
func (r reader) number(s *slot, toks []token, i int, whole bool) (v any, n int) {
	f, n := r.l.cardinal(toks, i)
	if n == 0 && whole && s.typ == TypeInteger {
		if o, on := r.l.ordinal(toks, i); on > 0 {
			f, n = float64(o), on
		}
	}
	article := r.l.numbers.one[toks[i].text]
	switch {
	case n == 0 && whole && article && len(toks) > 1:
		return int64(1), 1 // "a person"
	case n == 0, s.typ == TypeInteger && f != float64(int64(f)), n == 1 && !whole && article:
		return nil, 0
	}
	return canonNumber(f), n
}

// nowAt is the length of a word for now at token i: in the middle of a sentence
// it is rarely a date.
func (r reader) nowAt(toks []token, i int) int {
	_, n := r.l.clock.now.at(toks, i)
	return n
}

// certainty says how sure a reading is.
type certainty int

const (
	unread   certainty = iota // no value
	doubtful                  // a value that is to be asked about
	certain
)

// answer reads an utterance as the answer to the slot's question and nothing
// else: carrier phrases ("I'd like to leave from", "please") may surround the
// value, other content may not.
func (r reader) answer(s *slot) (any, certainty) {
	toks := r.toks
	if len(toks) == 0 {
		return nil, unread
	}
	if s.closed() {
		if id, ok := s.lookup.whole(toks); ok {
			return s.values[id].value, certain
		}
	}
	if s.typ == TypeBoolean && !s.closed() {
		switch r.l.yesOrNo(toks) {
		case answerYes:
			return true, certain
		case answerNo:
			return false, certain
		default:
			return nil, unread
		}
	}
	if s.free() {
		return r.freeAnswer(s)
	}
	if v, n := r.find(s, toks, 0, true); n == len(toks) {
		return v, certain // before "oh" is taken for a filler
	}
	trimmed := r.l.trim(toks)
	if len(trimmed) == 0 {
		trimmed = toks
	}
	if s.typ == TypeEmail && !s.closed() {
		k := 0
		for k < len(trimmed)-1 {
			n := r.carrier(s, trimmed, k)
			if n == 0 {
				break
			}
			k += n
		}
		if k < len(trimmed) {
			if v, n := r.l.email(trimmed, k, true); n == len(trimmed)-k {
				return v, certain
			}
		}
	}
	for k := 0; k < len(trimmed); {
		if v, n := r.find(s, trimmed, k, true); n > 0 && r.closes(s, trimmed[k+n:]) {
			return v, certain
		}
		n := r.carrier(s, trimmed, k)
		if n == 0 {
			break
		}
		k += n
	}
	if v, ok := r.amongLight(s, trimmed); ok {
		return v, certain
	}
	if s.typ == TypeDate && !s.closed() {
		if v, ok := r.respelled(s, trimmed); ok {
			return v, certain
		}
	}
	if s.closed() {
		if v, ok := r.byOrder(s, trimmed); ok {
			return v, certain
		}
		return nil, unread
	}
	if s.typ == TypeCity {
		return r.openCity(s, trimmed)
	}
	return nil, unread
}

// carrier is the length of the words at k that may precede a value.
func (r reader) carrier(s *slot, toks []token, k int) int {
	n := 0
	for _, t := range [...]*phraseTable{s.cues, s.mentions, s.nouns, s.typeCues, r.l.carriers, r.l.articles, r.l.fillers, r.l.prefixes, r.l.assign} {
		if t == nil {
			continue
		}
		if _, m := t.at(toks, k); m > n {
			n = m
		}
	}
	return n
}

// closes reports whether what follows a value adds nothing to it.
func (r reader) closes(s *slot, rest []token) bool {
	for len(rest) > 0 {
		n := 0
		for _, t := range [...]*phraseTable{s.trailing, r.l.fillersAfter, r.l.polite, r.l.fillers} {
			if t == nil {
				continue
			}
			if _, m := t.at(rest, 0); m > n {
				n = m
			}
		}
		if n == 0 {
			return false
		}
		rest = rest[n:]
	}
	return true
}

// amongLight finds the one value among words that carry no content of their
// own: those of every sentence and those of the question.
func (r reader) amongLight(s *slot, toks []token) (any, bool) {
	var value any
	for i := 0; i < len(toks); {
		if v, n := r.find(s, toks, i, false); n > 0 {
			if value != nil && value != v {
				return nil, false
			}
			value = v
			i += n
			continue
		}
		n := r.carrier(s, toks, i)
		if n == 0 {
			if _, ln := r.l.light.at(toks, i); ln > 0 {
				n = ln
			} else if s.promptWords[stem(toks[i].text)] {
				n = 1
			} else if s.trailing != nil {
				_, n = s.trailing.at(toks, i)
			}
		}
		if n == 0 {
			return nil, false
		}
		i += n
	}
	return value, value != nil
}

// respelled reads a date with a typing error in one of its words ("tomorow").
func (r reader) respelled(s *slot, toks []token) (any, bool) {
	if len(toks) > 6 {
		return nil, false
	}
	var buf [6]token
	fixed := append(buf[:0], toks...)
	changed := false
	for i, tok := range fixed {
		if len(tok.text) < 5 {
			continue
		}
		if w := r.l.calendar.spelling(tok.text); w != "" && w != tok.text {
			fixed[i].text, changed = w, true
		}
	}
	if !changed {
		return nil, false
	}
	for k := 0; k < len(fixed); {
		if v, n := r.find(s, fixed, k, true); n > 0 && r.closes(s, fixed[k+n:]) {
			return v, true
		}
		n := r.carrier(s, fixed, k)
		if n == 0 {
			break
		}
		k += n
	}
	return nil, false
}

// byOrder reads "the second one" where the choice is small.
func (r reader) byOrder(s *slot, toks []token) (any, bool) {
	if len(s.values) > 10 {
		return nil, false
	}
	for k := 0; k < len(toks); {
		if v, n := r.l.ordinal(toks, k); n > 0 && int(v) <= len(s.values) && v > 0 {
			if rest := toks[k+n:]; len(rest) == 0 || len(rest) == 1 && r.l.numbers.units[rest[0].text] == 1 {
				return s.values[v-1].value, true
			}
		}
		n := r.carrier(s, toks, k)
		if n == 0 {
			return nil, false
		}
		k += n
	}
	return nil, false
}

// openCity takes a short name as a city when no list says which there are.
func (r reader) openCity(s *slot, toks []token) (any, certainty) {
	for i := range r.toks { // "I'd like to look in San Jose"
		if s.typeCues.endsAt(r.toks, i) > 0 || s.cues.endsAt(r.toks, i) > 0 {
			if v, n := r.place(i); n > 0 && r.closes(s, r.toks[i+n:]) {
				return v, certain
			}
		}
	}
	k := 0
	for k < len(toks) {
		n := r.carrier(s, toks, k)
		if n == 0 {
			break
		}
		k += n
	}
	end := len(toks)
	for end > k && r.closes(s, toks[end-1:]) {
		end--
	}
	if k >= end || end-k > 4 {
		return nil, unread
	}
	for i := k; i < end; i++ { // "I see", "that will do"
		if _, light := r.l.light.at(toks, i); light > 0 && !r.inName(toks[i].text) {
			return nil, unread
		}
		if _, thanks := r.l.commandSets["thanks"].at(toks, i); thanks > 0 {
			return nil, unread
		}
	}
	text := spanText(r.raw, toks, k, end)
	for _, c := range text {
		if !unicode.IsLetter(c) && c != ' ' && c != '-' && c != '\'' && c != '.' && c != ',' && c != '’' {
			return nil, unread
		}
	}
	return titleWords(text), certain
}

// freeAnswer is what was said, without "it's" and "my name is" before it.
func (r reader) freeAnswer(s *slot) (any, certainty) {
	toks := r.l.polite.trimRight(r.toks)
	k := 0
	for k < len(toks) {
		n := 0
		for _, t := range [...]*phraseTable{r.l.stringCarriers, s.mentions, r.l.fillers} {
			if t == nil {
				continue
			}
			if _, m := t.at(toks, k); m > n {
				n = m
			}
		}
		if _, m := r.l.articles.at(toks, k); m > 0 {
			if _, mm := s.mentions.at(toks, k+m); mm > 0 {
				n = max(n, m+mm)
			}
		}
		if k > 0 {
			if _, m := r.l.assign.at(toks, k); m > n {
				if mention := s.mentions.endsAt(toks, k); mention > 0 {
					n = m
				}
			}
		}
		if n == 0 || k+n >= len(toks) {
			break
		}
		k += n
	}
	text := strings.TrimSpace(r.raw)
	if k > 0 && k < len(toks) || len(toks) > 0 && len(toks) < len(r.toks) {
		text = spanText(r.raw, toks, k, len(toks))
	}
	text = strings.TrimRight(strings.TrimSpace(text), ".,;!?")
	if text == "" {
		return nil, unread
	}
	if s.typ == TypeName {
		if spelled, n, parts := r.l.code(toks, k); n == len(toks)-k && parts > 2 && n > 2 {
			text = spelled
		}
		text = titleWords(text)
	}
	return text, certain
}
