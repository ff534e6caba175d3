package value

// This file finds denied values: "not Monday", "any day except Friday", "Boston doesn't work". A
// denied value is never used.

// Negated reports whether a word in the same clause denies or excepts the value at tokens i
// to j.
func (r Reader) Negated(i, j int) bool {
	if _, n := r.Lang.DeniedAfter.At(r.Toks, j); n > 0 {
		return true
	}
	for k := i - 1; k >= 0; k-- {
		if r.SentenceEndsIn(r.Toks, k+1) {
			return false
		}
		if _, n := r.Lang.Clauses.At(r.Toks, k); n > 0 && k+n <= i {
			return r.Lang.Exceptions.EndsAt(r.Toks, k+n) > n // "anything but"
		}
		if n := r.Lang.denies(r.Toks, k); n > 0 && k+n <= i {
			return true
		}
	}
	return false
}

// Denies reports whether a word in the message denies or excepts something.
func (r Reader) Denies() bool {
	for i := range r.Toks {
		if r.Lang.denies(r.Toks, i) > 0 {
			return true
		}
		if _, n := r.Lang.DeniedAfter.At(r.Toks, i); n > 0 {
			return true
		}
	}
	return false
}

// denies returns the length of the words at token i that deny or except what follows.
// Questions ("don't you", "isn't there") do not count.
func (l *Language) denies(toks []Token, i int) int {
	n := 0
	for _, p := range [...]*Phrases{l.Not, l.Denials, l.Exceptions} {
		if _, m := p.At(toks, i); m > n {
			n = m
		}
	}
	if n > 0 {
		if _, asked := l.Asked.At(toks, i+n); asked > 0 {
			return 0
		}
	}
	return n
}
