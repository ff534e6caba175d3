package dialog

import (
	"strconv"
	"strings"
	"time"
)

func (c civil) weekday() int { return int(c.time().Weekday()) }

// dateReader finds dates relative to a day.
type dateReader struct {
	l     *language
	today civil
	past  bool // days without a year lie in the past: dates of birth
}

// date finds the longest date that starts at token i.
func (r dateReader) date(toks []token, i int) (c civil, n int) {
	if i >= len(toks) {
		return civil{}, 0
	}
	for _, form := range [...]func([]token, int) (civil, int){
		r.written, r.named, r.weekday, r.monthDay, r.dayMonth, r.dayAlone, r.relative, r.edge,
	} {
		if d, m := form(toks, i); m > n && d.valid() {
			c, n = d, m
		}
	}
	return c, n
}

// upcoming puts a day and month without a year into the nearest year.
func (r dateReader) upcoming(month, day int) civil {
	c := civil{r.today.year, time.Month(month), day}
	for range 8 { // the 29th of February
		switch {
		case !c.valid():
		case r.past && c.before(r.today.add(1)), !r.past && !c.before(r.today):
			return c
		}
		if r.past {
			c.year--
		} else {
			c.year++
		}
	}
	return civil{}
}

// written reads "2025-12-12", "12/5", "5.12.2025".
func (r dateReader) written(toks []token, i int) (civil, int) {
	t := toks[i].text
	if len(t) < 3 || !isDigit(t[0]) {
		return civil{}, 0
	}
	if c, ok := parseCivil(t); ok {
		return c, 1
	}
	sep := strings.IndexAny(t, "/.-")
	if sep < 0 {
		return civil{}, 0
	}
	parts := strings.Split(strings.TrimSuffix(t, "."), t[sep:sep+1])
	var v [3]int
	if len(parts) < 2 || len(parts) > 3 {
		return civil{}, 0
	}
	for k, p := range parts {
		if !allDigits(p) || len(p) > 4 || k < 2 && len(p) > 2 {
			return civil{}, 0
		}
		v[k], _ = strconv.Atoi(p)
	}
	if t[sep] == '.' && !r.l.data.DayFirst && len(parts) == 2 {
		return civil{}, 0 // "3.5" is a number
	}
	month, day := v[0], v[1]
	if r.l.data.DayFirst || t[sep] == '.' || month > 12 {
		month, day = v[1], v[0]
	}
	if len(parts) == 2 {
		return r.upcoming(month, day), 1
	}
	year := v[2]
	if len(parts[2]) <= 2 {
		year = r.century(year)
	}
	return civil{year, time.Month(month), day}, 1
}

// century completes a year of two digits.
func (r dateReader) century(yy int) int {
	year := r.today.year/100*100 + yy
	if r.past && year > r.today.year {
		year -= 100
	} else if !r.past && year > r.today.year+50 {
		year -= 100
	}
	return year
}

// named reads "tomorrow" and "christmas eve".
func (r dateReader) named(toks []token, i int) (civil, int) {
	c := &r.l.calendar
	if id, n := c.days.at(toks, i); n > 0 {
		return r.today.add(c.dayOffsets[id]), n
	}
	k := i
	if _, n := c.the.at(toks, k); n > 0 {
		k += n
	}
	if _, n := c.this.at(toks, k); n > 0 {
		k += n
	}
	if id, n := c.holidays.at(toks, k); n > 0 {
		md := c.holidayDates[id]
		k += n
		if y, yn := r.year(toks, k); yn > 0 {
			return civil{y, time.Month(md[0]), md[1]}, k + yn - i
		}
		return r.upcoming(md[0], md[1]), k - i
	}
	return civil{}, 0
}

// Which day of that name a weekday is.
const (
	bareDay = iota
	thisDay
	nextDay
	lastDay
	dayAfterNext
)

// weekday reads "friday", "next friday", "friday after next", "a week from
// friday", "friday next week" and "friday the twelfth". Next means the week
// that begins on the coming Monday (seed 003, example 1: on Tuesday 2025-12-02
// "next Friday" is 2025-12-12).
func (r dateReader) weekday(toks []token, i int) (civil, int) {
	c := &r.l.calendar
	k, which, weeks := r.beforeWeekday(toks, i)
	if k >= len(toks) {
		return civil{}, 0
	}
	wd, ok := c.weekdays[toks[k].text]
	if !ok {
		_, n := c.weekend.at(toks, k)
		if n == 0 || which == bareDay {
			return civil{}, 0
		}
		wd, k = 6, k+n-1
	}
	k++
	if which == bareDay || which == thisDay { // "friday after next", "friday next week", "friday week"
		if _, n := c.afterNext.at(toks, k); n > 0 {
			which, k = dayAfterNext, k+n
		} else if _, n := c.next.at(toks, k); n > 1 {
			which, k = nextDay, k+n
		} else if _, n := c.week.at(toks, k); n > 0 && which == bareDay {
			weeks, k = weeks+1, k+n
		}
	}
	if which == bareDay || which == thisDay { // "friday the twelfth of december"
		for _, form := range [...]func([]token, int) (civil, int){r.dayMonth, r.monthDay, r.dayAlone} {
			if d, n := form(toks, k); n > 0 {
				return r.onWeekday(d, wd), k + n - i
			}
		}
	}
	return r.today.add(r.daysTo(wd, which) + 7*weeks), k - i
}

// beforeWeekday reads what may stand before the name of a day: which one is
// meant, and how many weeks later.
func (r dateReader) beforeWeekday(toks []token, i int) (k, which, weeks int) {
	c := &r.l.calendar
	k = i
	if _, n := c.aWeekOn.at(toks, k); n > 1 && k+n < len(toks) {
		k, weeks = k+n, 1
	} else if _, n := c.the.at(toks, k); n > 0 { // "the next friday"
		_, next := c.next.at(toks, k+n)
		_, this := c.this.at(toks, k+n)
		if next > 0 || this > 0 {
			k += n
		}
	}
	for which, t := range [...]*phraseTable{dayAfterNext: c.afterNext, nextDay: c.next, lastDay: c.last, thisDay: c.this} {
		if t == nil {
			continue
		}
		if _, n := t.at(toks, k); n > 0 {
			return k + n, which, weeks
		}
	}
	return k, bareDay, weeks
}

// daysTo is how far away the weekday is.
func (r dateReader) daysTo(wd, which int) int {
	today, index := (r.today.weekday()+6)%7, (wd+6)%7 // from Monday
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

// onWeekday refuses a date that falls on another day of the week than was said.
func (r dateReader) onWeekday(c civil, wd int) civil {
	if c.weekday() != wd {
		return civil{}
	}
	return c
}

// monthDay reads "may third", "december the 12th 2025".
func (r dateReader) monthDay(toks []token, i int) (civil, int) {
	c := &r.l.calendar
	if i >= len(toks) {
		return civil{}, 0
	}
	month, ok := c.months[toks[i].text]
	if !ok {
		return civil{}, 0
	}
	k := i + 1
	if _, n := c.the.at(toks, k); n > 0 {
		k += n
	}
	day, n := r.dayNumber(toks, k, true)
	if n == 0 {
		return civil{}, 0
	}
	return r.withYear(toks, i, k+n, month, day)
}

// dayMonth reads "the third of may", "3 may 2026", "am dritten mai", "am
// dritten fünften".
func (r dateReader) dayMonth(toks []token, i int) (civil, int) {
	c := &r.l.calendar
	k := i
	if _, n := c.the.at(toks, k); n > 0 {
		k += n
	}
	day, n := r.dayNumber(toks, k, true)
	if n == 0 {
		return civil{}, 0
	}
	k += n
	if k < len(toks) && r.l.numbers.compound {
		if m, mn := r.l.ordinal(toks, k); mn > 0 && m >= 1 && m <= 12 {
			return r.withYear(toks, i, k+mn, int(m), day)
		}
	}
	if _, n := c.of.at(toks, k); n > 0 {
		k += n
	}
	if k >= len(toks) {
		return civil{}, 0
	}
	month, ok := c.months[toks[k].text]
	if !ok {
		return civil{}, 0
	}
	return r.withYear(toks, i, k+1, month, day)
}

// withYear completes a day and month with a year that may follow at token k.
func (r dateReader) withYear(toks []token, i, k, month, day int) (civil, int) {
	if y, n := r.year(toks, k); n > 0 {
		return civil{y, time.Month(month), day}, k + n - i
	}
	return r.upcoming(month, day), k - i
}

// dayAlone reads "the third" and "the 15th".
func (r dateReader) dayAlone(toks []token, i int) (civil, int) {
	c := &r.l.calendar
	k := i
	if _, n := c.the.at(toks, k); n > 0 {
		k += n
	}
	day, n := r.dayNumber(toks, k, false)
	if n == 0 {
		return civil{}, 0
	}
	k += n
	if _, n := c.of.at(toks, k); n > 0 { // "the third of the month", "of next month"
		m := k + n
		shift, named := 0, false
		if _, nn := c.next.at(toks, m); nn > 0 {
			m, shift, named = m+nn, 1, true
		} else if _, tn := c.the.at(toks, m); tn > 0 {
			m, named = m+tn, true
		} else if _, tn := c.this.at(toks, m); tn > 0 {
			m, named = m+tn, true
		}
		if _, mn := c.month.at(toks, m); mn > 0 && named {
			first := civil{r.today.year, r.today.month, 1}.time().AddDate(0, shift, 0)
			return civil{first.Year(), first.Month(), day}, m + mn - i
		}
	}
	for shift := range 13 {
		first := civil{r.today.year, r.today.month, 1}.time()
		if r.past {
			first = first.AddDate(0, -shift, 0)
		} else {
			first = first.AddDate(0, shift, 0)
		}
		d := civil{first.Year(), first.Month(), day}
		if d.valid() && (r.past && d.before(r.today.add(1)) || !r.past && !d.before(r.today)) {
			return d, k - i
		}
	}
	return civil{}, 0
}

// dayNumber reads a day of the month; plain numbers only where a month stands
// beside them.
func (r dateReader) dayNumber(toks []token, k int, plain bool) (int, int) {
	if v, n := r.l.ordinal(toks, k); n > 0 && v >= 1 && v <= 31 {
		return int(v), n
	}
	if !plain || k >= len(toks) {
		return 0, 0
	}
	if t := toks[k].text; len(t) <= 2 && allDigits(t) {
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

// year reads "2026", "twenty twenty six", "nineteen eighty four", "two
// thousand six".
func (r dateReader) year(toks []token, k int) (int, int) {
	if k >= len(toks) {
		return 0, 0
	}
	if t := toks[k].text; len(t) == 4 && allDigits(t) {
		y, _ := strconv.Atoi(t)
		if y >= 1900 && y <= 2200 {
			return y, 1
		}
		return 0, 0
	}
	v, n := r.l.cardinal(toks, k)
	if n > 0 && v >= 1900 && v <= 2200 && v == float64(int(v)) {
		return int(v), n
	}
	w := &r.l.numbers
	if w.compound || n == 0 {
		return 0, 0
	}
	century, ok := w.units[toks[k].text]
	if !ok {
		century = w.tens[toks[k].text]
	}
	if century != 19 && century != 20 && century != 21 || k+1 >= len(toks) {
		return 0, 0
	}
	if d := w.digitWords[toks[k+1].text]; d == "0" && k+2 < len(toks) {
		if u, ok := w.units[toks[k+2].text]; ok && u >= 1 && u <= 9 {
			return int(century*100 + u), 3
		}
	}
	if rest, rn := w.pair(toks, k+1); rn > 0 && rest >= 10 && rest <= 99 {
		return int(century*100 + rest), 1 + rn
	}
	return 0, 0
}
