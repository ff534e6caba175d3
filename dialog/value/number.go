package value

import (
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"
)

// numberData is the "numbers" part of a language file.
type numberData struct {
	Compound        bool               `json:"compound"` // "dreiundzwanzig" is one word
	Units           map[string]int64   `json:"units"`    // 0 to 19
	Tens            map[string]int64   `json:"tens"`
	Scales          map[string]int64   `json:"scales"`
	ScaleSuffixes   map[string]int64   `json:"scale_suffixes"` // "3k"
	OneWords        []string           `json:"one_words"`      // articles that count as one before a scale
	And             []string           `json:"and"`
	Point           []string           `json:"point"`
	Minus           []string           `json:"minus"`
	Halves          map[string]float64 `json:"halves"`
	WholeHalves     map[string]float64 `json:"whole_halves"`
	Ordinals        map[string]int64   `json:"ordinals"`
	OrdinalSuffixes []string           `json:"ordinal_suffixes"` // "3rd"
	OrdinalEndings  []string           `json:"ordinal_endings"`  // "dritten"
	Digits          map[string]string  `json:"digits"`           // words that are digits among digits alone
	Repeat          map[string]int     `json:"repeat"`           // "double"
	Plus            []string           `json:"plus"`
	Skip            []string           `json:"skip"` // words between digits
}

// numberWords reads numbers from tokens. It is immutable.
type numberWords struct {
	Compound    bool
	hundred     string // the words inside compounds
	thousand    string
	units       map[string]int64
	tens        map[string]int64
	scales      map[string]int64
	suffixes    map[string]int64
	One         map[string]bool
	and         map[string]bool
	point       map[string]bool
	minus       map[string]bool
	plus        map[string]bool
	halves      *Phrases
	halfValues  []float64
	wholeHalves map[string]float64
	ordinals    map[string]int64
	ordSuffixes []string
	ordEndings  []string
	digitWords  map[string]string
	repeat      *Phrases
	repeatTimes []int
	skip        *Phrases
}

func (d numberData) compile() numberWords {
	w := numberWords{
		Compound: d.Compound,
		units:    foldMap(d.Units), tens: foldMap(d.Tens), scales: foldMap(d.Scales),
		suffixes: foldMap(d.ScaleSuffixes), wholeHalves: foldMap(d.WholeHalves),
		One: wordSet(d.OneWords), and: wordSet(d.And), point: wordSet(d.Point),
		minus: wordSet(d.Minus), plus: wordSet(d.Plus),
		ordinals: foldMap(d.Ordinals), ordSuffixes: d.OrdinalSuffixes, ordEndings: d.OrdinalEndings,
		digitWords: foldMap(d.Digits),
		halves:     NewPhrases(), repeat: NewPhrases(), skip: NewPhrases(d.Skip),
	}
	for _, k := range slices.Sorted(maps.Keys(w.scales)) {
		switch w.scales[k] {
		case 100:
			w.hundred = k
		case 1000:
			w.thousand = k
		}
	}
	for _, k := range slices.Sorted(maps.Keys(d.Halves)) {
		w.halves.Add(k, len(w.halfValues))
		w.halfValues = append(w.halfValues, d.Halves[k])
	}
	for _, k := range slices.Sorted(maps.Keys(d.Repeat)) {
		w.repeat.Add(k, len(w.repeatTimes))
		w.repeatTimes = append(w.repeatTimes, d.Repeat[k])
	}
	return w
}

func wordSet(words []string) map[string]bool {
	set := make(map[string]bool, len(words))
	for _, w := range words {
		set[FoldText(w)] = true
	}
	return set
}

// MaxNumber is the largest number that is read; longer digits are an identifier and not an
// amount.
const MaxNumber = 1 << 53

// numeral parses a number in digits, with thousands separators and the language's decimal
// mark.
func numeral(s string, decimal string) (float64, bool) {
	if s == "" || len(s) > 24 {
		return 0, false
	}
	sign := 1.0
	switch s[0] {
	case '-':
		sign, s = -1, s[1:]
	case '+':
		s = s[1:]
	}
	if s == "" || !IsDigit(s[0]) {
		return 0, false
	}
	marks := 0
	for i := 0; i < len(s); i++ {
		switch {
		case IsDigit(s[i]):
		case s[i] == '.' || s[i] == ',':
			marks++
		default:
			return 0, false
		}
	}
	if marks > 0 {
		point := strings.LastIndexAny(s, ".,")
		group := ","
		if decimal == "," {
			group = "."
		}
		last := s[point : point+1]
		isDecimal := last == decimal
		if !isDecimal && len(s)-point-1 != 3 {
			isDecimal = true // "12,5" in a language with another decimal mark
		}
		if marks > 1 && strings.Count(s, last) > 1 {
			isDecimal = false
		}
		if isDecimal {
			if last == group {
				group = decimal
			}
			whole := strings.ReplaceAll(s[:point], group, "")
			if strings.ContainsAny(whole, ".,") || !groupsOfThree(s[:point], group) {
				return 0, false
			}
			s = whole + "." + s[point+1:]
		} else {
			if !groupsOfThree(s, last) {
				return 0, false
			}
			s = strings.ReplaceAll(s, last, "")
		}
	}
	v, err := strconv.ParseFloat(s, 64)
	if err != nil || math.Abs(v) > MaxNumber {
		return 0, false
	}
	return sign * v, true
}

func groupsOfThree(s, mark string) bool {
	parts := strings.Split(s, mark)
	if len(parts) == 1 {
		return true
	}
	if len(parts[0]) == 0 || len(parts[0]) > 3 {
		return false
	}
	for _, p := range parts[1:] {
		if len(p) != 3 {
			return false
		}
	}
	return true
}

// cardinal reads a number that starts at token i. It returns n = 0 if there is none.
func (l *Language) cardinal(toks []Token, i int) (v float64, n int) {
	w := &l.Numbers
	if i >= len(toks) {
		return 0, 0
	}
	if w.minus[toks[i].Text] {
		if v, n = l.cardinal(toks, i+1); n > 0 && v > 0 {
			return -v, n + 1
		}
		return 0, 0
	}
	if v, n = l.written(toks, i); n == 0 {
		if w.Compound {
			v, n = w.joined(toks, i)
		} else {
			v, n = w.spoken(toks, i)
		}
	}
	if n == 0 {
		if id, hn := w.halves.At(toks, i); hn > 0 && i+hn < len(toks) {
			// "half a million"
			k := i + hn
			if w.One[toks[k].Text] {
				k++
			}
			if k < len(toks) {
				if scale, ok := w.scales[toks[k].Text]; ok {
					return w.halfValues[id] * float64(scale), k + 1 - i
				}
			}
		}
		return 0, 0
	}
	v, n = w.fraction(toks, i, v, n)
	if i+n < len(toks) { // "2.5 million", "two and a half thousand"
		if scale, ok := w.scales[toks[i+n].Text]; ok && scale >= 1000 && math.Abs(v) < float64(scale) {
			v *= float64(scale)
			n++
		}
	}
	if math.Abs(v) > MaxNumber {
		return 0, 0
	}
	return v, n
}

// Number returns the length of a number at token i, or 0.
func (l *Language) Number(toks []Token, i int) int {
	_, n := l.cardinal(toks, i)
	return n
}

// Ordinal returns the length of an ordinal at token i ("first", "40th"), or 0.
func (l *Language) Ordinal(toks []Token, i int) int {
	_, n := l.ordinal(toks, i)
	return n
}

// fraction reads what may follow a whole number: "point five", "and a half".
func (w *numberWords) fraction(toks []Token, i int, v float64, n int) (float64, int) {
	k := i + n
	if k >= len(toks) || v != math.Trunc(v) {
		return v, n
	}
	if w.point[toks[k].Text] {
		digits := ""
		for k++; k < len(toks) && len(digits) < 9; k++ {
			d, ok := w.units[toks[k].Text]
			if !ok || d > 9 {
				if t := toks[k].Text; len(t) <= 3 && AllDigits(t) {
					digits += t
					continue
				}
				break
			}
			digits += strconv.FormatInt(d, 10)
		}
		if digits != "" {
			f, err := strconv.ParseFloat("0."+digits, 64)
			if err == nil {
				return v + f, k - i
			}
		}
		return v, n
	}
	h := k
	if w.and[toks[h].Text] {
		h++
	}
	if id, hn := w.halves.At(toks, h); hn > 0 && h > k {
		return v + w.halfValues[id], h + hn - i
	}
	return v, n
}

// AllDigits reports whether a text consists of the digits 0 to 9 and is not empty.
func AllDigits(s string) bool {
	for i := 0; i < len(s); i++ {
		if !IsDigit(s[i]) {
			return false
		}
	}
	return s != ""
}

// written reads "23", "1,250.50" and "3k".
func (l *Language) written(toks []Token, i int) (float64, int) {
	t := toks[i].Text
	if t == "" || !(IsDigit(t[0]) || len(t) > 1 && (t[0] == '-' || t[0] == '+') && IsDigit(t[1])) {
		return 0, 0
	}
	if v, ok := numeral(t, l.Data.Decimal); ok {
		if i+1 < len(toks) { // "2 hundred"
			if scale, is := l.Numbers.scales[toks[i+1].Text]; is && scale < 1000 && v < 100 && v > 0 {
				v *= float64(scale)
				return v, 2
			}
		}
		return v, 1
	}
	for _, suffix := range slices.Sorted(maps.Keys(l.Numbers.suffixes)) {
		if head, ok := strings.CutSuffix(t, suffix); ok {
			if v, ok := numeral(head, l.Data.Decimal); ok {
				return v * float64(l.Numbers.suffixes[suffix]), 1
			}
		}
	}
	return 0, 0
}

// Kinds of the last word of a spoken number.
const (
	numStart = iota
	numUnit
	numTeen
	numTens
	numScale
)

// spoken reads a number of separate words, as in English.
func (w *numberWords) spoken(toks []Token, i int) (float64, int) {
	var total, current int64
	kind, lastScale := numStart, int64(math.MaxInt64)
	end := i // after the last word that completes a number
	for k := i; k < len(toks); k++ {
		t := toks[k].Text
		if u, ok := w.units[t]; ok {
			if !(kind == numStart || kind == numScale || kind == numTens && u >= 1 && u <= 9) || u == 0 && kind != numStart {
				break
			}
			current += u
			if kind = numUnit; u > 9 {
				kind = numTeen
			}
			end = k + 1
			if u == 0 {
				break
			}
			continue
		}
		if u, ok := w.tens[t]; ok {
			if kind != numStart && kind != numScale {
				break
			}
			current += u
			kind, end = numTens, k+1
			continue
		}
		if s, ok := w.scales[t]; ok && kind != numStart && (kind != numScale || s >= 1000 && current > 0) {
			if s < 1000 {
				if current == 0 || current > 99 {
					break
				}
				current *= s
			} else {
				if s >= lastScale || current == 0 {
					break
				}
				total += current * s
				current, lastScale = 0, s
			}
			kind, end = numScale, k+1
			if total > MaxNumber {
				return 0, 0
			}
			continue
		}
		if w.One[t] && (kind == numStart) && k+1 < len(toks) {
			if _, ok := w.scales[toks[k+1].Text]; ok {
				current, kind = 1, numUnit
				continue
			}
		}
		if kind == numScale && w.and[t] && k+1 < len(toks) {
			next := toks[k+1].Text
			_, unit := w.units[next]
			_, ten := w.tens[next]
			if unit || ten {
				continue
			}
		}
		break
	}
	if end == i {
		return 0, 0
	}
	return float64(total + current), end - i
}
