package value

import (
	"strconv"
	"strings"
	"time"
)

// Weekday returns the day of the week, where 0 is Sunday.
func (c Date) Weekday() int { return int(c.time().Weekday()) }

// dateReader finds dates relative to a day.
type dateReader struct {
	l     *Language
	today Date
	week  Date // the Monday of the week that the user named before; invalid if there is none
	past  bool // whether days without a year are in the past, as dates of birth are
}

// date returns the longest date that starts at token i and its length. For a day that does
// not exist ("thirty one february") it returns an invalid date with its length, since a
// shorter date within the words is not meant.
func (r dateReader) date(toks []Token, i int) (c Date, n int) {
	if i >= len(toks) {
		return Date{}, 0
	}
	for _, form := range [...]func([]Token, int) (Date, int){
		r.written, r.spaced, r.named, r.weekday, r.monthDay, r.dayMonth, r.dayAlone, r.relative, r.edge,
	} {
		if d, m := form(toks, i); m > n {
			c, n = d, m
		}
	}
	return c, n
}

// upcoming returns the nearest day with a month and day, in the future, or in the past if
// r.past.
func (r dateReader) upcoming(month, day int) Date {
	c := Date{r.today.year, time.Month(month), day, yearOpen}
	for range 8 { // the 29th of February
		switch {
		case !c.valid():
		case r.past && c.Before(r.today.add(1)), !r.past && !c.Before(r.today):
			return c
		}
		if r.past {
			c.year--
		} else {
			c.year++
		}
	}
	return Date{month: time.Month(month), day: day}
}

// written reads "2025-12-12", "12/5", "5.12.2025".
func (r dateReader) written(toks []Token, i int) (Date, int) {
	t := toks[i].Text
	if len(t) < 3 || !IsDigit(t[0]) {
		return Date{}, 0
	}
	if c, ok := ParseDate(t); ok {
		return c, 1
	}
	sep := strings.IndexAny(t, "/.-")
	if sep < 0 {
		return Date{}, 0
	}
	parts := strings.Split(strings.TrimSuffix(t, "."), t[sep:sep+1])
	var v [3]int
	if len(parts) < 2 || len(parts) > 3 {
		return Date{}, 0
	}
	for k, p := range parts {
		if !AllDigits(p) || len(p) > 4 || k < 2 && len(p) > 2 {
			return Date{}, 0
		}
		v[k], _ = strconv.Atoi(p)
	}
	if t[sep] == '.' && !r.l.Data.DayFirst && len(parts) == 2 {
		return Date{}, 0 // "3.5" is a number
	}
	month, day := r.order(v[0], v[1], t[sep] == '.')
	if len(parts) == 2 {
		return r.upcoming(month, day), 1
	}
	year := v[2]
	if len(parts[2]) <= 2 {
		year = r.century(year)
	}
	return Date{year, time.Month(month), day, dayNamed}, 1
}

// order decides which of the first two numbers of a date is the month.
func (r dateReader) order(a, b int, dayFirst bool) (month, day int) {
	if dayFirst || r.l.Data.DayFirst || a > 12 {
		return b, a
	}
	return a, b
}

// spaced reads "12 12 1990".
func (r dateReader) spaced(toks []Token, i int) (Date, int) {
	var v [3]int
	if i+3 > len(toks) || i+3 < len(toks) && AllDigits(toks[i+3].Text) || i > 0 && AllDigits(toks[i-1].Text) {
		return Date{}, 0
	}
	for k, tok := range toks[i : i+3] {
		if !AllDigits(tok.Text) || k < 2 && len(tok.Text) > 2 || k == 2 && len(tok.Text) != 4 {
			return Date{}, 0
		}
		v[k], _ = strconv.Atoi(tok.Text)
	}
	month, day := r.order(v[0], v[1], false)
	if c := (Date{v[2], time.Month(month), day, dayNamed}); c.valid() {
		return c, 3
	}
	return Date{}, 0
}

// named reads "tomorrow" and "christmas eve".
func (r dateReader) named(toks []Token, i int) (Date, int) {
	c := &r.l.calendar
	if id, n := c.days.At(toks, i); n > 0 {
		return r.today.add(c.dayOffsets[id]), n
	}
	k := i
	if _, n := c.the.At(toks, k); n > 0 {
		k += n
	}
	if _, n := c.this.At(toks, k); n > 0 {
		k += n
	}
	if id, n := c.holidays.At(toks, k); n > 0 {
		md := c.holidayDates[id]
		k += n
		if y, yn := r.year(toks, k); yn > 0 {
			return Date{y, time.Month(md[0]), md[1], dayNamed}, k + yn - i
		}
		return r.upcoming(md[0], md[1]), k - i
	}
	return Date{}, 0
}

// Which day with the name of a weekday is meant.
const (
	bareDay = iota
	thisDay
	nextDay
	lastDay
	dayAfterNext
)

// weekday reads "friday", "next friday", "friday after next", "a week from friday", "friday
// next week" and "friday the twelfth". "Next" refers to the week that begins on the coming
// Monday (seed 003, example 1: on Tuesday 2025-12-02 "next Friday" is 2025-12-12).
func (r dateReader) weekday(toks []Token, i int) (Date, int) {
	c := &r.l.calendar
	k, which, weeks := r.beforeWeekday(toks, i)
	if k >= len(toks) {
		return Date{}, 0
	}
	wd, ok := c.weekdays[toks[k].Text]
	if !ok {
		return Date{}, 0
	}
	k++
	if which == bareDay || which == thisDay { // "friday after next", "friday next week", "friday week"
		if _, n := c.afterNext.At(toks, k); n > 0 {
			which, k = dayAfterNext, k+n
		} else if _, n := c.next.At(toks, k); n > 1 {
			which, k = nextDay, k+n
		} else if _, n := c.week.At(toks, k); n > 0 && which == bareDay {
			weeks, k = weeks+1, k+n
		}
	}
	if which == bareDay || which == thisDay { // "friday the twelfth of december"
		for _, form := range [...]func([]Token, int) (Date, int){r.dayMonth, r.monthDay, r.dayAlone} {
			if d, n := form(toks, k); n > 0 {
				return r.onWeekday(d, wd), k + n - i
			}
		}
	}
	_, on := c.on.At(toks, i)
	if (which == bareDay || which == thisDay && on > 0) && weeks == 0 && !r.past && r.week.valid() {
		if d := r.week.add((wd + 6) % 7); !d.Before(r.today) {
			return d, k - i
		}
	}
	return r.today.add(r.daysTo(wd, which) + 7*weeks), k - i
}

// agreeing is the number of months that are searched for a day of the month that falls on
// the given weekday. A later match is more likely a mistake.
const agreeing = 4

// beforeWeekday reads the words that may precede a weekday: which one is meant, and how
// many weeks later.
func (r dateReader) beforeWeekday(toks []Token, i int) (k, which, weeks int) {
	c := &r.l.calendar
	k = i
	if _, n := c.aWeekOn.At(toks, k); n > 1 && k+n < len(toks) {
		k, weeks = k+n, 1
	} else if _, n := c.the.At(toks, k); n > 0 { // "the next friday"
		_, next := c.next.At(toks, k+n)
		_, this := c.this.At(toks, k+n)
		if next > 0 || this > 0 {
			k += n
		}
	}
	for which, t := range [...]*Phrases{dayAfterNext: c.afterNext, nextDay: c.next, lastDay: c.last, thisDay: c.this} {
		if t == nil {
			continue
		}
		if _, n := t.At(toks, k); n > 0 {
			return k + n, which, weeks
		}
	}
	return k, bareDay, weeks
}

// daysTo returns the number of days until the weekday.
func (r dateReader) daysTo(wd, which int) int {
	today, index := (r.today.Weekday()+6)%7, (wd+6)%7 // from Monday
	delta := (index - today + 7) % 7
	switch which {
	case nextDay:
		return 7 - today + index
	case dayAfterNext:
		return 14 - today + index
	case lastDay:
		if delta == 0 {
			return -7
		}
		return delta - 7
	case bareDay:
		if delta == 0 {
			delta = 7
		}
		if r.past {
			delta -= 7
		}
	}
	return delta
}

// onWeekday returns an invalid date if c falls on another weekday. If the month was not
// said ("friday the 13th"), it returns the nearest such day on the weekday.
func (r dateReader) onWeekday(c Date, wd int) Date {
	falls := func(d Date) bool { return d.Weekday() == wd }
	switch {
	case !c.valid():
		return c
	case c.open == monthOpen:
		return r.dayOf(c.day, agreeing, falls)
	case !falls(c):
		return Date{}
	}
	return c
}

// monthDay reads "may third", "december the 12th 2025".
func (r dateReader) monthDay(toks []Token, i int) (Date, int) {
	c := &r.l.calendar
	if i >= len(toks) {
		return Date{}, 0
	}
	month, ok := c.months[toks[i].Text]
	if !ok {
		return Date{}, 0
	}
	k := i + 1
	if _, n := c.the.At(toks, k); n > 0 {
		k += n
	}
	day, n := r.dayNumber(toks, k, true)
	if n == 0 {
		return Date{}, 0
	}
	return r.withYear(toks, i, k+n, month, day)
}

// dayMonth reads "the third of may", "3 may 2026", "am dritten mai", "am
// dritten fünften".
func (r dateReader) dayMonth(toks []Token, i int) (Date, int) {
	c := &r.l.calendar
	k := i
	if _, n := c.the.At(toks, k); n > 0 {
		k += n
	}
	day, n := r.dayNumber(toks, k, true)
	if n == 0 {
		return Date{}, 0
	}
	k += n
	if k < len(toks) && r.l.Numbers.Compound {
		if m, mn := r.l.ordinal(toks, k); mn > 0 && m >= 1 && m <= 12 {
			return r.withYear(toks, i, k+mn, int(m), day)
		}
	}
	if _, n := c.of.At(toks, k); n > 0 {
		k += n
	}
	if k >= len(toks) {
		return Date{}, 0
	}
	month, ok := c.months[toks[k].Text]
	if !ok {
		return Date{}, 0
	}
	return r.withYear(toks, i, k+1, month, day)
}

// withYear completes a month and day with the year that may follow at token k.
func (r dateReader) withYear(toks []Token, i, k, month, day int) (Date, int) {
	if y, n := r.year(toks, k); n > 0 {
		return Date{y, time.Month(month), day, dayNamed}, k + n - i
	}
	if y, n := r.shortYear(toks, k); n > 0 {
		return Date{y, time.Month(month), day, dayNamed}, k + n - i
	}
	return r.upcoming(month, day), k - i
}

// dayAlone reads "the third" and "the 15th".
func (r dateReader) dayAlone(toks []Token, i int) (Date, int) {
	c := &r.l.calendar
	k := i
	if _, n := c.the.At(toks, k); n > 0 {
		k += n
	}
	day, n := r.dayNumber(toks, k, false)
	if n == 0 {
		return Date{}, 0
	}
	k += n
	if _, n := c.of.At(toks, k); n > 0 { // "the third of the month", "of next month"
		m := k + n
		shift, named := 0, false
		if _, nn := c.next.At(toks, m); nn > 0 {
			m, shift, named = m+nn, 1, true
		} else if _, tn := c.the.At(toks, m); tn > 0 {
			m, named = m+tn, true
		} else if _, tn := c.this.At(toks, m); tn > 0 {
			m, named = m+tn, true
		}
		if _, mn := c.month.At(toks, m); mn > 0 && named {
			first := r.month(shift)
			return Date{first.year, first.month, day, dayNamed}, m + mn - i
		}
	}
	return r.dayOf(day, 13, func(Date) bool { return true }), k - i
}

// month returns the first day of a month, shift months after the current one.
func (r dateReader) month(shift int) Date {
	return DateOf(Date{year: r.today.year, month: r.today.month, day: 1}.time().AddDate(0, shift, 0))
}

// dayOf returns the given day in the nearest month, among that many months, in which it
// exists and fits.
func (r dateReader) dayOf(day, months int, fits func(Date) bool) Date {
	for shift := range months {
		if r.past {
			shift = -shift
		}
		first := r.month(shift)
		d := Date{first.year, first.month, day, monthOpen}
		if d.valid() && fits(d) && (r.past && d.Before(r.today.add(1)) || !r.past && !d.Before(r.today)) {
			return d
		}
	}
	return Date{}
}

// dayNumber reads a day of the month. If plain is false, only ordinals count.
func (r dateReader) dayNumber(toks []Token, k int, plain bool) (int, int) {
	if v, n := r.l.ordinal(toks, k); n > 0 && v >= 1 && v <= 31 {
		return int(v), n
	}
	if !plain || k >= len(toks) {
		return 0, 0
	}
	if t := toks[k].Text; len(t) <= 2 && AllDigits(t) {
		v, _ := strconv.Atoi(t)
		if v >= 1 && v <= 31 {
			return v, 1
		}
		return 0, 0
	}
	if v, n := r.l.cardinal(toks, k); n > 0 && n <= 2 && v >= 1 && v <= 31 && v == float64(int(v)) {
		return int(v), n
	}
	return 0, 0
}
