package value

import (
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"
)

// calendarData is the "calendar" part of a language file.
type calendarData struct {
	Months    map[string]int    `json:"months"`
	Weekdays  map[string]int    `json:"weekdays"` // 0 is Sunday
	Days      map[string]int    `json:"days"`     // days from today
	Holidays  map[string]string `json:"holidays"` // month-day
	Next      []string          `json:"next"`
	This      []string          `json:"this"`
	On        []string          `json:"on"` // words of This that do not refer to a week
	Last      []string          `json:"last"`
	The       []string          `json:"the"`
	Of        []string          `json:"of"`
	In        []string          `json:"in"`
	Units     map[string]int    `json:"units"` // 1 day, 7 week, 14, 30 month, 365 year
	FromNow   []string          `json:"from_now"`
	After     []string          `json:"after"`
	Lasting   []string          `json:"lasting"` // before how long something lasts
	Ago       []string          `json:"ago"`
	AgoBefore []string          `json:"ago_before"`
	AfterNext []string          `json:"after_next"`
	AWeekOn   []string          `json:"a_week_on"`
	Week      []string          `json:"week"`
	Month     []string          `json:"month"`
	Year      []string          `json:"year"`
	EndOf     []string          `json:"end_of"`
	StartOf   []string          `json:"start_of"`
}

// calendarWords reads dates from tokens. It is immutable.
type calendarWords struct {
	months, weekdays, units           map[string]int
	words                             []string // for spelling
	days                              *Phrases
	dayOffsets                        []int
	holidays                          *Phrases
	holidayDates                      [][2]int
	next, this, on, last, the, of, in *Phrases
	fromNow, after, ago, agoBefore    *Phrases
	afterNext, aWeekOn, month, year   *Phrases
	week, endOf, startOf, lasting     *Phrases
}

func (d calendarData) compile() calendarWords {
	c := calendarWords{
		months: foldMap(d.Months), weekdays: foldMap(d.Weekdays), units: foldMap(d.Units),
		days: NewPhrases(), holidays: NewPhrases(),
		next: NewPhrases(d.Next), this: NewPhrases(d.This), on: NewPhrases(d.On), last: NewPhrases(d.Last),
		the: NewPhrases(d.The), of: NewPhrases(d.Of), in: NewPhrases(d.In),
		fromNow: NewPhrases(d.FromNow), after: NewPhrases(d.After),
		ago: NewPhrases(d.Ago), agoBefore: NewPhrases(d.AgoBefore),
		afterNext: NewPhrases(d.AfterNext), aWeekOn: NewPhrases(d.AWeekOn),
		month: NewPhrases(d.Month), year: NewPhrases(d.Year),
		lasting: NewPhrases(d.Lasting),
		week:    NewPhrases(d.Week), endOf: NewPhrases(d.EndOf), startOf: NewPhrases(d.StartOf),
	}
	for _, m := range [...]map[string]int{d.Months, d.Weekdays, d.Days} {
		for _, k := range slices.Sorted(maps.Keys(m)) {
			if w := FoldText(k); len(w) >= 5 && !strings.Contains(w, " ") {
				c.words = append(c.words, w)
			}
		}
	}
	for _, k := range slices.Sorted(maps.Keys(d.Days)) {
		c.days.Add(k, len(c.dayOffsets))
		c.dayOffsets = append(c.dayOffsets, d.Days[k])
	}
	for _, k := range slices.Sorted(maps.Keys(d.Holidays)) {
		m, day, _ := strings.Cut(d.Holidays[k], "-")
		mi, _ := strconv.Atoi(m)
		di, _ := strconv.Atoi(day)
		c.holidays.Add(k, len(c.holidayDates))
		c.holidayDates = append(c.holidayDates, [2]int{mi, di})
	}
	return c
}

// spelling returns the calendar word that differs from w by one typing error, or by two if
// it is long. It returns w if it is a calendar word, and "" if there is none or more than
// one.
func (c *calendarWords) spelling(w string) string {
	best := ""
	for _, known := range c.words {
		errors := 1
		if len(known) >= 9 {
			errors = 2
		}
		switch {
		case known == w:
			return w
		case w[0] == known[0] && EditDistance(w, known, errors) <= errors:
			if best != "" {
				return ""
			}
			best = known
		}
	}
	return best
}

// Date is a calendar day.
type Date struct {
	year  int
	month time.Month
	day   int
	open  open
}

// open says which parts of a date were not said and were filled in.
type open int

const (
	counted   open = iota // all parts: the day is relative to another day
	dayNamed              // none
	yearOpen              // "the 4th of May"
	monthOpen             // "the 4th"
)

// DateOf returns the day of t in its time zone.
func DateOf(t time.Time) Date {
	y, m, d := t.Date()
	return Date{year: y, month: m, day: d}
}

func (c Date) time() time.Time { return time.Date(c.year, c.month, c.day, 0, 0, 0, 0, time.UTC) }

func (c Date) add(days int) Date { return DateOf(c.time().AddDate(0, 0, days)) }

// Before reports whether c is before o.
func (c Date) Before(o Date) bool { return c.time().Before(o.time()) }

// valid reports whether the day exists and the year is from 1850 to 2200.
func (c Date) valid() bool {
	if c.year < 1850 || c.year > 2200 {
		return false
	}
	y, m, d := c.time().Date()
	return y == c.year && m == c.month && d == c.day
}

// String returns the day in ISO 8601.
func (c Date) String() string {
	var b [10]byte
	out := appendPadded(b[:0], c.year, 4)
	out = append(out, '-')
	out = appendPadded(out, int(c.month), 2)
	out = append(out, '-')
	return string(appendPadded(out, c.day, 2))
}

func appendPadded(b []byte, v, width int) []byte {
	s := strconv.Itoa(v)
	for range width - len(s) {
		b = append(b, '0')
	}
	return append(b, s...)
}

// ParseDate parses a day in ISO 8601.
func ParseDate(s string) (Date, bool) {
	if len(s) != 10 || s[4] != '-' || s[7] != '-' || !AllDigits(s[:4]) || !AllDigits(s[5:7]) || !AllDigits(s[8:]) {
		return Date{}, false
	}
	y, _ := strconv.Atoi(s[:4])
	m, _ := strconv.Atoi(s[5:7])
	d, _ := strconv.Atoi(s[8:])
	c := Date{y, time.Month(m), d, dayNamed}
	return c, c.valid()
}
