package value

import (
	"strconv"
	"strings"
	"time"
)

// clockData is the "clock" part of a language file.
type clockData struct {
	At            []string       `json:"at"`
	Limits        []string       `json:"limits"` // before a time that is only a limit: "by three"
	Past          []string       `json:"past"`
	To            []string       `json:"to"`
	HalfPast      []string       `json:"half_past"`
	HalfTo        []string       `json:"half_to"` // "halb vier" is half past three
	Quarter       []string       `json:"quarter"`
	ThreeQuarters []string       `json:"three_quarters"`
	OClock        []string       `json:"oclock"`
	Separator     []string       `json:"separator"` // between hour and minute: "drei Uhr dreißig"
	AM            []string       `json:"am"`
	PM            []string       `json:"pm"`
	Night         []string       `json:"night"`
	Noon          []string       `json:"noon"`
	Midnight      []string       `json:"midnight"`
	Now           []string       `json:"now"`
	Units         map[string]int `json:"units"` // minutes
	HalfHour      []string       `json:"half_hour"`
	QuarterHour   []string       `json:"quarter_hour"`
	Oh            []string       `json:"oh"`
}

// clockWords reads times of day from tokens. It is immutable.
type clockWords struct {
	At, Limits, past, to, halfPast, halfTo, quarter, threeQuarters *Phrases
	oclock, separator, noon, midnight, now                         *Phrases
	halfHour, quarterHour                                          *Phrases
	part                                                           *Phrases // 0 am, 1 pm, 2 night
	units                                                          map[string]int
	oh                                                             map[string]bool
}

func (d clockData) compile() clockWords {
	return clockWords{
		At: NewPhrases(d.At), Limits: NewPhrases(d.Limits), past: NewPhrases(d.Past), to: NewPhrases(d.To),
		halfPast: NewPhrases(d.HalfPast), halfTo: NewPhrases(d.HalfTo),
		quarter: NewPhrases(d.Quarter), threeQuarters: NewPhrases(d.ThreeQuarters),
		oclock: NewPhrases(d.OClock), separator: NewPhrases(d.Separator),
		noon: NewPhrases(d.Noon), midnight: NewPhrases(d.Midnight), now: NewPhrases(d.Now),
		halfHour: NewPhrases(d.HalfHour), quarterHour: NewPhrases(d.QuarterHour),
		part: NewPhrases(d.AM, d.PM, d.Night), units: foldMap(d.Units), oh: wordSet(d.Oh),
	}
}

// clockTime is a time of day in minutes. Unless it is exact, the half of the day is
// unknown.
type clockTime struct {
	minutes int
	exact   bool // whether the half of the day is known
}

// String returns the time as "15:30".
func (c clockTime) String() string {
	var b [5]byte
	out := appendPadded(b[:0], c.minutes/60, 2)
	out = append(out, ':')
	return string(appendPadded(out, c.minutes%60, 2))
}

// ParseTime parses a time such as "15:30" and returns it in minutes.
func ParseTime(s string) (int, bool) {
	if len(s) != 5 || s[2] != ':' || !AllDigits(s[:2]) || !AllDigits(s[3:]) {
		return 0, false
	}
	h, _ := strconv.Atoi(s[:2])
	m, _ := strconv.Atoi(s[3:])
	return h*60 + m, h < 24 && m < 60
}

// resolve chooses the half of the day if it was not said: the one within the limits, and
// otherwise the one that people usually mean: seven to noon in the morning, other times
// after noon.
func (c clockTime) resolve(low, high int) clockTime {
	if c.exact {
		return c
	}
	first := c.minutes % 720
	second := first + 720
	if low >= 0 || high >= 0 {
		in := func(m int) bool { return (low < 0 || m >= low) && (high < 0 || m <= high) }
		if in(first) != in(second) {
			if in(first) {
				return clockTime{first, true}
			}
			return clockTime{second, true}
		}
	}
	if first >= 7*60 {
		return clockTime{first, true}
	}
	return clockTime{second, true}
}

// timeReader finds times of day. If loose is true, a bare number is an hour.
type timeReader struct {
	l     *Language
	now   time.Time
	loose bool
}

// time returns the time of day that starts at token i and its length.
func (r timeReader) time(toks []Token, i int) (c clockTime, n int) {
	if i >= len(toks) {
		return clockTime{}, 0
	}
	w := &r.l.Clock
	if id, n := w.part.At(toks, i); n > 0 { // "afternoon at three"
		k := i + n
		if _, an := w.At.At(toks, k); an > 0 {
			k += an
		}
		if c, cn := r.dial(toks, k, true); cn > 0 {
			return partOfDay(c, id), k + cn - i
		}
	}
	c, n = r.dial(toks, i, r.loose || i > 0 && r.atBefore(toks, i))
	if n == 0 {
		// A bare hour counts if the part of the day follows.
		if b, bn := r.dial(toks, i, true); bn > 0 {
			if id, pn := w.part.At(toks, i+bn); pn > 0 {
				return partOfDay(b, id), bn + pn
			}
		}
		return r.fromNow(toks, i)
	}
	if id, pn := w.part.At(toks, i+n); pn > 0 {
		return partOfDay(c, id), n + pn
	}
	return c, n
}

func (r timeReader) atBefore(toks []Token, i int) bool {
	n := r.l.Clock.At.EndsAt(toks, i)
	return n > 0
}

// lasts reports whether an hour at token i, with the word at token k, is a length of time and not a
// time: "two hours", but not "sixteen hours" and "at two hours".
func (r timeReader) lasts(toks []Token, i, k, hour int) bool {
	_, unit := r.l.Clock.units[toks[k].Text]
	return unit && hour <= 12 && !(i > 0 && r.atBefore(toks, i))
}

// partOfDay applies words such as "in the afternoon".
func partOfDay(c clockTime, part int) clockTime {
	if c.exact {
		return c
	}
	m := c.minutes % 720
	switch part {
	case 0:
		return clockTime{m, true}
	case 1:
		return clockTime{m + 720, true}
	default: // at night
		if m < 5*60 {
			return clockTime{m, true}
		}
		return clockTime{m + 720, true}
	}
}

// dial reads a time as clocks show it.
func (r timeReader) dial(toks []Token, i int, loose bool) (clockTime, int) {
	w := &r.l.Clock
	if i >= len(toks) {
		return clockTime{}, 0
	}
	if _, n := w.noon.At(toks, i); n > 0 {
		return clockTime{720, true}, n
	}
	if _, n := w.midnight.At(toks, i); n > 0 {
		return clockTime{0, true}, n
	}
	if c, n := r.shown(toks, i); n > 0 {
		return c, n
	}
	if c, n := r.relativeToHour(toks, i); n > 0 {
		return c, n
	}
	h, n := r.hour(toks, i)
	if n == 0 {
		return clockTime{}, 0
	}
	k := i + n
	if _, sn := w.separator.At(toks, k); sn > 0 { // "drei Uhr dreißig"
		k += sn
		if m, mn := r.minute(toks, k); mn > 0 {
			return hourTime(h, m), k + mn - i
		}
		return hourTime(h, 0), k - i
	}
	if _, on := w.oclock.At(toks, k); on > 0 && !r.lasts(toks, i, k, h) {
		return hourTime(h, 0), k + on - i
	}
	if m, mn := r.minute(toks, k); mn > 0 && (loose || m >= 10 || mn == 2) { // "three thirty", "three oh five"
		return hourTime(h, m), k + mn - i
	}
	if loose {
		return hourTime(h, 0), k - i
	}
	return clockTime{}, 0
}

func hourTime(h, m int) clockTime {
	return clockTime{minutes: (h*60 + m) % 1440, exact: h > 12 || h == 0}
}

// shown reads "3:30", "15:30", "3pm", "3:30pm".
func (r timeReader) shown(toks []Token, i int) (clockTime, int) {
	t := toks[i].Text
	if t == "" || !IsDigit(t[0]) {
		return clockTime{}, 0
	}
	part := -1
	for p, suffix := range [...]string{"am", "pm"} {
		if head, ok := strings.CutSuffix(t, suffix); ok {
			t, part = strings.TrimRight(head, "."), p
		}
	}
	h, m, found := strings.Cut(t, ":")
	if !found && (part >= 0 || r.l.Data.DayFirst) {
		h, m, found = strings.Cut(t, ".")
	}
	if !found && part < 0 {
		return clockTime{}, 0
	}
	if !AllDigits(h) || len(h) > 2 || found && (!AllDigits(m) || len(m) != 2) {
		return clockTime{}, 0
	}
	hour, _ := strconv.Atoi(h)
	minute := 0
	if found {
		minute, _ = strconv.Atoi(m)
	}
	if hour > 24 || minute > 59 {
		return clockTime{}, 0
	}
	c := hourTime(hour%24, minute)
	if found && len(h) == 2 && h[0] == '0' {
		c.exact = true
	}
	if part >= 0 {
		c = partOfDay(c, part)
	}
	return c, 1
}

// relativeToHour reads "half past three", "quarter to four", "halb vier",
// "fünf vor halb vier", "twenty five to six".
func (r timeReader) relativeToHour(toks []Token, i int) (clockTime, int) {
	w := &r.l.Clock
	shift := func(k, minutes int) (clockTime, int) {
		h, hn := r.hour(toks, k)
		if hn == 0 {
			return clockTime{}, 0
		}
		k += hn
		if _, on := w.oclock.At(toks, k); on > 0 {
			k += on
		}
		c := hourTime(h, 0)
		c.minutes = (c.minutes + minutes + 1440) % 1440
		return c, k - i
	}
	if _, n := w.halfPast.At(toks, i); n > 0 {
		return shift(i+n, 30)
	}
	if _, n := w.halfTo.At(toks, i); n > 0 {
		return shift(i+n, -30)
	}
	var minutes, k int
	if _, n := w.threeQuarters.At(toks, i); n > 0 {
		if c, cn := shift(i+n, -15); cn > 0 {
			return c, cn
		}
	}
	if _, n := w.quarter.At(toks, i); n > 0 {
		minutes, k = 15, i+n
	} else if m, n := r.minute(toks, i); n > 0 && m > 0 && m < 60 {
		minutes, k = m, i+n
		if k < len(toks) && w.units[toks[k].Text] == 1 {
			k++
		}
	} else {
		return clockTime{}, 0
	}
	sign := 0
	if _, n := w.past.At(toks, k); n > 0 {
		sign, k = 1, k+n
	} else if _, n := w.to.At(toks, k); n > 0 {
		sign, k = -1, k+n
	} else if minutes == 15 && len(w.halfTo.IDs) > 0 { // "viertel vier"
		return shift(k, -45)
	}
	if sign == 0 {
		return clockTime{}, 0
	}
	if _, n := w.halfTo.At(toks, k); n > 0 {
		return shift(k+n, -30+sign*minutes)
	}
	return shift(k, sign*minutes)
}

// hour reads an hour of the day.
func (r timeReader) hour(toks []Token, k int) (int, int) {
	v, n := r.small(toks, k)
	if n > 0 && v <= 24 {
		return v % 24, n
	}
	if n == 2 { // "twenty three" is an hour, "twenty five" is not
		return 0, 0
	}
	return 0, 0
}

// minute reads minutes: a number below sixty, or "oh five".
func (r timeReader) minute(toks []Token, k int) (int, int) {
	if k >= len(toks) {
		return 0, 0
	}
	if r.l.Clock.oh[toks[k].Text] && k+1 < len(toks) {
		if v, n := r.small(toks, k+1); n > 0 && v < 10 {
			return v, n + 1
		}
	}
	v, n := r.small(toks, k)
	if n > 0 && v < 60 {
		return v, n
	}
	return 0, 0
}

func (r timeReader) small(toks []Token, k int) (int, int) {
	if k >= len(toks) {
		return 0, 0
	}
	t := toks[k].Text
	if IsDigit(t[0]) {
		if len(t) <= 2 && AllDigits(t) {
			v, _ := strconv.Atoi(t)
			return v, 1
		}
		return 0, 0
	}
	v, n := r.l.Numbers.pair(toks, k)
	if n == 0 || v > 99 {
		return 0, 0
	}
	return int(v), n
}

// fromNow reads "now", "in two hours" and "in half an hour".
func (r timeReader) fromNow(toks []Token, i int) (clockTime, int) {
	w, c := &r.l.Clock, &r.l.calendar
	at := func(minutes int) clockTime {
		t := r.now.Add(time.Duration(minutes) * time.Minute)
		return clockTime{t.Hour()*60 + t.Minute(), true}
	}
	if _, n := w.now.At(toks, i); n > 0 {
		return at(0), n
	}
	_, n := c.in.At(toks, i)
	if n == 0 {
		return clockTime{}, 0
	}
	k := i + n
	if _, hn := w.halfHour.At(toks, k); hn > 0 {
		return at(30), k + hn - i
	}
	if _, hn := w.quarterHour.At(toks, k); hn > 0 {
		return at(15), k + hn - i
	}
	count, cn := dateReader{l: r.l}.count(toks, k)
	if cn == 0 || k+cn >= len(toks) || count > 1440 {
		return clockTime{}, 0
	}
	k += cn
	unit, ok := w.units[toks[k].Text]
	if !ok {
		return clockTime{}, 0
	}
	return at(count * unit), k + 1 - i
}
