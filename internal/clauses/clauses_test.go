package clauses

import (
	"strings"
	"testing"
)

func texts(cs []Clause) []string {
	var out []string
	for _, c := range cs {
		out = append(out, c.Text())
	}
	return out
}

func TestSplit(t *testing.T) {
	for _, tc := range []struct {
		name, in string
		words    int
		want     []string
	}{
		{"one sentence", "Hello there.", 12, []string{"Hello there."}},
		{"two sentences", "It is late. Shall we go?", 12, []string{"It is late.", "Shall we go?"}},
		{"abbreviations do not end a sentence", "Dr. Smith and J. Doe live here. Fine.", 12, []string{"Dr. Smith and J. Doe live here.", "Fine."}},
		{"decimal points do not end a sentence", "It costs 2.50 today. Thanks.", 12, []string{"It costs 2.50 today.", "Thanks."}},
		{
			"a long sentence is cut at a clause, the first one sooner", "one two three four, five six seven, eight nine ten eleven twelve, end of it", 4,
			[]string{"one two three four,", "five six seven, eight nine ten eleven twelve,", "end of it"},
		},
		{"no cut right before the end", "one two three four, please", 4, []string{"one two three four, please"}},
		{"typographic signs", "“It’s a café” – naïve… right?", 12, []string{"\"It's a cafe\", naive. right?"}},
		{"dashes join as pauses", "wait—now", 12, []string{"wait, now"}},
		{"ranges keep their dash", "pages 3–5", 12, []string{"pages 3-5"}},
		{"currency follows the number", "It is €20.", 12, []string{"It is 20 euros."}},
		{"markup and emoji are not spoken", "**Great** 👍 _news_!", 12, []string{"Great news!"}},
		{"nothing to say", "👍 … --- ", 12, nil},
		{"other scripts are left out", "привет hello", 12, []string{"hello"}},
		{"control characters are spaces", "a\x00b\nc", 12, []string{"a b c"}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			got := texts(Split(tc.in, tc.words))
			if strings.Join(got, "|") != strings.Join(tc.want, "|") {
				t.Errorf("Split(%q) = %q, want %q", tc.in, got, tc.want)
			}
		})
	}
}

func TestSplitOffsetsPointAtTheWords(t *testing.T) {
	text := "“Café” opens — at 10:45. It’s €5, naïve?"
	var got []string
	for _, c := range Split(text, 12) {
		for _, f := range c.Fields {
			got = append(got, text[f.At:f.At+3])
		}
	}
	want := []string{"“", "ope", "at ", "10:", "It\xe2", "€", "€", "na\xc3"}
	if strings.Join(got, "|") != strings.Join(want, "|") {
		t.Errorf("offsets lead to %q, want %q", got, want)
	}
}

func TestSplitBoundsEverything(t *testing.T) {
	long := strings.Repeat("word ", 500) + strings.Repeat("x", 500)
	cs := Split(long, 12)
	for _, c := range cs {
		if len(c.Fields) > MaxWords {
			t.Fatalf("a clause has %d words, the bound is %d", len(c.Fields), MaxWords)
		}
		for _, f := range c.Fields {
			if len(f.Text) > maxFieldBytes+1 {
				t.Fatalf("a field has %d bytes, the bound is %d", len(f.Text), maxFieldBytes)
			}
		}
	}
	if end := cs[len(cs)-1].End; end != len(long) {
		t.Errorf("the last clause ends at %d, want %d", end, len(long))
	}
}

func FuzzSplit(f *testing.F) {
	for _, s := range []string{"", "Hello. World!", "€€5—x", "\xff\xfe bad utf8 \xc3", strings.Repeat("a", 100), "a … b", "$1,000,000.00 e.g. this."} {
		f.Add(s, 6)
	}
	f.Fuzz(func(t *testing.T, s string, words int) {
		words = 1 + (words&0x7fffffff)%MaxWords
		at := 0
		for _, c := range Split(s, words) {
			if len(c.Fields) == 0 || len(c.Fields) > MaxWords {
				t.Fatalf("%q: clause of %d words", s, len(c.Fields))
			}
			for _, fl := range c.Fields {
				if fl.At < at || fl.At > len(s) {
					t.Fatalf("%q: offset %d after %d", s, fl.At, at)
				}
				at = fl.At
				if len(fl.Text) > maxFieldBytes+1 || !strings.ContainsFunc(fl.Text, alphanumeric) {
					t.Fatalf("%q: field %q", s, fl.Text)
				}
				for i := range len(fl.Text) {
					if fl.Text[i] <= ' ' || fl.Text[i] > '~' {
						t.Fatalf("%q: field %q is not plain ASCII", s, fl.Text)
					}
				}
			}
			if c.End < at || c.End > len(s) {
				t.Fatalf("%q: clause ends at %d of %d", s, c.End, len(s))
			}
		}
	})
}

func TestAccentsPairUp(t *testing.T) {
	if a, p := len([]rune(accented)), len(plain); a != p {
		t.Fatalf("%d accented letters, %d plain ones", a, p)
	}
	for _, tc := range []struct {
		r    rune
		want string
	}{{'é', "e"}, {'ñ', "n"}, {'ž', "z"}, {'Ü', "U"}, {'Ž', "Z"}, {'ç', "c"}, {'ő', "o"}, {'ş', "s"}, {'Ç', "C"}} {
		if got := fold(tc.r); got != tc.want {
			t.Errorf("fold(%q) = %q, want %q", tc.r, got, tc.want)
		}
	}
}
