package turn

import (
	"math"
	"strings"
	"testing"
	"unicode/utf8"
)

func TestTokens(t *testing.T) {
	for text, want := range map[string]string{
		"":                   "",
		" .,!? ":             "",
		"Hello, World!":      "hello|world",
		"Don't stop":         "dont|stop",
		"don’t":              "dont",
		"uh-huh":             "uh|huh",
		"4K":                 "4k",
		"4.5 or 1,000.":      "4.5|or|1,000",
		"at 9.Then":          "at|9|then",
		"9.9 0.0":            "9.9|0.0",
		"9.x x.9":            "9|x|x|9",
		"A.B.C.":             "a|b|c",
		"ÄRGER mit STRASSE":  "ärger|mit|strasse",
		"Ünïcode\u0301 x":    "ünïcode\u0301|x",
		"我想去":                "我|想|去",
		"東京 hotel":           "東|京|hotel",
		"'quoted' 'words'":   "quoted|words",
		"\xff\xfebroken\xff": "broken",
		"tabs\tand\nlines":   "tabs|and|lines",
		"a@b.c $5 50%":       "a|b|c|5|50",
		"안녕하세요 여러분":          "안녕하세요|여러분",
		"Москва, Санкт-Петербург": "москва|санкт|петербург",
	} {
		tok := tokens{}.read(text)
		var got []string
		for i := range tok.spans {
			got = append(got, string(tok.word(i)))
		}
		if s := strings.Join(got, "|"); s != want {
			t.Errorf("%q: %q, want %q", text, s, want)
		}
		if s := string(tok.text); s != strings.ReplaceAll(want, "|", " ") {
			t.Errorf("%q is kept as %q", text, s)
		}
	}
}

// The agent's words in the tests of echo.
const playing = "I found three flights to Boston tomorrow. The cheapest one leaves at nine in the morning and costs two hundred dollars. Would you like to book it?"

// wordsOnly is the policy of seed 004.
var wordsOnly = BargeInOptions{Policy: BargeInWords}.Or(DefaultBargeIn())

// TestFeature2InterruptionDetection checks that, while the agent speaks, two or more
// substantial words interrupt, and one word, fillers and the agent's own voice do not (seed
// 004, feature 2).
func TestFeature2InterruptionDetection(t *testing.T) {
	w := lookup(t, "en")
	for text, want := range map[string]VerdictKind{
		"":                                 Nothing,
		"...":                              Nothing,
		"um":                               Filler,
		"Uh, um...":                        Filler,
		"mhm":                              Backchannel,
		"Mm-hmm.":                          Backchannel,
		"um yeah okay":                     Backchannel,
		"I see, right.":                    Backchannel,
		"Denver":                           OneWord,
		"um, Denver":                       OneWord,
		"Boston":                           Echo,    // one word of the agent
		"yeah but":                         OneWord, // so far
		"not Boston":                       Speech,
		"yeah but not that one":            Speech,
		"I want something else":            Speech,
		"stop":                             AlwaysInterrupt,
		"Wait!":                            AlwaysInterrupt,
		"okay hold on":                     AlwaysInterrupt,
		"Just a second, please":            AlwaysInterrupt,
		"three flights to Boston tomorrow": Echo,
		"tomorrow the cheapest one":        Echo,
		"tree flights to Bosten tomorow":   Echo, // garbled
		"ghts to Boston tomor":             Echo, // cut off at both ends
		"found flights Boston tomorrow":    Echo, // words lost
		"would you like to bo":             Echo,
		// Real interruptions that share words with the agent.
		"I want to fly to Denver":               Speech,
		"the flight to Denver":                  Speech,
		"to Austin at ten":                      Speech,
		"how much is it":                        Speech,
		"is there one at night":                 Speech,
		"the one in the evening":                Speech,
		"no the day after tomorrow":             Speech,
		"at ten in the evening please":          Speech,
		"three flights to Boston no I want two": Speech, // echo, and the user on top
	} {
		got := Classify(text, playing, w, FilterOptions{})
		if got.Kind != want {
			t.Errorf("%q: %+v, want %s", text, got, want)
		}
		interrupts := interrupts(wordsOnly, got)
		if wantInterrupt := want == Speech || want == AlwaysInterrupt; interrupts != wantInterrupt {
			t.Errorf("%q interrupts: %v", text, interrupts)
		}
	}
}

// TestFeature6FilteringDuringAgentSpeech checks that the filters apply only while the agent
// speaks: "hello", "yes" and "4K" are input when it is silent (seed 004, feature 6).
func TestFeature6FilteringDuringAgentSpeech(t *testing.T) {
	w := lookup(t, "en")
	for _, text := range []string{"hello", "yes", "4K", "42", "um", "okay", "Boston", "wait"} {
		speaking := Classify(text, playing, w, FilterOptions{})
		if interrupts(wordsOnly, speaking) != (speaking.Kind == AlwaysInterrupt) {
			t.Errorf("%q while the agent speaks: %+v interrupts", text, speaking)
		}
		silent := Unfiltered(text)
		if silent.Kind != OneWord || silent.Substantial != 1 {
			t.Errorf("%q while the agent is silent: %+v, want a word that counts", text, silent)
		}
	}
	for text, want := range map[string]Verdict{
		"":             {},
		"um okay":      {Kind: Speech, Words: 2, Substantial: 2},
		"yes I see 4K": {Kind: Speech, Words: 4, Substantial: 4},
	} {
		if got := Unfiltered(text); got != want {
			t.Errorf("%q: %+v, want %+v", text, got, want)
		}
	}
	// Numbers are substantial even then: two of them interrupt.
	for text, want := range map[string]int{"4K": 1, "4K 60": 2, "one two": 2, "um 4K": 1, "two hundred": 2} {
		if got := Classify(text, "", w, FilterOptions{}).Substantial; got != want {
			t.Errorf("%q has %d substantial words, want %d", text, got, want)
		}
	}
}

func TestClassifyAlwaysInterruptAndEcho(t *testing.T) {
	w := lookup(t, "en")
	const said = "You can say stop at any time. Please hold on while I look."
	for text, want := range map[string]VerdictKind{
		"stop":                        AlwaysInterrupt, // alone it is the user, whatever plays
		"hold on":                     AlwaysInterrupt,
		"stop stop":                   AlwaysInterrupt,
		"you can say stop at any":     Echo,
		"please hold on while I":      Echo,
		"stop at any time":            Echo,
		"can say stop at any wait":    AlwaysInterrupt, // not in what plays
		"please stop":                 AlwaysInterrupt, // not an echo: one word of two
		"you can say stop at any tim": Echo,
	} {
		if got := Classify(text, said, w, FilterOptions{}); got.Kind != want {
			t.Errorf("%q: %+v, want %s", text, got, want)
		}
	}
}

func TestClassifyGerman(t *testing.T) {
	w := lookup(t, "de-DE")
	const said = "Ich habe drei Flüge nach München gefunden. Der günstigste kostet zweihundert Euro."
	for text, want := range map[string]VerdictKind{
		"ähm":                        Filler,
		"Ja, genau.":                 Backchannel,
		"ach so, alles klar":         Backchannel,
		"MÜNCHEN":                    Echo, // one word of the agent
		"Hamburg":                    OneWord,
		"Moment mal":                 AlwaysInterrupt,
		"hören Sie auf":              AlwaysInterrupt,
		"drei Flüge nach München":    Echo,
		"drei Fluge nach Munchen":    Echo,
		"ich möchte nach Hamburg":    Speech,
		"das ist mir zu teuer":       Speech,
		"der günstigste ist zu spät": Speech,
	} {
		if got := Classify(text, said, w, FilterOptions{}); got.Kind != want {
			t.Errorf("%q: %+v, want %s", text, got, want)
		}
	}
}

func TestClassifyOptions(t *testing.T) {
	w := lookup(t, "en")
	const said = "one two three four five six seven eight nine ten"
	for _, tc := range []struct {
		echo float64
		text string
		want VerdictKind
	}{
		{0, "one two three x five six seven y nine ten", Echo}, // 8 of 10
		{0, "one two three x five six seven y z ten", Echo},    // 7 of 10, the default
		{0, "one two w x five six seven y z ten", Speech},      // 6 of 10
		{0.6, "one two w x five six seven y z ten", Echo},
		{0.61, "one two w x five six seven y z ten", Speech},
		{1, "one two three", Echo},
		{1, "one two three x", Speech},
		{Off, "one two three", Speech},
		// Three foreign words in a row are the user's, however long the echo.
		{0, "one two three four five six seven eight x y", Echo},
		{0, "one two three four five six seven x y z", Speech},
	} {
		if got := Classify(tc.text, said, w, FilterOptions{Echo: tc.echo}); got.Kind != tc.want {
			t.Errorf("threshold %v, %q: %+v, want %s", tc.echo, tc.text, got, tc.want)
		}
	}
	if (FilterOptions{}).Validate() != nil || (FilterOptions{Echo: Off}).Validate() != nil {
		t.Error("good options are refused")
	}
	for _, bad := range []float64{-0.5, 1.1, math.NaN()} {
		if (FilterOptions{Echo: bad}).Validate() == nil {
			t.Errorf("a threshold of %v is accepted", bad)
		}
	}
}

// TestClassifyScatteredWordsAreNoEcho checks that common words scattered over a long text
// are not an echo of it.
func TestClassifyScatteredWordsAreNoEcho(t *testing.T) {
	w := lookup(t, "en")
	long := "I can help you with that. If you want to change the date of the trip then there is a fee that the airline takes, " +
		"and it depends on when you would like to go and on what is left in the class that you have booked with us this year."
	for _, text := range []string{"I want that date with us", "you change that and go left", "can I go when the class is booked"} {
		if got := Classify(text, long, w, FilterOptions{}); got.Kind != Speech {
			t.Errorf("%q: %+v, want speech", text, got)
		}
	}
	if got := Classify("depends on when you would like", long, w, FilterOptions{}); got.Kind != Echo {
		t.Errorf("an echo from the middle: %+v", got)
	}
}

func TestClassifyNumbersAreNotMisheard(t *testing.T) {
	w := lookup(t, "en")
	if got := Classify("in 2025", "in 2024", w, FilterOptions{}); got.Kind != Speech {
		t.Errorf("a correction of a number: %+v", got)
	}
	if got := Classify("in 2024", "in 2024", w, FilterOptions{}); got.Kind != Echo {
		t.Errorf("the same number: %+v", got)
	}
}

func TestClassifyLongTexts(t *testing.T) {
	w := lookup(t, "en")
	long := strings.Repeat("alpha beta gamma delta ", 100)
	if got := Classify(long, long, w, FilterOptions{}); got.Kind != Echo || got.Words != 400 {
		t.Errorf("%+v", got)
	}
	if got := Classify(long, "", w, FilterOptions{}); got.Kind != Speech || got.Substantial != 400 {
		t.Errorf("%+v", got)
	}
	// The end of what plays counts, and an interruption before the last words
	// that are compared still does.
	if got := Classify("stop "+long, long, w, FilterOptions{}); got.Kind != AlwaysInterrupt {
		t.Errorf("%+v", got)
	}
	if got := Classify("a word or two", long+" a word or two", nil, FilterOptions{}); got.Kind != Echo {
		t.Errorf("%+v", got)
	}
	word := strings.Repeat("x", 100000)
	if got := Classify(word, word+"y", nil, FilterOptions{}); got.Words != 1 {
		t.Errorf("%+v", got)
	}
}

func TestSounds(t *testing.T) {
	for _, tc := range []struct {
		heard string
		i     int
		as    string
		want  bool
	}{
		{"a boston b", 1, "boston", true},
		{"a bosten b", 1, "boston", true},
		{"a basten b", 1, "boston", false},     // two letters of six
		{"a tomaros b", 1, "tomorow", true},    // of seven
		{"a cat b", 1, "car", false},           // too short to be misheard
		{"a cart b", 1, "card", true},          // just long enough
		{"a b to", 2, "tomorrow", true},        // cut off at the end of the text
		{"a b t", 2, "tomorrow", false},        // a letter tells nothing
		{"a tom b", 1, "tomorrow", false},      // in the middle nothing is cut off
		{"row a b", 0, "tomorrow", true},       // cut off at its beginning
		{"ow a b", 0, "tomorrow", false},       // two letters tell nothing there
		{"a row b", 1, "tomorrow", false},      //
		{"a 20245 b", 1, "20246", false},       // a number is not misheard
		{"a flightx b", 1, "flight1", false},   // nor what looks like one
		{"a flight1 b", 1, "flightx", false},   //
		{"a abcdefgh b", 1, "hgfedcba", false}, // the same letters
	} {
		heard, played := tokens{}.read(tc.heard), tokens{}.read("x "+tc.as)
		if got := sounds(&heard, tc.i, &played, 1); got != tc.want {
			t.Errorf("word %d of %q as %q: %v", tc.i, tc.heard, tc.as, got)
		}
	}
}

func TestWithin(t *testing.T) {
	for _, tc := range []struct {
		a, b  string
		edits int
		want  bool
	}{
		{"boston", "bosten", 1, true},
		{"boston", "bostn", 1, true},
		{"boston", "bostoon", 1, true},
		{"boston", "austin", 2, false},
		{"münchen", "munchen", 1, true}, // a letter, not two bytes
		{"flüge", "fluge", 1, true},
		{"tomorrow", "tomoro", 2, true},
		{"tomorrow", "tomoro", 1, false},
		{"boston", "bostoxyz", 2, false},
		{"boston", "bosto", 1, true},
		{"", "ab", 2, true},
		{"", "ab", 1, false},
		{strings.Repeat("a", 24), strings.Repeat("a", 24), 0, true},
		{strings.Repeat("a", 25), strings.Repeat("a", 25), 0, false}, // too long to compare
	} {
		if got := within([]byte(tc.a), []byte(tc.b), tc.edits); got != tc.want {
			t.Errorf("%q, %q, %d: %v", tc.a, tc.b, tc.edits, got)
		}
		if got := within([]byte(tc.b), []byte(tc.a), tc.edits); got != tc.want {
			t.Errorf("%q, %q, %d: %v", tc.b, tc.a, tc.edits, got)
		}
	}
}

func TestClassifyAllocatesNothing(t *testing.T) {
	w := lookup(t, "en")
	var v Verdict
	if n := testing.AllocsPerRun(100, func() {
		v = Classify("tree flights to Bosten tomorow the cheap", playing, w, FilterOptions{})
	}); n != 0 {
		t.Errorf("%v allocations", n)
	}
	if v.Kind != Echo {
		t.Errorf("%+v", v)
	}
}

func FuzzClassify(f *testing.F) {
	f.Add("stop", playing)
	f.Add("three flights to Boston tomorrow", playing)
	f.Add("Mm-hmm, 4.5 o’clock 東京", "ähm \xff I see 1,000")
	f.Add(strings.Repeat("a ", 60), strings.Repeat("a b ", 200))
	w := lookup(f, "en")
	f.Fuzz(func(t *testing.T, text, playing string) {
		v := Classify(text, playing, w, FilterOptions{})
		plain := Unfiltered(text)
		if v.Words != plain.Words || v.Substantial < 0 || v.Substantial > v.Words {
			t.Fatalf("%q while %q plays: %+v; unfiltered %+v", text, playing, v, plain)
		}
		if (v.Kind == Nothing) != (v.Words == 0) || v.Kind == Speech && v.Substantial < 2 || v.Kind == OneWord && v.Substantial != 1 {
			t.Fatalf("%q: %+v", text, v)
		}
		if playing == "" && v.Kind == Echo {
			t.Fatalf("an echo of nothing: %q", text)
		}
		tok := tokens{}.read(text)
		if utf8.ValidString(text) && !utf8.Valid(tok.text) {
			t.Fatalf("%q becomes %q", text, tok.text)
		}
	})
}

// Goal: below 50 us with an echo of ordinary length, 0 allocations.
func BenchmarkClassify(b *testing.B) {
	w := lookup(b, "en")
	b.ReportAllocs()
	for range b.N {
		Classify("tree flights to Bosten tomorow the cheapest", playing, w, FilterOptions{})
	}
}
