package value

import (
	"maps"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// spellingData is the "spelling" part of a language file.
type spellingData struct {
	Alphabet map[string]string `json:"alphabet"` // "bravo": "b"
	AsIn     []string          `json:"as_in"`
	Symbols  map[string]string `json:"symbols"`
	Upper    []string          `json:"upper"`
	Lower    []string          `json:"lower"`
	At       []string          `json:"at"`
	Dot      []string          `json:"dot"`
}

// spellingWords reads what is spelled out. It is immutable.
type spellingWords struct {
	alphabet     *Phrases
	letters      []string
	asIn         *Phrases
	symbols      *Phrases
	marks        []string
	upper, lower *Phrases
	at, dot      *Phrases
}

func (d spellingData) compile() spellingWords {
	w := spellingWords{
		alphabet: NewPhrases(), asIn: NewPhrases(d.AsIn), symbols: NewPhrases(),
		upper: NewPhrases(d.Upper), lower: NewPhrases(d.Lower),
		at: NewPhrases(d.At), dot: NewPhrases(d.Dot),
	}
	for _, k := range slices.Sorted(maps.Keys(d.Alphabet)) {
		w.alphabet.Add(k, len(w.letters))
		w.letters = append(w.letters, d.Alphabet[k])
	}
	for _, k := range slices.Sorted(maps.Keys(d.Symbols)) {
		w.symbols.Add(k, len(w.marks))
		w.marks = append(w.marks, d.Symbols[k])
	}
	return w
}

// isLetter reports whether t is a single letter.
func isLetter(t string) bool {
	r, n := utf8.DecodeRuneInString(t)
	return n > 0 && n == len(t) && unicode.IsLetter(r)
}

// letter reads a spelled letter: "b", "b as in boston", "bravo", "capital b".
func (l *Language) letter(toks []Token, i int) (string, int) {
	w := &l.spelling
	k, upper, lower := i, false, false
	if _, n := w.upper.At(toks, k); n > 0 && k+n < len(toks) {
		k, upper = k+n, true
	} else if _, n := w.lower.At(toks, k); n > 0 && k+n < len(toks) {
		k, lower = k+n, true
	}
	if k >= len(toks) {
		return "", 0
	}
	var s string
	if id, n := w.alphabet.At(toks, k); n > 0 && (!isLetter(toks[k].Text) || n > 1) {
		s, k = w.letters[id], k+n
	} else if isLetter(toks[k].Text) {
		s = toks[k].Text
		k++
	} else {
		return "", 0
	}
	if _, n := w.asIn.At(toks, k); n > 0 && k+n < len(toks) {
		if word := toks[k+n].Text; strings.HasPrefix(word, s) && !isLetter(word) {
			k += n + 1
		}
	}
	switch {
	case upper:
		s = strings.ToUpper(s)
	case lower:
		s = strings.ToLower(s)
	}
	return s, k - i
}

// code reads an identifier of letters and digits that starts at token i: "BK-98765", "b k
// dash nine eight", "bravo kilo double seven". It returns the length in tokens and the
// number of parts.
func (l *Language) code(toks []Token, i int) (s string, n, parts int) {
	return l.codeBehind("", toks, i)
}

// codeBehind reads an identifier whose first part, head, was already read.
func (l *Language) codeBehind(head string, toks []Token, i int) (s string, n, parts int) {
	var b strings.Builder
	if head != "" {
		b.WriteString(head)
		parts = 1
	}
	k := i
	for k < len(toks) && b.Len() < 40 {
		if _, an := l.spelling.asIn.At(toks, k); an > 0 && parts > 0 {
			break
		}
		if id, rn := l.Numbers.repeat.At(toks, k); rn > 0 && k+rn < len(toks) {
			if c, cn := l.letter(toks, k+rn); cn > 0 && toks[k+rn].Text != "u" {
				for range l.Numbers.repeatTimes[id] {
					b.WriteString(c)
				}
				k += rn + cn
				parts++
				continue
			}
		}
		if t := toks[k].Text; len(t) > 1 && mixed(t) {
			b.WriteString(t)
			k++
			parts++
			continue
		}
		if c, cn := l.letter(toks, k); cn > 0 {
			if c == "o" && cn == 1 && parts > 0 && IsDigit(lastByte(&b)) {
				c = "0"
			}
			b.WriteString(c)
			k += cn
			parts++
			continue
		}
		if d, dn := l.oneNumber(toks, k); dn > 0 {
			b.WriteString(d)
			k += dn
			parts++
			continue
		}
		if l.letterGroup(toks, k, b.String()) {
			b.WriteString(toks[k].Text)
			k++
			parts++
			continue
		}
		if id, sn := l.spelling.symbols.At(toks, k); sn > 0 && parts > 0 && l.spelling.marks[id] != "@" {
			b.WriteString(l.spelling.marks[id])
			k += sn
			continue
		}
		break
	}
	if parts == 0 {
		return "", 0, 0
	}
	return b.String(), k - i, parts
}

// letterGroup reports whether token k is a group of letters between groups of digits, as in
// IBANs ("GB29 NWBK 6016"), and not a common word.
func (l *Language) letterGroup(toks []Token, k int, before string) bool {
	t := toks[k].Text
	if len(t) < 2 || len(t) > 5 || k+1 >= len(toks) || !mixed(before) || !IsDigit(before[len(before)-1]) {
		return false
	}
	if !letters(t) {
		return false
	}
	if _, n := l.Light.At(toks, k); n > 0 {
		return false
	}
	if _, n := l.spelling.symbols.At(toks, k); n > 0 {
		return false
	}
	return IsDigit(toks[k+1].Text[0])
}

func lastByte(b *strings.Builder) byte {
	s := b.String()
	if s == "" {
		return 0
	}
	return s[len(s)-1]
}

// oneNumber reads one group of digits.
func (l *Language) oneNumber(toks []Token, k int) (string, int) {
	if s, ok := WrittenDigits(toks[k].Text, false); ok {
		return s, 1
	}
	if id, n := l.Numbers.repeat.At(toks, k); n > 0 && k+n < len(toks) {
		if d, ok := l.Numbers.digit(toks[k+n].Text); ok {
			return strings.Repeat(string(rune(d)), l.Numbers.repeatTimes[id]), n + 1
		}
	}
	if v, n := l.Numbers.pair(toks, k); n > 0 {
		return strconv.FormatInt(v, 10), n
	}
	if d := l.Numbers.digitWords[toks[k].Text]; d == "0" {
		return d, 1
	}
	return "", 0
}

// mixed reports whether t has both letters and digits.
func mixed(t string) bool {
	letter, digit := false, false
	for _, r := range t {
		switch {
		case unicode.IsLetter(r):
			letter = true
		case r >= '0' && r <= '9':
			digit = true
		case r == '-' || r == '/' || r == '.':
		default:
			return false
		}
	}
	return letter && digit
}

// email reads an e-mail address. If whole is true, the tokens are only the address, so that
// "john smith at example dot com" includes "john".
func (l *Language) email(toks []Token, i int, whole bool) (string, int) {
	if strings.Contains(toks[i].Text, "@") {
		if a := strings.TrimRight(toks[i].Text, "."); ValidEmail(a) {
			return a, 1
		}
		return "", 0
	}
	w := &l.spelling
	at := -1
	for k := i + 1; k < len(toks) && k <= i+24; k++ {
		if _, n := w.at.At(toks, k); n > 0 && l.domainAt(toks, k+n) > 0 {
			at = k
			break
		}
	}
	if at < 0 {
		return "", 0
	}
	if !whole && l.localStart(toks, i, at) != i {
		return "", 0
	}
	var b strings.Builder
	for k := i; k < at; {
		s, n := l.emailPart(toks, k)
		b.WriteString(s)
		k += n
		if k > at {
			return "", 0
		}
	}
	_, an := w.at.At(toks, at)
	end := l.domainAt(toks, at+an)
	b.WriteByte('@')
	for k := at + an; k < end; {
		s, n := l.emailPart(toks, k)
		b.WriteString(s)
		k += n
	}
	a := b.String()
	if !ValidEmail(a) {
		return "", 0
	}
	return a, end - i
}

// emailPart returns the text of one part of a spoken address, and its length.
func (l *Language) emailPart(toks []Token, k int) (string, int) {
	w := &l.spelling
	if id, n := w.symbols.At(toks, k); n > 0 {
		return w.marks[id], n
	}
	if s, n := l.letter(toks, k); n > 1 {
		return strings.ToLower(s), n
	}
	if s, n := l.DigitRun(toks, k, false); n > 0 {
		return s, n
	}
	return toks[k].Text, 1
}

// domainAt returns the index after the domain that starts at token k, or 0.
func (l *Language) domainAt(toks []Token, k int) int {
	w := &l.spelling
	dots, need := 0, true
	for m := k; m < len(toks) && m < k+12; m++ {
		if _, n := w.dot.At(toks, m); n > 0 {
			if need {
				return 0
			}
			dots, need = dots+1, true
			continue
		}
		t := toks[m].Text
		if m == k && strings.Contains(t, ".") {
			return m + 1
		}
		if !need { // a second word: only spelled letters and more of the name before the first dot
			if dots > 0 {
				return m
			}
			if m > k+4 {
				return 0
			}
			continue
		}
		need = false
		if dots > 0 && len(t) < 2 {
			// "dot c o m": spelled
			for m+1 < len(toks) && isLetter(toks[m+1].Text) {
				m++
			}
		}
	}
	if dots == 0 || need {
		return 0
	}
	end := min(len(toks), k+12)
	return end
}

// localStart returns the index at which the part before the at sign begins, after other
// words.
func (l *Language) localStart(toks []Token, i, at int) int {
	w := &l.spelling
	start := at - 1
	single := func(k int) bool {
		return isLetter(toks[k].Text) || AllDigits(toks[k].Text)
	}
	for start > i {
		if n := w.symbols.EndsAt(toks, start); n > 0 && start-n > i-1 && start-n-1 >= i {
			start -= n + 1
			continue
		}
		if start >= i+2 {
			if n := w.asIn.EndsAt(toks, start); n > 0 && start-n-1 >= i && isLetter(toks[start-n-1].Text) {
				start -= n + 1
				continue
			}
		}
		if single(start) && single(start-1) {
			start--
			continue
		}
		if _, n := l.Numbers.pair(toks, start); n > 0 {
			start--
			continue
		}
		break
	}
	return start
}

// ValidEmail reports whether a text has the form of an e-mail address.
func ValidEmail(a string) bool {
	if len(a) > 254 {
		return false
	}
	local, domain, ok := strings.Cut(a, "@")
	if !ok || local == "" || len(local) > 64 || strings.Contains(domain, "@") {
		return false
	}
	for _, r := range local {
		if !(unicode.IsLetter(r) || unicode.IsDigit(r) || strings.ContainsRune("._-+%'", r)) {
			return false
		}
	}
	if strings.HasPrefix(local, ".") || strings.HasSuffix(local, ".") || strings.Contains(a, "..") {
		return false
	}
	labels := strings.Split(domain, ".")
	if len(labels) < 2 {
		return false
	}
	for i, label := range labels {
		if label == "" || strings.HasPrefix(label, "-") || strings.HasSuffix(label, "-") {
			return false
		}
		for _, r := range label {
			if !(unicode.IsLetter(r) || unicode.IsDigit(r) || r == '-') {
				return false
			}
		}
		if i == len(labels)-1 && (len(label) < 2 || AllDigits(label)) {
			return false
		}
	}
	return true
}

// phone reads a telephone number: 5 to 15 digits, perhaps with a leading plus sign.
func (l *Language) phone(toks []Token, i int) (string, int) {
	s, n := l.DigitRun(toks, i, true)
	digits := len(strings.TrimPrefix(s, "+"))
	if n == 0 || digits < 5 || digits > 15 {
		return "", 0
	}
	return s, n
}
