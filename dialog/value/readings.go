package value

// readings caches the dates and times of one slice of tokens, since every slot that has
// them looks for them at every word.
type readings struct {
	first *Token
	n     int
	dates [2][]dateReading // by token; future dates and past dates
	times [2][]timeReading // by token; strict and loose
}

type dateReading struct {
	c    Date
	n    int
	done bool
}

type timeReading struct {
	c    clockTime
	n    int
	done bool
}

// Keep caches the dates and times of the message from now on.
func (r *Reader) Keep() {
	if len(r.Toks) > 0 {
		r.seen = &readings{first: &r.Toks[0], n: len(r.Toks)}
	}
}

// kept reports whether the readings of the tokens are cached.
func (r Reader) kept(toks []Token) bool {
	return r.seen != nil && len(toks) == r.seen.n && &toks[0] == r.seen.first
}

// maxDate is the maximum number of words in a date: "friday the thirty first of december
// nineteen ninety nine".
const maxDate = 10

// dateAt reads a date at token i. The words of a day that does not exist are not a date,
// and neither is a part of them: "one february" in "thirty one february".
func (r Reader) dateAt(past bool, toks []Token, i int) (Date, int) {
	c, n := r.readDate(past, toks, i)
	if n == 0 || !c.valid() {
		return Date{}, 0
	}
	for k := max(0, i-maxDate); k < i; k++ {
		if o, m := r.readDate(past, toks, k); k+m > i && !o.valid() {
			return Date{}, 0
		}
	}
	return c, n
}

func (r Reader) readDate(past bool, toks []Token, i int) (Date, int) {
	d := dateReader{l: r.Lang, today: DateOf(r.Now), week: r.week(), past: past}
	if !r.kept(toks) {
		return d.date(toks, i)
	}
	k := 0
	if past {
		k = 1
	}
	if r.seen.dates[k] == nil {
		r.seen.dates[k] = make([]dateReading, len(toks))
	}
	x := &r.seen.dates[k][i]
	if !x.done {
		x.c, x.n = d.date(toks, i)
		x.done = true
	}
	return x.c, x.n
}

// timeAt reads a time of day at token i.
func (r Reader) timeAt(loose bool, toks []Token, i int) (clockTime, int) {
	d := timeReader{l: r.Lang, now: r.Now, loose: loose}
	if !r.kept(toks) {
		return d.time(toks, i)
	}
	k := 0
	if loose {
		k = 1
	}
	if r.seen.times[k] == nil {
		r.seen.times[k] = make([]timeReading, len(toks))
	}
	x := &r.seen.times[k][i]
	if !x.done {
		x.c, x.n = d.time(toks, i)
		x.done = true
	}
	return x.c, x.n
}
