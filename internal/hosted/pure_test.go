package hosted

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/hocketvoice/hocket/audio"
	"github.com/hocketvoice/hocket/port"
)

const ms = time.Millisecond

func TestWordsOfTokens(t *testing.T) {
	words := assemble([]Token{
		{" Hel", 100 * ms, 200 * ms, 0.8},
		{"lo", 200 * ms, 300 * ms, 0.6},
		{",", 300 * ms, 300 * ms, 0.7},
		{" ", 0, 0, 0},
		{"my friend", 400 * ms, 500 * ms, 2},
		{" ", 0, 0, 0},
	})
	want := "[{Hello, 100ms 300ms 0.7} {my 400ms 500ms 1} {friend 400ms 500ms 1}]"
	for i := range words {
		words[i].Confidence = float64(int(words[i].Confidence*100+0.5)) / 100
	}
	if got := fmt.Sprint(words); got != want {
		t.Errorf("%s, want %s", got, want)
	}
	if got := transcript(words); got.Text != "Hello, my friend" || got.Start != 100*ms || got.End != 500*ms || got.Confidence < 0.89 || got.Confidence > 0.91 {
		t.Errorf("%+v", got)
	}
	if got := transcript(nil); got.Text != "" || got.Confidence != 0 {
		t.Errorf("no words: %+v", got)
	}
}

func TestTimesOfWhatWasSentAreThoseOfTheStream(t *testing.T) {
	c := clock{rate: 1000}
	c.add(5000, 1000) // 5 s to 6 s
	c.add(6000, 500)  // without a gap
	c.add(20000, 1000)
	for sent, want := range map[time.Duration]time.Duration{
		0: 5 * time.Second, time.Second: 6 * time.Second, 1499 * ms: 6499 * ms, 1500 * ms: 20 * time.Second, 2 * time.Second: 20500 * ms,
	} {
		if got := c.stream(sent); got != want {
			t.Errorf("%v is %v, want %v", sent, got, want)
		}
	}
	if len(c.spans) != 2 {
		t.Errorf("%d spans, want 2", len(c.spans))
	}
	for i := range 100 {
		c.add(audio.Pos(100000+i*5000), 1000)
	}
	if len(c.spans) > maxSpans {
		t.Errorf("%d spans", len(c.spans))
	}
}

func TestMarksOfSpokenWords(t *testing.T) {
	text := "Dr. Smith owes you $25, OK?  Yes - he does."
	for spoken, want := range map[string]string{
		// as the text says it
		"Dr. Smith owes you $25, OK? Yes he does.": "Dr.|Smith|owes|you|$25,|OK?|Yes|he|does.",
		// as it is pronounced
		"doctor smith owes you twenty five dollars ok yes he does": "Smith|owes|you|OK?|Yes|he|does.",
		// another text
		"nothing of this": "",
		"":                "",
	} {
		a := newAligner(text)
		var got []string
		for i, w := range strings.Fields(spoken) {
			if m, ok := a.add(Spoken{w, time.Duration(i) * 100 * ms}, 1000); ok {
				if m.At != audio.Pos(i*100) {
					t.Errorf("%q is at %d, want %d", w, m.At, i*100)
				}
				got = append(got, strings.Fields(text[m.Text:])[0])
			}
		}
		if strings.Join(got, "|") != want {
			t.Errorf("%q: %q, want %q", spoken, got, want)
		}
	}
}

func TestSpell(t *testing.T) {
	chars := strings.Split("he said no", "")
	var starts []time.Duration
	for i := range chars {
		starts = append(starts, time.Duration(i)*ms)
	}
	for cut := range chars {
		first, rest := spell(Spoken{}, chars[:cut], starts[:cut])
		second, rest := spell(rest, chars[cut:], starts[cut:])
		if got := fmt.Sprint(append(first, second...), rest); got != "[{he 0s} {said 3ms}] {no 8ms}" {
			t.Errorf("cut at %d: %s", cut, got)
		}
	}
}

func TestTerms(t *testing.T) {
	e := port.Expectation{Phrases: []string{"Boston", "new  york", "from (boston | denver)", "", "Boston", "\xff", "a\x00b", strings.Repeat("x", 101), "<city>", "Ulm", "Rome"}}
	if got := Terms(e, 3); !slices.Equal(got, []string{"Boston", "new york", "Ulm"}) {
		t.Errorf("%q", got)
	}
}

func FuzzSplit(f *testing.F) {
	f.Add("a few words", 4)
	f.Add("äöü ß", 1)
	f.Fuzz(func(t *testing.T, text string, most int) {
		if most < 1 || most > 1000 {
			return
		}
		parts := Split(text, most)
		for _, p := range parts {
			if n := len([]rune(p)); n > most || n == 0 {
				t.Errorf("%q has %d characters of %d", p, n, most)
			}
		}
		if strings.Join(parts, "") != text {
			t.Errorf("%q of %q", parts, text)
		}
	})
}

// TestUtterances checks which results a series of messages gives.
func TestUtterances(t *testing.T) {
	token := func(text string, at time.Duration) []Token { return []Token{{" " + text, at, at + 100*ms, 0.9}} }
	var u utterance
	step := func(what string, results []port.Transcript, want string) {
		t.Helper()
		var got []string
		for _, r := range results {
			s := r.Text
			if r.Final {
				s += "."
			}
			if r.Endpoint {
				s += "!"
			}
			got = append(got, s)
		}
		if strings.Join(got, "|") != want {
			t.Errorf("%s: %q, want %q", what, got, want)
		}
	}
	step("words before an utterance", u.hear(Heard{Fixed: token("x", 0)}), "")
	u.begin()
	step("a word", u.hear(Heard{Volatile: token("one", 0)}), "one")
	step("the same word", u.hear(Heard{Volatile: token("one", 0)}), "")
	step("it is fixed", u.hear(Heard{Fixed: token("one", 0), Volatile: token("too", 100*ms)}), "one too")
	step("another", u.hear(Heard{Volatile: token("two", 100*ms)}), "one two")
	step("an endpoint", u.hear(Heard{Fixed: token("two", 100*ms), Endpoint: true}), "one two.!")
	step("an endpoint without words", u.hear(Heard{Endpoint: true}), "")
	step("the utterance goes on", u.hear(Heard{Volatile: token("three", 300*ms)}), "three")
	u.conclude(true, 500*ms, false, time.Time{})
	u.begin()
	step("an endpoint while the final words are awaited", u.hear(Heard{Fixed: token("three", 300*ms), Endpoint: true}), "")
	step("the final words", u.hear(Heard{Finalized: true}), "three.")
	step("late words of it", u.hear(Heard{Fixed: token("late", 400*ms)}), "")
	step("words of the next one", u.hear(Heard{Volatile: token("four", 600*ms)}), "four")
	u.conclude(false, 700*ms, false, time.Time{})
	step("words of a discarded one", u.hear(Heard{Volatile: token("five", 650*ms)}), "")
	u.begin()
	u.conclude(true, 900*ms, false, time.Time{})
	step("the discarded one ends", u.hear(Heard{Finalized: true}), "")
	step("nobody answers", u.expire(), ".")
	u.begin()
	u.conclude(true, 1100*ms, false, time.Time{})
	step("the late answer", u.hear(Heard{Finalized: true, Fixed: token("six", 800*ms)}), "")
	step("the answer", u.hear(Heard{Finalized: true, Fixed: token("seven", 1000*ms)}), "seven.")
	u.begin()
	u.conclude(true, 1500*ms, true, time.Time{})
	step("not enough sound", u.hear(Heard{Volatile: token("eight", 1200*ms), Through: 1300 * ms}), "eight")
	step("enough sound", u.hear(Heard{Volatile: token("eight", 1200*ms), Through: 1450 * ms}), "eight.")
}

// TestNothingIsAwaitedThatWasHeard checks that an utterance is over when it ends if there is no
// request and all of its sound has been processed.
func TestNothingIsAwaitedThatWasHeard(t *testing.T) {
	for through, want := range map[time.Duration]int{950 * ms: 1, 1100 * ms: 0} {
		var u utterance
		u.begin()
		u.hear(Heard{Fixed: []Token{{" yes", 100 * ms, 300 * ms, 1}}, Through: 900 * ms})
		results := u.conclude(true, through, true, time.Time{})
		if len(results) != want || want == 1 && (results[0].Text != "yes" || !results[0].Final || u.busy()) {
			t.Errorf("%v: %+v, want %d results", through, results, want)
		}
	}
}
