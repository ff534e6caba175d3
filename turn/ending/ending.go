package ending

import (
	_ "embed"
	"math"
	"strings"
)

// The file of weights: a byte for each feature, as a signed number of steps.
const (
	buckets = 1 << 13
	step    = 1.0 / 16
)

//go:embed weights.bin
var weights string

// Complete returns the probability that a turn with these words is complete, if a pause
// follows. Case and punctuation do not matter. It returns NaN for a text without words.
// Complete allocates nothing.
func Complete(text string) float64 {
	f := Read(text)
	if f.Words == 0 {
		return math.NaN()
	}
	sum := 0.0
	for _, i := range f.Index {
		sum += step * float64(int8(weights[i]))
	}
	return 1 / (1 + math.Exp(-sum))
}

// Buckets returns the number of values of a feature's index.
func Buckets() int { return buckets }

// Weight returns the byte of the file for a weight, and the weight that the byte stands for.
func Weight(w float64) (byte, float64) {
	n := int8(min(max(math.Round(w/step), -128), 127))
	return byte(n), step * float64(n)
}

// The features of a text. Those from Named on are about certain words, those before about the
// classes of words.
const (
	Named = 12
	count = 17
)

// Features are the features of a text: the index of the weight of each.
type Features struct {
	Index [count]uint16
	Words int
}

// token is a word of the text: its hash, and that of its class.
type token struct{ word, class uint32 }

// longest bounds the letters of a word that count.
const longest = 24

// hash is FNV-1a.
func hash(h uint32, b byte) uint32 { return (h ^ uint32(b)) * 16777619 }

const offset = 2166136261

// reader splits a text into words. It keeps the first ones and the last ones.
type reader struct {
	n     int
	first [3]token
	last  [4]token // the last word is last[0]
	buf   [longest]byte
	fill  int
}

// letter takes the next byte of a word.
func (r *reader) letter(c byte) {
	if r.fill < longest {
		r.buf[r.fill] = c
		r.fill++
	}
}

// end ends the word, if there is one.
func (r *reader) end() {
	if r.fill == 0 {
		return
	}
	word := r.buf[:r.fill]
	r.fill = 0
	t := token{word: offset}
	for _, c := range word {
		t.word = hash(t.word, c)
	}
	t.class = t.word
	if !known[string(word)] {
		t.class = ending(word)
	}
	if r.n < len(r.first) {
		r.first[r.n] = t
	}
	copy(r.last[1:], r.last[:])
	r.last[0] = t
	r.n++
}

// ending returns the class of a word of an open class.
func ending(word []byte) uint32 {
	if word[0] >= '0' && word[0] <= '9' {
		return 1
	}
	for i, suffix := range [...]string{"ing", "ed", "ly", "er", "est", "ion", "able", "ful", "ous", "s"} {
		if len(word) > len(suffix)+2 && strings.HasSuffix(string(word), suffix) {
			return uint32(i) + 2
		}
	}
	return 0
}

// Read returns the features of a text.
func Read(text string) Features {
	var r reader
	for i := range len(text) {
		switch c := text[i]; {
		case c >= 'A' && c <= 'Z':
			r.letter(c + 'a' - 'A')
		case c >= 'a' && c <= 'z' || c >= '0' && c <= '9' || c >= 0x80:
			r.letter(c)
		case c == '\'':
		default:
			r.end()
		}
	}
	r.end()
	length := uint32(min(r.n, 4))
	switch {
	case r.n > 12:
		length = 7
	case r.n > 8:
		length = 6
	case r.n > 5:
		length = 5
	}
	c, f := &r.last, &r.first
	parts := [count][4]uint32{
		{},
		{length},
		{c[0].class},
		{c[0].class, length},
		{c[1].class, c[0].class},
		{c[2].class, c[1].class, c[0].class},
		{c[3].class, c[2].class, c[1].class, c[0].class},
		{f[0].class, c[0].class},
		{f[0].class, f[1].class, c[0].class},
		{f[0].class, f[1].class, length},
		{f[0].class, f[1].class, f[2].class},
		{f[0].class, f[1].class, c[1].class, c[0].class},
		{c[0].word},
		{c[1].word, c[0].word},
		{c[2].word, c[1].word, c[0].word},
		{c[1].class, c[0].word},
		{f[0].word, f[1].word, c[0].word},
	}
	out := Features{Words: r.n}
	for i := range parts {
		h := hash(offset, byte(i))
		for _, v := range parts[i] {
			for range 4 {
				h = hash(h, byte(v))
				v >>= 8
			}
		}
		out.Index[i] = uint16((h ^ h>>15) % buckets)
	}
	return out
}
