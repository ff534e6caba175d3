package value

import (
	"strings"
	"time"
	"unicode"
)

// This file reads an utterance as the answer to the question for a slot.

// Reader finds values in an utterance. It is not safe for concurrent use after
// [Reader.Keep].
type Reader struct {
	Lang *Language
	Raw  string
	Toks []Token
	Now  time.Time
	Week string    // the Monday of the week that the user named before, or ""
	seen *readings // cached dates and times of Toks, or nil

	proper bool // the message of which this is a part uses capitals
}

// Part returns the reader of some tokens, which are next to each other.
func (r Reader) Part(toks []Token) Reader {
	part := Reader{Lang: r.Lang, Raw: SpanText(r.Raw, toks, 0, len(toks)), Now: r.Now, Week: r.Week, proper: r.cased()}
	part.Toks = Tokenize(part.Raw, nil)
	return part
}

// Certainty says how sure a value is.
type Certainty int

const (
	Unread   Certainty = iota // no value
	Doubtful                  // a value that the user must confirm
	Certain                   // a value that needs no question
)

// Answer reads the whole utterance as the answer to the slot's question. Introductory words
// ("I'd like to leave from") and politeness may surround the value, other content may not.
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
		answer, rest := r.Lang.Choice(s, toks)
		if typed := r.Lang.typed(toks); typed != NoAnswer {
			answer, rest = typed, len(toks)
		}
		if answer == NoAnswer || rest < len(toks) {
			return nil, Unread
		}
		return answer == Yes, Certain
	}
	if s.Free() {
		return r.freeAnswer(s)
	}
	if v, n := r.Find(s, toks, 0, true); n == len(toks) {
		return v, Certain // before Trim drops "oh" as a filler
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

// carrier returns the length of the words at token k that may precede a value.
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

// closes reports whether the words after a value add nothing to it.
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

// amongLight returns the only value among words without content: common words and words of
// the question.
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

// byOrder reads "the second one" for a slot with few values.
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

// openCity reads a short name as a city, for a slot without a list of values.
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
	for i := k; i < end; i++ { // "I see", "that will do", "everything"
		for _, p := range [...]*Phrases{r.Lang.Light, r.Lang.YesNo, r.Lang.Indefinite, r.Lang.CommandSets["thanks"]} {
			if _, n := p.At(toks, i); n > 0 && !r.inName(toks[i].Text) {
				return nil, Unread
			}
		}
	}
	if !r.asName(toks[k:end]) {
		return nil, Unread
	}
	text := SpanText(r.Raw, toks, k, end)
	for _, c := range text {
		if !unicode.IsLetter(c) && c != ' ' && c != '-' && c != '\'' && c != '.' && c != ',' && c != '’' {
			return nil, Unread
		}
	}
	cued := s.Cues.EndsAt(toks, k) > 0 || s.TypeCues != nil && s.TypeCues.EndsAt(toks, k) > 0
	if end-k > 1 && !cued && !r.capitalOf(toks[end-1]) {
		return TitleWords(text), Doubtful // "sounds lovely" may be no place, and "san jose" is one
	}
	return TitleWords(text), Certain
}

// freeAnswer returns the utterance without words like "it's" and "my name is" before it.
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
	if s.Type == TypeName {
		return r.nameAnswer(s, toks, k)
	}
	text := strings.TrimSpace(r.Raw)
	if k > 0 && k < len(toks) || len(toks) > 0 && len(toks) < len(r.Toks) {
		text = SpanText(r.Raw, toks, k, len(toks))
	}
	text = strings.TrimRight(strings.TrimSpace(text), ".,;!?")
	if text == "" {
		return nil, Unread
	}
	return text, Certain
}

// nameAnswer reads a name at token k with nothing relevant after it: "half past nine is
// better" is not a name.
func (r Reader) nameAnswer(s *Spec, toks []Token, k int) (any, Certainty) {
	if spelled, n, parts := r.Lang.code(toks, k); n == len(toks)-k && parts > 2 && n > 2 && letters(strings.ToLower(spelled)) {
		return TitleWords(spelled), Certain
	}
	n := r.NameRun(toks, k)
	if n == 0 || !r.closes(s, toks[k+n:]) || !r.asName(toks[k:k+n]) {
		return nil, Unread
	}
	return TitleWords(SpanText(r.Raw, toks, k, k+n)), Certain
}
