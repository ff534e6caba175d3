package value

import (
	"fmt"
	"slices"
	"strings"
	"time"
)

// Facts returns the numbers, amounts, dates and times in a text, normalized, sorted and
// each once.
func (l *Language) Facts(text string, today time.Time) []string {
	toks := Tokenize(text, nil)
	dates := dateReader{l: l, today: DateOf(today)}
	times := timeReader{l: l, now: today}
	var out []string
	digits := "" // single digits so far
	flush := func() {
		if digits != "" {
			out = append(out, "n "+strings.TrimLeft(digits, "0"))
			digits = ""
		}
	}
	for i := 0; i < len(toks); {
		c, dn := dates.date(toks, i)
		if !c.valid() {
			dn = 0
		}
		t, tn := times.time(toks, i)
		f, currency, mn := l.Amount(toks, i)
		if n := digitsOf(toks[i].Text); n != "" && tn == 0 && (mn == 0 || len(toks[i].Text) == 1) { // "7", "BK-98765"
			if len(n) == 1 && len(toks[i].Text) == 1 && mn <= 1 && dn <= 1 {
				digits += n
				i++
				continue
			}
			if mn == 0 {
				flush()
				out = append(out, "n "+strings.TrimLeft(n, "0"))
				i++
				continue
			}
		}
		switch {
		case l.Numbers.One[toks[i].Text] && mn == 1: // an article
		case dn > 0 && dn >= tn && dn >= mn && !(dn == 1 && l.Numbers.ordinals[toks[i].Text] > 0):
			flush()
			out = append(out, "d "+c.String())
			i += dn
			continue
		case tn > 0 && (tn > mn || tn == 1 && strings.Contains(toks[i].Text, ":")):
			flush()
			out = append(out, "t "+t.resolve(-1, -1).String())
			i += tn
			continue
		case mn > 0:
			flush()
			out = append(out, fmt.Sprintf("n %v", Number(f)))
			if currency != "" {
				out = append(out, "c "+currency)
			}
			i += mn
			continue
		}
		if o, on := l.ordinal(toks, i); on > 0 {
			flush()
			out = append(out, fmt.Sprintf("o %d", o))
			i += on
			continue
		}
		if len([]rune(toks[i].Text)) > 1 { // single letters between digits are part of a code
			flush()
		}
		i++
	}
	flush()
	slices.Sort(out)
	return slices.Compact(out)
}

// digitsOf returns the digits in a token that may have other characters: "98765" for
// "bk-98765". It returns "" for numbers with punctuation and times.
func digitsOf(tok string) string {
	var b strings.Builder
	for _, r := range tok {
		switch {
		case r >= '0' && r <= '9':
			b.WriteRune(r)
		case r == '.' || r == ',' || r == ':' || r == '%':
			return "" // a number, a time
		}
	}
	return b.String()
}

// Negated reports whether a text contains a negation.
func (l *Language) Negated(text string) bool {
	for _, tok := range Tokenize(text, nil) {
		if l.negations[tok.Text] {
			return true
		}
	}
	return false
}
