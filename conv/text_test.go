package conv

import (
	"strings"
	"testing"
	"time"
	"unicode/utf8"
)

// TestSentenceEnd: what is handed to the voice as one sentence.
func TestSentenceEnd(t *testing.T) {
	for text, want := range map[string]string{
		"":                        "",
		"Hello":                   "",
		"Hello.":                  "", // it may go on: "3." "14"
		"Hello. ":                 "Hello. ",
		"Hello. And":              "Hello. ",
		"Really? Yes.":            "Really? ",
		"Stop! Now":               "Stop! ",
		"Well… yes":               "Well… ",
		"a\nb":                    "a\n",
		"It costs 3.50 euros. Ok": "It costs 3.50 euros. ",
		"Dr. Smith is in. Good":   "Dr. Smith is in. ",
		"J. Smith is in. Good":    "J. Smith is in. ",
		"So am I. Good":           "So am I. ",
		"Das ist z.B. so. Gut":    "Das ist z.B. so. ",
		"At 5 p.m. today. Ok":     "At 5 p.m. today. ",
		"日本語。次":                   "日本語。",
		"¿Qué? Sí":                "¿Qué? ",
		"No. 5 is alive. Yes":     "No. 5 is alive. ",
		"...":                     "",
	} {
		if got := text[:sentenceEnd(text)]; got != want {
			t.Errorf("%q: the first sentence is %q, expected %q", text, got, want)
		}
	}
}

func TestSqueeze(t *testing.T) {
	for in, want := range map[string]string{
		"": "", " ": "", "a": "a", " a ": "a", "a b": "a b", "a  b": "a b", "a\tb\nc": "a b c",
		"a\u00a0b": "a b", "ä  ö": "ä ö", "a \u2003 b": "a b", "日本": "日本",
	} {
		if got := squeeze(in); got != want {
			t.Errorf("%q is squeezed to %q, expected %q", in, got, want)
		}
	}
}

// TestHeardPrefix: the exact words where they are known, else rather too little.
func TestHeardPrefix(t *testing.T) {
	const full = "Where to? I can  book any train."
	for _, c := range []struct {
		heard time.Duration
		known string
		want  string
	}{
		{0, "", ""},
		{400 * time.Millisecond, "", ""},
		{600 * time.Millisecond, "", "Where"},
		{time.Second, "", "Where to? I"},
		{time.Hour, "", full},
		{0, "Where to?", "Where to?"},
		{time.Hour, "Where to?", "Where to?"},
		{0, "Where to? I can book", "Where to? I can  book"},
		{600 * time.Millisecond, "Something else", "Where"},
		{0, full + " and more", ""},
	} {
		if got := heardPrefix(full, c.heard, c.known); got != c.want {
			t.Errorf("%v, %q: %q, expected %q", c.heard, c.known, got, c.want)
		}
	}
}

func TestCutRunes(t *testing.T) {
	for _, c := range []struct {
		s    string
		n    int
		want string
	}{{"abc", 2, "ab"}, {"abc", 9, "abc"}, {"aäb", 2, "a"}, {"ää", 2, "ä"}, {"", 3, ""}, {"日本", 0, ""}} {
		if got := cutRunes(c.s, c.n); got != c.want {
			t.Errorf("%q cut to %d is %q, expected %q", c.s, c.n, got, c.want)
		}
	}
}

// FuzzText: the functions over text take anything. A heard prefix is one; a
// sentence's end lies in the text and between two letters.
func FuzzText(f *testing.F) {
	f.Add("Where to? I can book.", "where", int64(time.Second))
	f.Add("日本語。 x", "日本", int64(5))
	f.Add("\xff. \xc3", "\xff", int64(1))
	f.Add(" \n ", " ", int64(time.Hour))
	f.Fuzz(func(t *testing.T, full, known string, heard int64) {
		if got := heardPrefix(full, time.Duration(heard), known); !strings.HasPrefix(full, got) {
			t.Fatalf("%q was heard of %q", got, full)
		}
		n := sentenceEnd(full)
		if n < 0 || n > len(full) || utf8.ValidString(full) && !utf8.ValidString(full[:n]) {
			t.Fatalf("the sentence of %q ends at %d", full, n)
		}
		if once := squeeze(full); squeeze(once) != once {
			t.Fatalf("%q is squeezed twice", full)
		}
	})
}
