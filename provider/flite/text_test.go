package flite

import (
	"strings"
	"testing"
)

func texts(cs []clause) []string {
	var out []string
	for _, c := range cs {
		out = append(out, c.text())
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
			got := texts(split(tc.in, tc.words))
			if strings.Join(got, "|") != strings.Join(tc.want, "|") {
				t.Errorf("split(%q) = %q, want %q", tc.in, got, tc.want)
			}
		})
	}
}

func TestSplitOffsetsPointAtTheWords(t *testing.T) {
	text := "“Café” opens — at 10:45. It’s €5, naïve?"
	var got []string
	for _, c := range split(text, 12) {
		for _, f := range c.fields {
			got = append(got, text[f.at:f.at+3])
		}
	}
	want := []string{"“", "ope", "at ", "10:", "It\xe2", "€", "€", "na\xc3"}
	if strings.Join(got, "|") != strings.Join(want, "|") {
		t.Errorf("offsets lead to %q, want %q", got, want)
	}
}

func TestSplitBoundsEverything(t *testing.T) {
	long := strings.Repeat("word ", 500) + strings.Repeat("x", 500)
	cs := split(long, 12)
	for _, c := range cs {
		if len(c.fields) > maxClauseWords {
			t.Fatalf("a clause has %d words, the bound is %d", len(c.fields), maxClauseWords)
		}
		for _, f := range c.fields {
			if len(f.text) > maxFieldBytes+1 {
				t.Fatalf("a field has %d bytes, the bound is %d", len(f.text), maxFieldBytes)
			}
		}
	}
	if end := cs[len(cs)-1].end; end != len(long) {
		t.Errorf("the last clause ends at %d, want %d", end, len(long))
	}
}

func FuzzSplit(f *testing.F) {
	for _, s := range []string{"", "Hello. World!", "€€5—x", "\xff\xfe bad utf8 \xc3", strings.Repeat("a", 100), "a … b", "$1,000,000.00 e.g. this."} {
		f.Add(s, 6)
	}
	f.Fuzz(func(t *testing.T, s string, words int) {
		words = 1 + (words&0x7fffffff)%maxClauseWords
		at := 0
		for _, c := range split(s, words) {
			if len(c.fields) == 0 || len(c.fields) > maxClauseWords {
				t.Fatalf("%q: clause of %d words", s, len(c.fields))
			}
			for _, fl := range c.fields {
				if fl.at < at || fl.at > len(s) {
					t.Fatalf("%q: offset %d after %d", s, fl.at, at)
				}
				at = fl.at
				if len(fl.text) > maxFieldBytes+1 || !strings.ContainsFunc(fl.text, alphanumeric) {
					t.Fatalf("%q: field %q", s, fl.text)
				}
				for i := range len(fl.text) {
					if fl.text[i] <= ' ' || fl.text[i] > '~' {
						t.Fatalf("%q: field %q is not plain ASCII", s, fl.text)
					}
				}
			}
			if c.end < at || c.end > len(s) {
				t.Fatalf("%q: clause ends at %d of %d", s, c.end, len(s))
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

func TestOptionsValidate(t *testing.T) {
	if err := (Options{}).Validate(); err != nil {
		t.Errorf("the zero value: %v", err)
	}
	for _, o := range []Options{{Voice: "nobody"}, {ClauseWords: -1}, {ClauseWords: 1000}} {
		if o.Validate() == nil {
			t.Errorf("%+v is accepted", o)
		}
	}
}
