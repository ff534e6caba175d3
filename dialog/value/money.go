package value

import (
	"maps"
	"slices"
	"strings"
)

// currencyData is one entry of the "currencies" part of a language file.
type currencyData struct {
	Words     []string `json:"words"`
	Minor     []string `json:"minor"`
	One       string   `json:"one"`
	Many      string   `json:"many"`
	MinorOne  string   `json:"minor_one"`
	MinorMany string   `json:"minor_many"`
}

// moneyWords reads currencies. It is immutable.
type moneyWords struct {
	codes        []string
	major, minor *Phrases // index into codes
}

func compileMoney(data map[string]currencyData) moneyWords {
	w := moneyWords{codes: slices.Sorted(maps.Keys(data)), major: NewPhrases(), minor: NewPhrases()}
	for i, code := range w.codes {
		for _, p := range data[code].Words {
			w.major.Add(p, i)
		}
		for _, p := range data[code].Minor {
			w.minor.Add(p, i)
		}
	}
	return w
}

// Amount reads an amount of money that starts at token i and returns its length. The
// currency is "" if none was said.
func (l *Language) Amount(toks []Token, i int) (v float64, currency string, n int) {
	k := i
	w := &l.money
	if i > 0 && i < len(toks) && l.Numbers.minus[toks[i-1].Text] {
		return 0, "", 0 // "minus fifty"
	}
	if id, cn := w.major.At(toks, k); cn > 0 { // "$500"
		currency = w.codes[id]
		k += cn
	}
	v, vn := l.cardinal(toks, k)
	if vn == 0 || v < 0 {
		return 0, "", 0
	}
	k += vn
	if id, cn := w.minor.At(toks, k); cn > 0 && currency == "" { // "fifty cents"
		return v / 100, w.codes[id], k + cn - i
	}
	if id, cn := w.major.At(toks, k); cn > 0 && (currency == "" || currency == w.codes[id]) {
		currency = w.codes[id]
		k += cn
		// "twelve dollars [and] fifty [cents]"
		m := k
		and := m < len(toks) && l.Numbers.and[toks[m].Text]
		if and {
			m++
		}
		if id, hn := l.Numbers.halves.At(toks, m); hn > 0 && and {
			return v + l.Numbers.halfValues[id], currency, m + hn - i
		}
		if c, cn := l.cardinal(toks, m); cn > 0 && c > 0 && c < 100 && c == float64(int(c)) && v == float64(int64(v)) {
			_, minor := w.minor.At(toks, m+cn)
			if minor > 0 || !and && c >= 10 {
				return v + c/100, currency, m + cn + minor - i
			}
		}
	}
	return v, currency, k - i
}

// unclear reports whether an amount at tokens i to i+n is ambiguous because three or more
// digits follow a decimal mark: "1.500 euros" is fifteen hundred in some languages and one
// and a half in others.
func (r Reader) unclear(toks []Token, i, n int) bool {
	for _, t := range toks[i : i+n] {
		if k := strings.Index(t.Text, r.Lang.Data.Decimal); k > 0 && len(t.Text)-k > 3 && strings.Trim(t.Text, "+-0123456789.,") == "" && strings.Count(t.Text, ".")+strings.Count(t.Text, ",") == 1 {
			return true
		}
	}
	return false
}

// AmountReason says why an utterance has no valid amount.
type AmountReason int

// The reasons.
const (
	SomeAmount    AmountReason = iota // there is no number, or a valid amount
	BelowZero                         // "-5 euros"
	OtherCurrency                     // dollars, for a slot in euros
	UnclearAmount                     // "1.500 euros"
)

// NoAmount returns why the number in the utterance is not a valid amount for the slot, and
// the words of the number.
func (r Reader) NoAmount(s *Spec) (AmountReason, string) {
	for i := range r.Toks {
		if v, n := r.Lang.cardinal(r.Toks, i); n > 0 && (v < 0 || v == 0 && s.Low != nil && *s.Low > 0) {
			return BelowZero, SpanText(r.Raw, r.Toks, i, i+n)
		}
		_, cur, n := r.Lang.Amount(r.Toks, i)
		switch {
		case n == 0:
		case r.unclear(r.Toks, i, n):
			return UnclearAmount, SpanText(r.Raw, r.Toks, i, i+n)
		case cur != "" && s.Currency != "" && cur != s.Currency:
			return OtherCurrency, SpanText(r.Raw, r.Toks, i, i+n)
		default:
			return SomeAmount, ""
		}
	}
	return SomeAmount, ""
}
