package value

import (
	"strconv"
	"strings"
)

// This file reads incomplete dates: weeks, days that do not exist, dates without a year, and
// changes of a part of a date.

// week returns the Monday of [Reader.Week].
func (r Reader) week() Date {
	c, _ := ParseDate(r.Week)
	return c
}

// WeekSaid returns the Monday of a week that the utterance names without a day ("next
// week", but not "friday next week"), or "".
func (r Reader) WeekSaid() string {
	d := dateReader{l: r.Lang, today: DateOf(r.Now)}
	for i := 0; i < len(r.Toks); i++ {
		if _, n := r.dateAt(false, r.Toks, i); n > 0 {
			i += n - 1
			continue
		}
		if c, n := d.weekAt(r.Toks, i); n > 0 {
			return c.String()
		}
	}
	return ""
}

// WeekAt returns the length of the name of a week at token i, or 0.
func (r Reader) WeekAt(i int) int {
	_, n := dateReader{l: r.Lang, today: DateOf(r.Now)}.weekAt(r.Toks, i)
	return n
}

// weekAt reads "next week" and "this week" as their Monday.
func (r dateReader) weekAt(toks []Token, i int) (Date, int) {
	c := &r.l.calendar
	monday := r.today.add(-((r.today.Weekday() + 6) % 7))
	for weeks, t := range [...]*Phrases{c.this, c.next} {
		_, n := t.At(toks, i)
		if n == 0 {
			continue
		}
		for k := i + 1; k < len(toks) && k <= i+n; k++ {
			if c.units[toks[k].Text] == 7 {
				return monday.add(7 * weeks), k + 1 - i
			}
		}
	}
	return Date{}, 0
}

// NoSuchDay returns the words of a day that does not exist ("31 February"), or "".
func (r Reader) NoSuchDay(s *Spec) string {
	for i := range r.Toks {
		if c, n := r.readDate(s.Past, r.Toks, i); n > 1 && !c.valid() {
			_, on := r.Lang.calendar.on.At(r.Toks, i)
			return SpanText(r.Raw, r.Toks, i+on, i+n)
		}
	}
	return ""
}

// Changed reads a value at token i that replaces an old one. A date keeps the parts that
// are not named: "no, the 4th of May" keeps the year of a date of birth.
func (r Reader) Changed(s *Spec, old any, toks []Token, i int) (any, bool) {
	text, _ := old.(string)
	was, ok := ParseDate(text)
	if !ok || s.Type != TypeDate || s.Closed() {
		return nil, false
	}
	c, n := r.dateAt(s.Past, toks, i)
	switch {
	case n == 0:
		y, yn := (dateReader{l: r.Lang}).year(toks, i)
		if yn == 0 {
			return nil, false
		}
		was.year = y
		c = was
	case c.open == yearOpen:
		c.year = was.year
	case c.open == monthOpen:
		c.year, c.month = was.year, was.month
	}
	if today := DateOf(r.Now); !c.valid() || s.Past != c.Before(today) {
		return nil, false
	}
	return c.String(), true
}

// half formats a date in the past as it was said. The year and the month are not filled in
// ("--05-03", "---03").
func (c Date) half() string {
	switch text := c.String(); c.open {
	case yearOpen:
		return "-" + text[4:]
	case monthOpen:
		return "--" + text[7:]
	default:
		return text
	}
}

// Half reports whether a value is a date without its year.
func Half(v any) bool {
	text, _ := v.(string)
	return strings.HasPrefix(text, "--")
}

// Completed returns the date that an utterance makes of one without its year, if it says
// only the year.
func (r Reader) Completed(s *Spec, half any) (any, bool) {
	text, _ := half.(string)
	if len(text) != len("--05-03") || !s.Past {
		return nil, false
	}
	d := dateReader{l: r.Lang, today: DateOf(r.Now), past: true}
	toks := r.Lang.Trim(r.Toks)
	for k := 0; k < len(toks); {
		y, n := d.year(toks, k)
		if n == 0 {
			y, n = d.shortYear(toks, k)
		}
		if n > 0 && r.closes(s, toks[k+n:]) {
			c, ok := ParseDate(strconv.Itoa(y) + text[1:])
			return c.String(), ok
		}
		m := r.carrier(s, toks, k)
		if _, in := r.Lang.calendar.in.At(toks, k); in > m {
			m = in
		}
		if m == 0 {
			break
		}
		k += m
	}
	return nil, false
}

// Year returns the length of a year at token i ("1975"), or 0.
func (r Reader) Year(toks []Token, i int) int {
	_, n := (dateReader{l: r.Lang}).year(toks, i)
	return n
}

// Relative reports whether the date at token i names neither a month nor a day of the
// month: "tuesday", "in two weeks". Dates of birth are not given like this.
func (r Reader) Relative(s *Spec, toks []Token, i int) bool {
	c, n := r.dateAt(s.Past, toks, i)
	return n > 0 && c.open == counted
}
