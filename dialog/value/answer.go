package value

import (
	"strings"
	"time"
	"unicode"
)

// This file: the value that an utterance gives to a slot.

// Reader is an utterance to find values in.
type Reader struct {
	Lang *Language
	Raw  string
	Toks []Token
	Now  time.Time
	seen *readings // of toks from its first on; nil: nothing is kept
}

// Find reads a value of the slot that starts at token i. Whole says that the
// tokens are an answer to the slot's question, so that a bare number may be an
// hour. Values that have no form of their own are found by answer alone.
func (r Reader) Find(s *Spec, toks []Token, i int, whole bool) (v any, n int) {
	if s.Closed() {
		id, n := s.Lookup.At(toks, i)
		if n == 0 {
			return nil, 0
		}
		return s.Values[id].Value, n
	}
	switch s.Type {
	case TypeInteger, TypeNumber, TypeFloat:
		return r.number(s, toks, i, whole)
	case TypeDate:
		c, n := r.dateAt(s.Past, toks, i)
		if n == 0 || !whole && (r.nowAt(toks, i) == n || n == 1 && r.Lang.Numbers.ordinals[toks[i].Text] > 0 && r.Lang.Articles.EndsAt(toks, i) == 0) {
			return nil, 0 // "first" is a date behind an article alone
		}
		return c.String(), n
	case TypeTime:
		c, n := r.timeAt(whole, toks, i)
		if n == 0 || !whole && r.nowAt(toks, i) == n {
			return nil, 0
		}
		low, high := -1, -1
		if s.Low != nil {
			low = int(*s.Low)
		}
		if s.High != nil {
			high = int(*s.High)
		}
		return c.resolve(low, high).String(), n
	case TypeDigits:
		d, n := r.Lang.DigitRun(toks, i, false)
		if n == 0 || !whole && len(d) < 3 {
			return nil, 0
		}
		return d, n
	case TypePhone:
		p, n := r.Lang.phone(toks, i)
		if n == 0 {
			return nil, 0
		}
		return p, n
	case TypeCode:
		c, n, parts := r.Lang.code(toks, i)
		if n == 0 {
			c, n, parts = r.codeInTwo(s, toks, i, whole)
		}
		if n == 0 || !whole && (parts < 3 && !mixed(c) || len(c) < 4) {
			return nil, 0
		}
		return strings.ToUpper(c), n
	case TypeEmail:
		e, n := r.Lang.email(toks, i, false)
		if n == 0 {
			return nil, 0
		}
		return e, n
	case TypeMoney:
		f, cur, n := r.Lang.Amount(toks, i)
		if n == 0 || cur != "" && cur != s.Currency {
			return nil, 0
		}
		if !whole && cur == "" && n == 1 && r.Lang.Numbers.One[toks[i].Text] {
			return nil, 0
		}
		return Number(f), n
	case TypeString, TypeName, TypeBoolean, TypeEnum, TypeCity, TypeAddress, TypeAny:
		return nil, 0
	default:
		return nil, 0
	}
}

// codeInTwo reads an identifier whose letters stand apart from its digits: "BK 1234".
// In the middle of a sentence they stand out by their capitals, or behind the slot's
// name. Words are no part of one, and "EUR 500" is none.
func (r Reader) codeInTwo(s *Spec, toks []Token, i int, whole bool) (c string, n, parts int) {
	if i+1 >= len(toks) || !IsDigit(toks[i+1].Text[0]) || !letters(toks[i].Text) {
		return "", 0, 0
	}
	head, written := toks[i].Text, r.Raw[toks[i].Start:toks[i].End]
	longest := 2
	if written == strings.ToUpper(written) && (whole || r.Raw != strings.ToUpper(r.Raw)) {
		longest = 4
	} else if !whole && s.Mentions.EndsAt(toks, i) == 0 {
		return "", 0, 0
	}
	if len(head) < 2 || len(head) > longest || r.isWord(s, toks, i) {
		return "", 0, 0
	}
	c, n, parts = r.Lang.codeBehind(head, toks, i+1)
	return c, n + 1, parts
}

// isWord reports whether a token before digits is a word that people use there: one
// of every day, of the slot's own, of an amount or a date.
func (r Reader) isWord(s *Spec, toks []Token, i int) bool {
	_, light := r.Lang.Light.At(toks, i)
	_, _, amount := r.Lang.Amount(toks, i)
	_, date := r.dateAt(s.Past, toks, i)
	answer, _ := r.Lang.LeadingAnswer(toks[i : i+1])
	return light > 0 || amount > 1 || date > 1 || answer != NoAnswer || r.carrier(s, toks, i) > 0 || s.Words[Stem(toks[i].Text)]
}

// letters reports whether a word is made of the letters of identifiers.
func letters(t string) bool {
	return !strings.ContainsFunc(t, func(c rune) bool { return c < 'a' || c > 'z' })
}

// number reads a value of a slot that holds numbers.
func (r Reader) number(s *Spec, toks []Token, i int, whole bool) (v any, n int) {
	f, n := r.Lang.cardinal(toks, i)
	if n == 0 && whole && s.Type == TypeInteger {
		if o, on := r.Lang.ordinal(toks, i); on > 0 {
			f, n = float64(o), on
		}
	}
	article := r.Lang.Numbers.One[toks[i].Text]
	switch {
	case n == 0 && whole && article && len(toks) > 1:
		return int64(1), 1 // "a person"
	case n == 0, s.Type == TypeInteger && f != float64(int64(f)), n == 1 && !whole && article:
		return nil, 0
	}
	return Number(f), n
}

// nowAt is the length of a word for now at token i: in the middle of a sentence
// it is rarely a date.
func (r Reader) nowAt(toks []Token, i int) int {
	_, n := r.Lang.Clock.now.At(toks, i)
	return n
}

// Certainty says how sure a reading is.
type Certainty int

const (
	Unread   Certainty = iota // no value
	Doubtful                  // a value that is to be asked about
	Certain                   // taken as it is
)

// Answer reads an utterance as the answer to the slot's question and nothing
// else: carrier phrases ("I'd like to leave from", "please") may surround the
// value, other content may not.
func (r Reader) Answer(s *Spec) (any, Certainty) {
	toks := r.Toks
	if len(toks) == 0 {
		return nil, Unread
	}
	if s.Closed() {
		if id, ok := s.Lookup.Whole(toks); ok {
			return s.Values[id].Value, Certain
		}
	}
	if s.Type == TypeBoolean && !s.Closed() {
		switch r.Lang.YesOrNo(toks) {
		case Yes:
			return true, Certain
		case No:
			return false, Certain
		default:
			return nil, Unread
		}
	}
	if s.Free() {
		return r.freeAnswer(s)
	}
	if v, n := r.Find(s, toks, 0, true); n == len(toks) {
		return v, Certain // before "oh" is taken for a filler
	}
	trimmed := r.Lang.Trim(toks)
	if len(trimmed) == 0 {
		trimmed = toks
	}
	if s.Type == TypeEmail && !s.Closed() {
		k := 0
		for k < len(trimmed)-1 {
			n := r.carrier(s, trimmed, k)
			if n == 0 {
				break
			}
			k += n
		}
		if k < len(trimmed) {
			if v, n := r.Lang.email(trimmed, k, true); n == len(trimmed)-k {
				return v, Certain
			}
		}
	}
	for k := 0; k < len(trimmed); {
		if v, n := r.Find(s, trimmed, k, true); n > 0 && r.closes(s, trimmed[k+n:]) {
			return v, Certain
		}
		n := r.carrier(s, trimmed, k)
		if n == 0 {
			break
		}
		k += n
	}
	if v, ok := r.amongLight(s, trimmed); ok {
		return v, Certain
	}
	if s.Type == TypeDate && !s.Closed() {
		if v, ok := r.respelled(s, trimmed); ok {
			return v, Certain
		}
	}
	if s.Closed() {
		if v, ok := r.byOrder(s, trimmed); ok {
			return v, Certain
		}
		return nil, Unread
	}
	if s.Type == TypeCity {
		return r.openCity(s, trimmed)
	}
	return nil, Unread
}

// carrier is the length of the words at k that may precede a value.
func (r Reader) carrier(s *Spec, toks []Token, k int) int {
	n := 0
	for _, t := range [...]*Phrases{s.Cues, s.Mentions, s.nouns, s.TypeCues, r.Lang.Carriers, r.Lang.Articles, r.Lang.Fillers, r.Lang.Prefixes, r.Lang.Assign} {
		if t == nil {
			continue
		}
		if _, m := t.At(toks, k); m > n {
			n = m
		}
	}
	return n
}

// closes reports whether what follows a value adds nothing to it.
func (r Reader) closes(s *Spec, rest []Token) bool {
	for len(rest) > 0 {
		n := 0
		for _, t := range [...]*Phrases{s.Trailing, r.Lang.fillersAfter, r.Lang.Polite, r.Lang.Fillers} {
			if t == nil {
				continue
			}
			if _, m := t.At(rest, 0); m > n {
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
func (r Reader) amongLight(s *Spec, toks []Token) (any, bool) {
	var value any
	for i := 0; i < len(toks); {
		if v, n := r.Find(s, toks, i, false); n > 0 {
			if value != nil && value != v {
				return nil, false
			}
			value = v
			i += n
			continue
		}
		n := r.carrier(s, toks, i)
		if n == 0 {
			if _, ln := r.Lang.Light.At(toks, i); ln > 0 {
				n = ln
			} else if s.PromptWords[Stem(toks[i].Text)] {
				n = 1
			} else if s.Trailing != nil {
				_, n = s.Trailing.At(toks, i)
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
func (r Reader) respelled(s *Spec, toks []Token) (any, bool) {
	if len(toks) > 6 {
		return nil, false
	}
	var buf [6]Token
	fixed := append(buf[:0], toks...)
	changed := false
	for i, tok := range fixed {
		if len(tok.Text) < 5 {
			continue
		}
		if w := r.Lang.calendar.spelling(tok.Text); w != "" && w != tok.Text {
			fixed[i].Text, changed = w, true
		}
	}
	if !changed {
		return nil, false
	}
	for k := 0; k < len(fixed); {
		if v, n := r.Find(s, fixed, k, true); n > 0 && r.closes(s, fixed[k+n:]) {
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
func (r Reader) byOrder(s *Spec, toks []Token) (any, bool) {
	if len(s.Values) > 10 {
		return nil, false
	}
	for k := 0; k < len(toks); {
		if v, n := r.Lang.ordinal(toks, k); n > 0 && int(v) <= len(s.Values) && v > 0 {
			if rest := toks[k+n:]; len(rest) == 0 || len(rest) == 1 && r.Lang.Numbers.units[rest[0].Text] == 1 {
				return s.Values[v-1].Value, true
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
func (r Reader) openCity(s *Spec, toks []Token) (any, Certainty) {
	for i := range r.Toks { // "I'd like to look in San Jose"
		if s.TypeCues.EndsAt(r.Toks, i) > 0 || s.Cues.EndsAt(r.Toks, i) > 0 {
			if v, n := r.Place(i); n > 0 && r.closes(s, r.Toks[i+n:]) {
				return v, Certain
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
		return nil, Unread
	}
	for i := k; i < end; i++ { // "I see", "that will do"
		if _, light := r.Lang.Light.At(toks, i); light > 0 && !r.inName(toks[i].Text) {
			return nil, Unread
		}
		if _, thanks := r.Lang.CommandSets["thanks"].At(toks, i); thanks > 0 {
			return nil, Unread
		}
	}
	text := SpanText(r.Raw, toks, k, end)
	for _, c := range text {
		if !unicode.IsLetter(c) && c != ' ' && c != '-' && c != '\'' && c != '.' && c != ',' && c != '’' {
			return nil, Unread
		}
	}
	return TitleWords(text), Certain
}

// freeAnswer is what was said, without "it's" and "my name is" before it.
func (r Reader) freeAnswer(s *Spec) (any, Certainty) {
	toks := r.Lang.Polite.TrimRight(r.Toks)
	k := 0
	for k < len(toks) {
		n := 0
		for _, t := range [...]*Phrases{r.Lang.stringCarriers, s.Mentions, r.Lang.Fillers} {
			if t == nil {
				continue
			}
			if _, m := t.At(toks, k); m > n {
				n = m
			}
		}
		if _, m := r.Lang.Articles.At(toks, k); m > 0 {
			if _, mm := s.Mentions.At(toks, k+m); mm > 0 {
				n = max(n, m+mm)
			}
		}
		if k > 0 {
			if _, m := r.Lang.Assign.At(toks, k); m > n {
				if mention := s.Mentions.EndsAt(toks, k); mention > 0 {
					n = m
				}
			}
		}
		if n == 0 || k+n >= len(toks) {
			break
		}
		k += n
	}
	text := strings.TrimSpace(r.Raw)
	if k > 0 && k < len(toks) || len(toks) > 0 && len(toks) < len(r.Toks) {
		text = SpanText(r.Raw, toks, k, len(toks))
	}
	text = strings.TrimRight(strings.TrimSpace(text), ".,;!?")
	if text == "" {
		return nil, Unread
	}
	if s.Type == TypeName {
		if spelled, n, parts := r.Lang.code(toks, k); n == len(toks)-k && parts > 2 && n > 2 {
			text = spelled
		}
		text = TitleWords(text)
	}
	return text, Certain
}
