package value

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// An utterance is split into tokens that are folded to lower case, without diacritics,
// apostrophes and punctuation, so that typed text and the text of a recognizer look the same.

const (
	MaxUtterance = 2000 // bytes of a message that are read
	maxTokens    = 160
)

// Token is a word of an utterance.
type Token struct {
	Text       string // folded text
	Start, End int    // byte offsets in the original
}

// Tokenize appends the tokens of s to buf.
func Tokenize(s string, buf []Token) []Token {
	if len(s) > MaxUtterance {
		s = CutText(s, MaxUtterance)
	}
	i := 0
	for i < len(s) && len(buf) < maxTokens {
		r, n := utf8.DecodeRuneInString(s[i:])
		if unicode.IsSpace(r) {
			i += n
			continue
		}
		j := i
		for j < len(s) {
			r, n = utf8.DecodeRuneInString(s[j:])
			if unicode.IsSpace(r) {
				break
			}
			j += n
		}
		buf = splitChunk(s, i, j, buf)
		i = j
	}
	if len(buf) > maxTokens {
		buf = buf[:maxTokens]
	}
	return buf
}

// CutText shortens s to at most n bytes, at a character boundary.
func CutText(s string, n int) string {
	if len(s) <= n {
		return s
	}
	for n > 0 && !utf8.RuneStart(s[n]) {
		n--
	}
	return s[:n]
}

func isCurrencySign(r rune) bool { return r == '$' || r == '€' || r == '£' }

// splitChunk splits a run without white space into tokens.
func splitChunk(s string, i, j int, buf []Token) []Token {
	simple := true
	for k := i; k < j; k++ {
		if c := s[k]; c < 'a' || c > 'z' {
			simple = false
			break
		}
	}
	if simple {
		return append(buf, Token{Text: s[i:j], Start: i, End: j})
	}
	for i < j { // opening punctuation
		r, n := utf8.DecodeRuneInString(s[i:j])
		if isCurrencySign(r) {
			buf = append(buf, Token{Text: string(r), Start: i, End: i + n})
		} else if unicode.IsLetter(r) || unicode.IsDigit(r) || (r == '+' || r == '-') && i+n < j && IsDigit(s[i+n]) {
			break
		}
		i += n
	}
	end := j
	for end > i { // closing punctuation
		r, n := utf8.DecodeLastRuneInString(s[i:end])
		if unicode.IsLetter(r) || unicode.IsDigit(r) {
			break
		}
		end -= n
	}
	if i < end {
		buf = splitWord(s, i, end, buf)
	}
	for end < j {
		r, n := utf8.DecodeRuneInString(s[end:j])
		if isCurrencySign(r) {
			buf = append(buf, Token{Text: string(r), Start: end, End: end + n})
		}
		end += n
	}
	return buf
}

// IsDigit reports whether c is a digit from 0 to 9.
func IsDigit(c byte) bool { return '0' <= c && c <= '9' }

// splitWord splits the part between opening and closing punctuation.
func splitWord(s string, i, j int, buf []Token) []Token {
	word := s[i:j]
	if strings.ContainsRune(word, '@') {
		return append(buf, Token{Text: foldWord(word), Start: i, End: j})
	}
	digits := strings.ContainsFunc(word, unicode.IsDigit)
	start := i
	for k, r := range word {
		var cut bool
		switch {
		case digits:
			cut = r == '€' || r == '$' || r == '£' || r == '–' || r == ';' || r == '(' || r == ')'
		default:
			cut = r == '-' || r == '/' || r == '–' || r == '—' || r == ',' || r == ';' || r == ':' || r == '(' || r == ')' || r == '&' || r == '"' || r == '!' || r == '?'
		}
		if !cut {
			continue
		}
		if start < i+k {
			buf = append(buf, Token{Text: foldWord(s[start : i+k]), Start: start, End: i + k})
		}
		if isCurrencySign(r) {
			buf = append(buf, Token{Text: string(r), Start: i + k, End: i + k + utf8.RuneLen(r)})
		}
		start = i + k + utf8.RuneLen(r)
	}
	if start < j {
		buf = append(buf, Token{Text: foldWord(s[start:j]), Start: start, End: j})
	}
	return buf
}

// foldWord returns the form in which words are compared: lower case, without diacritics and
// apostrophes, "la" for "L.A.".
func foldWord(w string) string {
	ascii := true
	for i := 0; i < len(w); i++ {
		if c := w[i]; !('a' <= c && c <= 'z' || '0' <= c && c <= '9') {
			ascii = false
			break
		}
	}
	if ascii {
		return w
	}
	var b strings.Builder
	b.Grow(len(w))
	dotted := DottedLetters(w)
	for _, r := range w {
		switch r {
		case '\'', '’', '‘', '`', '´':
			continue
		case '.':
			if dotted {
				continue
			}
		}
		foldRune(&b, r)
	}
	return b.String()
}

// DottedLetters reports whether w consists of single letters with full stops after them.
func DottedLetters(w string) bool {
	letter := false
	dots := 0
	for _, r := range w {
		if r == '.' {
			if !letter {
				return false
			}
			letter = false
			dots++
			continue
		}
		if letter || !unicode.IsLetter(r) {
			return false
		}
		letter = true
	}
	return dots > 0
}

func foldRune(b *strings.Builder, r rune) {
	if r < utf8.RuneSelf {
		b.WriteRune(unicode.ToLower(r))
		return
	}
	r = unicode.ToLower(r)
	switch r {
	case 'à', 'á', 'â', 'ã', 'ä', 'å', 'ā':
		b.WriteByte('a')
	case 'è', 'é', 'ê', 'ë', 'ē', 'ę', 'ě':
		b.WriteByte('e')
	case 'ì', 'í', 'î', 'ï', 'ī', 'ı':
		b.WriteByte('i')
	case 'ò', 'ó', 'ô', 'õ', 'ö', 'ø', 'ō', 'ő':
		b.WriteByte('o')
	case 'ù', 'ú', 'û', 'ü', 'ū', 'ů', 'ű':
		b.WriteByte('u')
	case 'ý', 'ÿ':
		b.WriteByte('y')
	case 'ç', 'ć', 'č':
		b.WriteByte('c')
	case 'ñ', 'ń', 'ň':
		b.WriteByte('n')
	case 'š', 'ś', 'ş':
		b.WriteByte('s')
	case 'ž', 'ź', 'ż':
		b.WriteByte('z')
	case 'ł':
		b.WriteByte('l')
	case 'ř':
		b.WriteByte('r')
	case 'ð', 'ď', 'đ':
		b.WriteByte('d')
	case 'ť', 'þ':
		b.WriteByte('t')
	case 'ğ':
		b.WriteByte('g')
	case 'ß':
		b.WriteString("ss")
	case 'æ':
		b.WriteString("ae")
	case 'œ':
		b.WriteString("oe")
	default:
		if unicode.Is(unicode.Mn, r) {
			return
		}
		b.WriteRune(r)
	}
}

// FoldText returns the text of the tokens of s, with single spaces.
func FoldText(s string) string {
	var buf [24]Token
	toks := Tokenize(s, buf[:0])
	return JoinTokens(toks)
}

// JoinTokens returns the text of tokens, with single spaces.
func JoinTokens(toks []Token) string {
	if len(toks) == 1 {
		return toks[0].Text
	}
	var b strings.Builder
	for i, t := range toks {
		if i > 0 {
			b.WriteByte(' ')
		}
		b.WriteString(t.Text)
	}
	return b.String()
}

// SpanText returns the original text of toks[i:j].
func SpanText(raw string, toks []Token, i, j int) string {
	if i >= j {
		return ""
	}
	return raw[toks[i].Start:toks[j-1].End]
}

// Phrases is a table of phrases. It may be used concurrently after the last call of Add.
type Phrases struct {
	IDs     map[string]int
	first   map[string]int // by first word of a phrase: the length of the longest such phrase in words
	longest int            // length of the longest phrase in words
}

// NewPhrases returns a table of the given lists. The ID of a phrase is the index of its
// list.
func NewPhrases(phrases ...[]string) *Phrases {
	t := &Phrases{IDs: make(map[string]int), first: make(map[string]int)}
	for id, list := range phrases {
		for _, p := range list {
			t.Add(p, id)
		}
	}
	return t
}

// Add adds a phrase unless the table already has it.
func (t *Phrases) Add(phrase string, id int) {
	key := FoldText(phrase)
	if key == "" {
		return
	}
	if _, there := t.IDs[key]; there {
		return
	}
	t.IDs[key] = id
	words := strings.Count(key, " ") + 1
	head, _, _ := strings.Cut(key, " ")
	t.first[head] = max(t.first[head], words)
	t.longest = max(t.longest, words)
}

// At returns the ID and length of the longest phrase that starts at token i. The length is
// 0 if there is none.
func (t *Phrases) At(toks []Token, i int) (id, n int) {
	if i >= len(toks) {
		return 0, 0
	}
	longest := t.first[toks[i].Text] // 0 for most words
	var buf [96]byte
	key := buf[:0]
	for k := i; k < len(toks) && k-i < longest; k++ {
		if k > i {
			key = append(key, ' ')
		}
		key = append(key, toks[k].Text...)
		if v, ok := t.IDs[string(key)]; ok {
			id, n = v, k-i+1
		}
	}
	return id, n
}

// Whole returns the ID of the phrase that toks consists of, and reports whether there is
// one.
func (t *Phrases) Whole(toks []Token) (id int, ok bool) {
	if len(toks) == 0 || len(toks) > t.longest {
		return 0, false
	}
	var buf [96]byte
	key := buf[:0]
	for i, tok := range toks {
		if i > 0 {
			key = append(key, ' ')
		}
		key = append(key, tok.Text...)
	}
	id, ok = t.IDs[string(key)]
	return id, ok
}

// EndsAt returns the length of the longest phrase that ends before token i, or 0.
func (t *Phrases) EndsAt(toks []Token, i int) int {
	for k := max(0, i-t.longest); k < i; k++ {
		if t.first[toks[k].Text] < i-k {
			continue
		}
		if _, ok := t.Whole(toks[k:i]); ok {
			return i - k
		}
	}
	return 0
}

// Within reports whether toks contains a phrase.
func (t *Phrases) Within(toks []Token) bool {
	for i := range toks {
		if _, n := t.At(toks, i); n > 0 {
			return true
		}
	}
	return false
}

// Cover reports whether toks consists of phrases.
func (t *Phrases) Cover(toks []Token) bool {
	for i := 0; i < len(toks); {
		_, n := t.At(toks, i)
		if n == 0 {
			return false
		}
		i += n
	}
	return true
}

// TrimLeft removes phrases from the beginning.
func (t *Phrases) TrimLeft(toks []Token) []Token {
	for len(toks) > 0 {
		_, n := t.At(toks, 0)
		if n == 0 {
			break
		}
		toks = toks[n:]
	}
	return toks
}

// TrimRight removes phrases from the end.
func (t *Phrases) TrimRight(toks []Token) []Token {
	for len(toks) > 0 {
		n := t.EndsAt(toks, len(toks))
		if n == 0 {
			break
		}
		toks = toks[:len(toks)-n]
	}
	return toks
}

// UpperLetters reports whether a text consists of letters from A to Z and is not empty.
func UpperLetters(s string) bool {
	for i := range len(s) {
		if s[i] < 'A' || s[i] > 'Z' {
			return false
		}
	}
	return s != ""
}

// TitleWords capitalizes the words of a text that is all in lower case.
func TitleWords(s string) string {
	if strings.ToLower(s) != s {
		return s
	}
	var b strings.Builder
	up := true
	for _, r := range s {
		if up {
			r = unicode.ToUpper(r)
		}
		b.WriteRune(r)
		up = r == ' ' || r == '-'
	}
	return b.String()
}

// Hash returns the FNV-1a hash of s, starting from a seed.
func Hash(s string, seed uint32) uint32 {
	h := seed
	for i := 0; i < len(s); i++ {
		h = (h ^ uint32(s[i])) * 16777619
	}
	return h
}
