package value

import (
	"time"
)

// This file reads dates that are relative to another day.

// relative reads "in three days", "two weeks from friday", "a week ago".
func (r dateReader) relative(toks []Token, i int) (Date, int) {
	c := &r.l.calendar
	k, sign, anchored := i, 1, false
	if _, n := c.in.At(toks, k); n > 0 {
		k, anchored = k+n, true
	} else if _, n := c.agoBefore.At(toks, k); n > 0 {
		k, sign, anchored = k+n, -1, true
	}
	count, n := r.count(toks, k)
	if n == 0 || k+n >= len(toks) {
		return Date{}, 0
	}
	k += n
	unit, ok := c.units[toks[k].Text]
	if !ok {
		return Date{}, 0
	}
	k++
	base := r.today
	if _, n := c.fromNow.At(toks, k); n > 0 {
		k, anchored = k+n, true
	} else if _, n := c.ago.At(toks, k); n > 0 && !anchored {
		k, sign, anchored = k+n, -1, true
	} else if _, n := c.after.At(toks, k); n > 0 {
		if d, dn := r.simple(toks, k+n); dn > 0 && d.valid() && !r.stretch(toks, i, k, k+n) {
			k, base, anchored = k+n+dn, d, true
		}
	}
	if !anchored {
		return Date{}, 0
	}
	switch unit {
	case 30:
		return DateOf(base.time().AddDate(0, sign*count, 0)), k - i
	case 365:
		return DateOf(base.time().AddDate(sign*count, 0, 0)), k - i
	default:
		return base.add(sign * count * unit), k - i
	}
}

// stretch reports whether the words from token i say how long something lasts, and "from" at token
// k and a day at token j when it begins: "five days from the 3rd of May", "for 7 days from Monday".
// "Two weeks from Friday" is a day.
func (r dateReader) stretch(toks []Token, i, k, j int) bool {
	if r.l.calendar.lasting.EndsAt(toks, i) > 0 {
		return true
	}
	_, begins := r.l.RangeFrom.At(toks, k)
	_, weekday := r.weekday(toks, j)
	_, named := r.named(toks, j)
	return begins > 0 && weekday+named == 0
}

// Lasts reads how long something lasts that begins on a day, at token i: "for 7 days" in "for 7 days
// from Monday". It returns the number and the number of tokens, or 0 tokens.
func (r Reader) Lasts(i int) (number any, n int) {
	c, toks := &r.Lang.calendar, r.Toks
	_, n = c.lasting.At(toks, i)
	if n == 0 {
		return nil, 0
	}
	dates := dateReader{l: r.Lang, today: DateOf(r.Now)}
	count, m := dates.count(toks, i+n)
	k := i + n + m
	if m == 0 || k+1 >= len(toks) || c.units[toks[k].Text] == 0 {
		return nil, 0
	}
	if _, begins := c.after.At(toks, k+1); begins == 0 {
		return nil, 0
	}
	return Number(float64(count)), k + 1 - i
}

// count reads a number or an article.
func (r dateReader) count(toks []Token, k int) (int, int) {
	if k >= len(toks) {
		return 0, 0
	}
	if v, n := r.l.cardinal(toks, k); n > 0 && v >= 0 && v <= 5000 && v == float64(int(v)) {
		return int(v), n
	}
	if r.l.Numbers.One[toks[k].Text] {
		return 1, 1
	}
	return 0, 0
}

// simple reads a date that may follow "two weeks from".
func (r dateReader) simple(toks []Token, i int) (Date, int) {
	if i >= len(toks) {
		return Date{}, 0
	}
	for _, form := range [...]func([]Token, int) (Date, int){r.named, r.weekday, r.monthDay, r.dayMonth} {
		if d, n := form(toks, i); n > 0 {
			return d, n
		}
	}
	return Date{}, 0
}

// edge reads "the end of the month" and "the beginning of next year".
func (r dateReader) edge(toks []Token, i int) (Date, int) {
	c := &r.l.calendar
	end := true
	_, n := c.endOf.At(toks, i)
	if n == 0 {
		if _, n = c.startOf.At(toks, i); n == 0 {
			return Date{}, 0
		}
		end = false
	}
	k, shift := i+n, 0
	if _, n := c.next.At(toks, k); n > 0 {
		k, shift = k+n, 1
	} else if _, n := c.this.At(toks, k); n > 0 {
		k += n
	} else if _, n := c.the.At(toks, k); n > 0 {
		k += n
	}
	if k >= len(toks) {
		return Date{}, 0
	}
	first := r.month(0).time()
	span := 1
	if _, n := c.month.At(toks, k); n > 0 {
		first, k = first.AddDate(0, shift, 0), k+n
	} else if _, n := c.year.At(toks, k); n > 0 {
		first, span, k = Date{year: r.today.year + shift, month: 1, day: 1}.time(), 12, k+n
	} else if m, ok := c.months[toks[k].Text]; ok {
		u := r.upcoming(m, 1)
		if time.Month(m) == r.today.month {
			u = r.month(0)
		}
		first, k = u.time(), k+1
	} else {
		return Date{}, 0
	}
	if end {
		return DateOf(first.AddDate(0, span, -1)), k - i
	}
	return DateOf(first), k - i
}
