package value

import "strings"

// This file finds values within an utterance, and excludes words that only look like values.

// Find reads a value of the slot that starts at token i, and returns it with its length. If
// whole is true, the tokens are an answer to the slot's question, so that a bare number may
// be an hour. Values without a form are only found by [Reader.Answer].
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
		if n == 0 || r.nowAt(toks, i) == n && (!whole || !r.introduced(s, toks[:i])) || !whole && c.open == monthOpen && n <= 2 && r.counts(toks, i, n) {
			return nil, 0
		}
		if s.Past {
			return c.half(), n
		}
		return c.String(), n
	case TypeTime:
		c, n := r.timeAt(whole, toks, i)
		if n == 0 || r.nowAt(toks, i) == n && (!whole || !r.introduced(s, toks[:i])) {
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
		if n == 0 || !whole && r.crossesClause(toks, i, n) || !whole && (parts < 3 && !mixed(c) || len(c) < 4 || r.dated(toks, i) || r.nth(toks, i) == n) {
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
		if n == 0 || r.unclear(toks, i, n) || cur != "" && s.Currency != "" && cur != s.Currency || r.measures(toks, i+n) || r.dated(toks, i) {
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

// dated reports whether token i is part of a date of several words: "Jan 1st, 2050" is not
// an identifier.
func (r Reader) dated(toks []Token, i int) bool {
	for k := max(0, i-maxDate); k <= i; k++ {
		if _, n := r.readDate(false, toks, k); n > 1 && k+n > i {
			return true
		}
	}
	return false
}

// crossesClause reports whether a sentence or a part of one ends within n tokens: "800, I" is no code.
func (r Reader) crossesClause(toks []Token, i, n int) bool {
	for k := i + 1; k < i+n; k++ {
		if r.SentenceEndsIn(toks, k) {
			return true
		}
	}
	return false
}

// nth returns the length of an ordinal such as "40th".
func (r Reader) nth(toks []Token, i int) int {
	_, n := r.Lang.ordinal(toks, i)
	return n
}

// codeInTwo reads an identifier whose letters are separate from its digits: "BK 1234".
// Within a sentence the letters must be capitals, or follow the slot's name. Common words
// and amounts ("EUR 500") do not count.
func (r Reader) codeInTwo(s *Spec, toks []Token, i int, whole bool) (c string, n, parts int) {
	if i+1 >= len(toks) || !IsDigit(toks[i+1].Text[0]) || !letters(toks[i].Text) {
		return "", 0, 0
	}
	head, written := toks[i].Text, r.Raw[toks[i].Start:toks[i].End]
	longest := 2
	if written == strings.ToUpper(written) && (whole || len(toks) == 2 || r.Raw != strings.ToUpper(r.Raw)) {
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

// isWord reports whether a token before digits is a word that often precedes them: a common
// word, a word of the slot, or a part of an amount or a date.
func (r Reader) isWord(s *Spec, toks []Token, i int) bool {
	_, light := r.Lang.Light.At(toks, i)
	_, _, amount := r.Lang.Amount(toks, i)
	_, date := r.dateAt(s.Past, toks, i)
	answer, _ := r.Lang.LeadingAnswer(toks[i : i+1])
	return light > 0 || amount > 1 || date > 1 || answer != NoAnswer || r.carrier(s, toks, i) > 0 || s.Words[Stem(toks[i].Text)]
}

// letters reports whether a word has only the letters a to z.
func letters(t string) bool {
	return !strings.ContainsFunc(t, func(c rune) bool { return c < 'a' || c > 'z' })
}

// measures reports whether token i is a unit of time: five minutes are not an amount.
func (r Reader) measures(toks []Token, i int) bool {
	if i >= len(toks) {
		return false
	}
	_, clock := r.Lang.Clock.units[toks[i].Text]
	_, days := r.Lang.calendar.units[toks[i].Text]
	return clock || days
}

// number reads a value of a slot that has numbers.
func (r Reader) number(s *Spec, toks []Token, i int, whole bool) (v any, n int) {
	f, n := r.Lang.cardinal(toks, i)
	if s.Type != TypeInteger {
		if v, cur, an := r.Lang.Amount(toks, i); cur != "" { // "$100", "fifty quid"
			if r.unclear(toks, i, an) {
				return nil, 0
			}
			f, n = v, an
		}
	}
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

// counts reports whether a day of the month without a month is an ordinal of something
// else: "my first flight", "the second visit".
func (r Reader) counts(toks []Token, i, n int) bool {
	_, article := r.Lang.calendar.the.At(toks, i)
	if article == 0 && n == 1 {
		if r.Lang.Numbers.ordinals[toks[i].Text] > 0 && r.Lang.calendar.the.EndsAt(toks, i) == 0 {
			return true // "first" is a date only after an article
		}
		if the := r.Lang.calendar.the.EndsAt(toks, i); the == 0 && r.Lang.Articles.EndsAt(toks, i) > 0 {
			return true // "my 40th"
		}
	}
	return !r.ends(toks, i+n)
}

// Stands reports whether the number at tokens i to j does not count something that follows,
// as "two" does in "two rooms" and "one" in "one moment".
func (r Reader) Stands(i, j int) bool {
	return r.ends(r.Toks, j) && !(j == i+1 && r.Lang.Numbers.One[r.Toks[i].Text]) && !r.measures(r.Toks, j)
}

// ends reports whether the words at token i do not belong to those before.
func (r Reader) ends(toks []Token, i int) bool {
	if i >= len(toks) || r.SentenceEndsIn(toks, i) {
		return true
	}
	next := toks[i:]
	_, light := r.Lang.Light.At(next, 0)
	_, after := r.Lang.fillersAfter.At(next, 0)
	_, polite := r.Lang.Polite.At(next, 0)
	_, weak := r.Lang.Weak.At(next, 0)
	_, not := r.Lang.Not.At(next, 0)
	_, part := r.Lang.Clock.part.At(next, 0)
	_, number := r.Lang.cardinal(next, 0)
	_, or := r.Lang.Or.At(next, 0)
	return light+after+polite+weak+not+part+number+or > 0
}

// introduced reports whether words before a value only introduce it: "I'd like to leave" is
// an introduction, "that's all for" is not.
func (r Reader) introduced(s *Spec, before []Token) bool {
	for i := 0; i < len(before); {
		n := r.carrier(s, before, i)
		if n == 0 {
			return false
		}
		i += n
	}
	return true
}

// nowAt returns the length of a word like "immediately" at token i. Such a word is a date or
// time only as an answer of its own: "no, that's all for now" has none.
func (r Reader) nowAt(toks []Token, i int) int {
	_, n := r.Lang.Clock.now.At(toks, i)
	return n
}
