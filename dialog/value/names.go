package value

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// This file finds names of people, places and things in sentences, without a list. Typed text
// has capitals; the text of a recognizer may have none.

// maxNameTokens is the maximum number of words in a name.
const maxNameTokens = 7

// Place reads a capitalized name at token i that does not begin a sentence: "in Half Moon
// Bay", "at Puerto 27", "45 Park Lane". Days and months are not names.
func (r Reader) Place(i int) (any, int) {
	n, last := 0, 0
	if i > 0 && r.SentenceEnds(i) {
		return nil, 0
	}
	for i > 0 && i+n < len(r.Toks) && n < maxNameTokens {
		tok := r.Toks[i+n]
		if n > 0 && r.SentenceEnds(i+n) {
			break
		}
		first, _ := utf8.DecodeRuneInString(r.Raw[tok.Start:tok.End])
		switch {
		case n > 0 && r.Raw[r.Toks[i+n-1].End:tok.Start] == "-": // "Chi-town"
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
		case unicode.IsDigit(first) && n > 0 && len(tok.Text) <= 4 && !strings.Contains(tok.Text, ":"): // "Puerto 27"
			n++
			if r.closesName(i + n) {
				last = n
			}
			continue
		case unicode.IsDigit(first) && n == 0 && len(tok.Text) <= 4 && i+1 < len(r.Toks) && r.Capital(i+1) && r.nameAt(i+1, 1): // "45 Park Lane"
			n++
			continue
		case n > 0 && r.inName(tok.Text) && i+n+1 < len(r.Toks) && r.Capital(i+n+1): // "Bridge of Sighs"
			n++
			continue
		}
		break
	}
	return r.span(i, last)
}

// span returns the text of n tokens from token i, and n.
func (r Reader) span(i, n int) (any, int) {
	if n == 0 {
		return nil, 0
	}
	return strings.TrimRight(SpanText(r.Raw, r.Toks, i, i+n), ".,"), n
}

// Capital reports whether token i begins with a capital letter.
func (r Reader) Capital(i int) bool {
	return r.capitalOf(r.Toks[i])
}

// inName reports whether a word may be within a name in lower case.
func (r Reader) inName(w string) bool {
	switch w {
	case "of", "the", "and", "de", "la", "del", "van", "von", "und", "der":
		return true
	}
	return false
}

// cased reports whether the writer of the message uses capitals: it has one within a sentence, or
// begins with one and ends as a sentence does. A recognizer's text may have none, and a telephone's
// keyboard sets the first.
func (r Reader) cased() bool {
	if r.proper {
		return true
	}
	for i, tok := range r.Toks {
		if i > 0 && tok.Text != "i" && len(tok.Text) > 1 && r.capitalOf(tok) && !r.SentenceEnds(i) && r.Raw[tok.Start:tok.End] != strings.ToUpper(r.Raw[tok.Start:tok.End]) {
			return true
		}
	}
	return len(r.Toks) > 1 && r.Capital(0) && strings.ContainsAny(r.Raw[r.Toks[len(r.Toks)-1].End:], ".!?")
}

// asName reports whether words are written as a name is, by somebody who uses capitals. "Sounds
// lovely." is not.
func (r Reader) asName(toks []Token) bool {
	return !r.cased() || !slices.ContainsFunc(toks, func(t Token) bool { return !r.capitalOf(t) && !r.inName(t.Text) && !unicode.IsDigit(rune(t.Text[0])) })
}

// closesName reports whether a name that ends in a number may end before token i. It may
// not if the number is an hour or a count.
func (r Reader) closesName(i int) bool {
	if i >= len(r.Toks) {
		return true
	}
	switch r.Toks[i].Text {
	case "am", "pm", "people", "oclock", "persons", "nights", "days", "rooms":
		return false
	}
	return true
}

// nameAt reports whether a capitalized token i belongs to a name and not to a day, a month,
// a pronoun or an identifier.
func (r Reader) nameAt(i, n int) bool {
	tok := r.Toks[i]
	if digits := strings.Trim(tok.Text, "abcdefghijklmnopqrstuvwxyz"); mixed(tok.Text) && len(digits) > 1 {
		return false // "DE89" begins an identifier
	}
	if _, month := r.Lang.calendar.months[tok.Text]; month {
		return n > 0 && !r.calendarAt(i)
	}
	if _, light := r.Lang.Light.At(r.Toks, i); light > 0 && !r.inName(tok.Text) {
		return false
	}
	return n > 0 || !r.calendarAt(i)
}

func (r Reader) calendarAt(i int) bool {
	_, n := (dateReader{l: r.Lang, today: DateOf(r.Now)}).date(r.Toks, i)
	return n > 0
}

// AfterCue returns a name in lower case: the words after the last word that points to the
// slot, as in "get me a table at the golden lion".
func (r Reader) AfterCue(s *Spec, toks []Token) (string, bool) {
	for i := len(toks) - 1; i > 0; i-- {
		cued := s.Cues.EndsAt(toks, i) > 0 || s.Mentions.EndsAt(toks, i) > 0 || s.TypeCues != nil && s.TypeCues.EndsAt(toks, i) > 0
		if cued && len(toks)-i <= 5 && r.asName(toks[i:]) {
			return SpanText(r.Raw, toks, i, len(toks)), true
		}
	}
	return "", false
}

// SpokenPlace reads the name of a place from a recognizer's text without capitals: the
// words from token i to the end of the sentence or to the next common word.
func (r Reader) SpokenPlace(i int) (any, int) {
	for k, tok := range r.Toks {
		if k > 0 && tok.Text != "i" && r.Capital(k) {
			return nil, 0 // a text with capitals would have one here
		}
	}
	if _, article := r.Lang.Articles.At(r.Toks, i); article > 0 {
		return nil, 0 // "in the morning"
	}
	n := 0
	for i+n < len(r.Toks) && n < 4 {
		tok := r.Toks[i+n]
		if n > 0 && r.SentenceEnds(i+n) {
			break
		}
		_, light := r.Lang.Light.At(r.Toks, i+n)
		_, polite := r.Lang.Polite.At(r.Toks, i+n)
		_, class := r.Lang.classes[Stem(tok.Text)]
		_, number := r.Lang.cardinal(r.Toks, i+n)
		if light > 0 && !r.inName(tok.Text) || polite > 0 || class || number > 0 || r.calendarAt(i+n) || len(tok.Text) < 2 {
			break
		}
		n++
	}
	if n == 0 || n == 4 {
		return nil, 0
	}
	if _, tn := (timeReader{l: r.Lang, now: r.Now}).time(r.Toks, i); tn > 0 || r.Lang.Articles.EndsAt(r.Toks, i) > 0 {
		return nil, 0 // "in the morning"
	}
	return TitleWords(SpanText(r.Raw, r.Toks, i, i+n)), n
}

// Hyphen reports whether token i follows a hyphen.
func (r Reader) Hyphen(i int) bool { return i > 0 && r.Raw[r.Toks[i-1].End:r.Toks[i].Start] == "-" }

// OneName reports whether the utterance has exactly one capitalized name.
func (r Reader) OneName() bool {
	count := 0
	for i := 1; i < len(r.Toks); i++ {
		if _, n := r.Place(i); n > 0 {
			count++
			i += n - 1
		}
	}
	return count == 1
}

// PlainName reports whether the words may be a name and are not a sentence.
func (r Reader) PlainName() bool {
	light := 0
	for i, tok := range r.Toks {
		if tok.Text == "i" || tok.Text == "you" || tok.Text == "ich" || tok.Text == "sie" {
			return false
		}
		if _, n := r.Lang.Light.At(r.Toks, i); n > 0 && !r.inName(tok.Text) {
			light++
		}
	}
	return light <= 1 && len(r.Toks) <= 5
}

// NameRun returns the number of tokens from i that may be a person's name. It excludes
// times ("half past nine"), words after a name ("instead", "I think") and phrases such as
// "from my savings".
func (r Reader) NameRun(toks []Token, i int) int {
	n := r.nameRun(toks, i)
	if _, somebody := r.Lang.Indefinite.At(toks, i); somebody == n && (i > 0 || n == len(toks)) {
		return 0 // "to nobody", but "Nobody Here"
	}
	return n
}

func (r Reader) nameRun(toks []Token, i int) int {
	n, last := 0, 0
	times := timeReader{l: r.Lang, now: r.Now}
	for i+n < len(toks) && n < maxNameTokens {
		k := i + n
		if n > 0 && r.SentenceEndsIn(toks, k) && (len(toks[k-1].Text) > 2 || !strings.HasPrefix(r.Raw[toks[k-1].End:], ".")) {
			break // but "Dr. Lind"
		}
		if _, out := r.Lang.OutsideNames.At(toks, k); out > 0 || strings.ContainsFunc(toks[k].Text, unicode.IsDigit) || r.Lang.denies(toks, k) > 0 {
			break
		}
		if n > 0 && r.lowered(toks[i:], n) && !particle(toks[k].Text) && !(r.inName(toks[k].Text) && k+1 < len(toks) && r.capitalOf(toks[k+1])) {
			break // a name is capitalized throughout
		}
		_, after := r.Lang.fillersAfter.At(toks, k)
		_, polite := r.Lang.Polite.At(toks, k)
		_, light := r.Lang.Light.At(toks, k)
		_, tn := times.time(toks, k)
		_, dn := r.dateAt(false, toks, k)
		_, _, money := r.Lang.Amount(toks, k)
		switch inside := r.inName(toks[k].Text); {
		case inside && n > 0 && k+1 < len(toks) && (r.capitalOf(toks[k+1]) || particle(toks[k].Text)):
			n++ // "Bridge of Sighs", "von Stein"
			continue
		case inside && !particle(toks[k].Text) && (n > 0 || !r.capitalOf(toks[k])), after > 0, polite > 0, light > 0 && !inside,
			tn > 0, dn > 1 || dn > 0 && n == 0 && !r.month(toks[k]), money > 1 || money > 0 && n == 0:
			return last
		}
		n++
		last = n
	}
	return last
}

// lowered reports whether token n begins in lower case although an earlier one is
// capitalized, other than at the beginning of the message.
func (r Reader) lowered(toks []Token, n int) bool {
	return !r.capitalOf(toks[n]) && slices.ContainsFunc(toks[:n], func(t Token) bool { return t.Start > 0 && r.capitalOf(t) })
}

// particle reports whether a word may be a particle in a person's name.
func particle(w string) bool {
	switch w {
	case "de", "la", "del", "van", "von", "der":
		return true
	}
	return false
}

func (r Reader) capitalOf(t Token) bool {
	first, _ := utf8.DecodeRuneInString(r.Raw[t.Start:t.End])
	return unicode.IsUpper(first)
}

// month reports whether a word is the name of a month, which may also be a person's name.
func (r Reader) month(t Token) bool { return r.Lang.calendar.months[t.Text] > 0 }

// Closes reports whether the words after a name add nothing to it.
func (r Reader) Closes(s *Spec, rest []Token) bool { return r.closes(s, rest) }
