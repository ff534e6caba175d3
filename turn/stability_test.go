package turn

import (
	"math"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"
)

func stability(t rapid.TB, o StabilityOptions) *Stability {
	t.Helper()
	s, err := NewStability(o)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func near(got, want float64) bool { return math.Abs(got-want) < 1e-9 }

// TestStabilityLatency checks the cost of five samples: the time after which an unchanging
// text gets a score.
func TestStabilityLatency(t *testing.T) {
	for _, tc := range []struct {
		every, want time.Duration
	}{
		{100 * ms, 400 * ms},
		{10 * ms, 200 * ms}, // repeats within 50 ms are one sample
		{20 * ms, 240 * ms},
		{30 * ms, 240 * ms},
		{40 * ms, 320 * ms},
		{130 * ms, 520 * ms}, // never five within 500 ms: the last five count
		{300 * ms, 1200 * ms},
	} {
		s := stability(t, StabilityOptions{})
		for at := time.Duration(0); ; at += tc.every {
			got := s.Update("yes", 0.9, at)
			if got != 0 && !near(got, 1) {
				t.Fatalf("every %v: an unchanging text is rated %v", tc.every, got)
			}
			if got != 0 {
				if at != tc.want {
					t.Errorf("every %v: rated after %v, want %v", tc.every, at, tc.want)
				}
				break
			}
			if at > 2*time.Second {
				t.Errorf("every %v: never rated", tc.every)
				break
			}
		}
	}
}

// TestStabilityScore compares the score with one computed by hand.
func TestStabilityScore(t *testing.T) {
	s := stability(t, StabilityOptions{})
	var got float64
	for i, x := range []struct {
		text string
		conf float64
	}{{"ab", 0.5}, {"abcd", 0.5}, {"abcd", 1}, {"abcd", 1}, {"abcd", 1}} {
		got = s.Update(x.text, x.conf, time.Duration(i)*100*ms)
	}
	similar := (0.5 + 1 + 1 + 1) / 4
	variance := (2*0.3*0.3 + 3*0.2*0.2) / 5             // mean 0.8
	variation := math.Sqrt((1.6*1.6+4*0.4*0.4)/5) / 3.6 // mean length 3.6
	want := 0.6*similar + 0.25*(1-4*variance) + 0.15*(1-variation)
	if !near(got, want) {
		t.Errorf("rated %v, want %v", got, want)
	}
	// 500 ms later only the unchanged samples are in the window.
	for i := 5; i < 10; i++ {
		got = s.Update("abcd", 1, time.Duration(i)*100*ms)
	}
	if !near(got, 1) {
		t.Errorf("rated %v after the window has passed, want 1", got)
	}
}

func TestStabilityWithoutConfidence(t *testing.T) {
	s := stability(t, StabilityOptions{})
	var got float64
	for i, text := range []string{"ab", "abcd", "abcd", "abcd", "abcd"} {
		got = s.Update(text, math.NaN(), time.Duration(i)*100*ms)
	}
	similar := (0.5 + 1 + 1 + 1) / 4
	variation := math.Sqrt((1.6*1.6+4*0.4*0.4)/5) / 3.6
	if want := (0.6*similar + 0.15*(1-variation)) / 0.75; !near(got, want) {
		t.Errorf("rated %v, want %v", got, want)
	}
}

// TestStabilityAgainstTheThreshold checks which texts reach the controller's threshold of
// 0.8.
func TestStabilityAgainstTheThreshold(t *testing.T) {
	for _, tc := range []struct {
		name  string
		texts []string
		pass  bool
	}{
		{"settled", []string{"book a flight", "book a flight", "book a flight", "book a flight", "book a flight"}, true},
		{"a last letter", []string{"book a fligh", "book a flight", "book a flight", "book a flight", "book a flight"}, true},
		{"the words just came", []string{"book", "book a", "book a flight", "book a flight to", "book a flight to Boston"}, false},
		{"wavering", []string{"I scream", "ice cream", "I scream", "ice cream", "I scream"}, false},
	} {
		s := stability(t, StabilityOptions{})
		var got float64
		for i, text := range tc.texts {
			got = s.Update(text, 0.9, time.Duration(i)*100*ms)
		}
		if got >= 0.8 != tc.pass {
			t.Errorf("%s: rated %v", tc.name, got)
		}
	}
}

func TestStabilityFinal(t *testing.T) {
	s := stability(t, StabilityOptions{})
	s.Final("yes")
	if got := s.Update("yes", 0.9, 0); got != 1 {
		t.Errorf("a final text is rated %v, want 1", got)
	}
	if got := s.Update("yes please", 0.9, 100*ms); got != 0 {
		t.Errorf("new words after a final text are rated %v, want 0", got)
	}
	if got := s.Update("", 0.9, 200*ms); got != 0 {
		t.Errorf("an empty text is rated %v, want 0", got)
	}
	if got := s.Update("yes", 0.9, 300*ms); got != 0 {
		t.Errorf("the next utterance is rated %v at once, want 0", got)
	}
}

func TestStabilityTimeGoesBack(t *testing.T) {
	s := stability(t, StabilityOptions{})
	for i := range 10 {
		s.Update("hello", 0.9, time.Second+time.Duration(i)*100*ms)
	}
	if got := s.Update("hello", 0.9, 0); got != 0 {
		t.Errorf("a stream that starts anew is rated %v, want 0", got)
	}
}

func TestStabilityIsBounded(t *testing.T) {
	s := stability(t, StabilityOptions{MinSamples: maxSamples, Window: time.Minute})
	for i := range 1000 {
		got := s.Update(strings.Repeat("x", 1+i%7), 0.9, time.Duration(i)*ms)
		if (got > 0) != (i >= maxSamples-1) {
			t.Fatalf("rated %v at sample %d", got, i+1)
		}
	}
	if s.n != maxSamples {
		t.Errorf("%d samples are kept", s.n)
	}
}

func TestSimilarity(t *testing.T) {
	long := strings.Repeat("all of this was said long ago and does not matter any more. ", 40)
	for _, tc := range []struct {
		a, b string
		want float64
	}{
		{"", "", 1},
		{"same", "same", 1},
		{"abcd", "wxyz", 0},
		{"", "abcd", 0},
		{"ab", "abcd", 0.5},
		{"to Boston", "to Austin", 4.0 / 9}, // "to " and "n"
		{"aaa", "aa", 2.0 / 3},              // the two ends do not count a letter twice
		{"ä", "ö", 0},                       // the first byte is the same
		{"für", "fär", 2.0 / 3},
		{"xä", "xà", 0.5},
		{"é", "ũ", 0}, // the last byte is the same
		{long, long + "but this", 64.0 / 72},
	} {
		if got := similarity(tc.a, tc.b); !near(got, tc.want) {
			t.Errorf("%.20q, %.20q: %v, want %v", tc.a, tc.b, got, tc.want)
		}
		if got, back := similarity(tc.a, tc.b), similarity(tc.b, tc.a); got != back {
			t.Errorf("%.20q, %.20q: %v one way, %v the other", tc.a, tc.b, got, back)
		}
	}
}

func TestStabilityProperties(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := stability(t, StabilityOptions{})
		at := time.Duration(0)
		samples := 0
		for range rapid.IntRange(1, 100).Draw(t, "calls") {
			at += time.Duration(rapid.IntRange(0, 200).Draw(t, "ms")) * ms
			text := rapid.StringN(0, 5, 20).Draw(t, "text")
			samples++
			if text == "" {
				samples = 0
			}
			got := s.Update(text, rapid.Float64().Draw(t, "confidence"), at)
			if !(got >= 0 && got <= 1) {
				t.Fatalf("rated %v", got)
			}
			if samples < 5 && got != 0 {
				t.Fatalf("rated %v after %d calls", got, samples)
			}
		}
	})
	rapid.Check(t, func(t *rapid.T) {
		a, b := rapid.String().Draw(t, "a"), rapid.String().Draw(t, "b")
		if got := similarity(a, b); !(got >= 0 && got <= 1) || (got == 1) != (a == b) {
			t.Fatalf("similarity %v", got)
		}
	})
}

func TestStabilityOptionsValidate(t *testing.T) {
	for want, o := range map[string]StabilityOptions{
		"Window is -1":     {Window: -1},
		"MinSamples is 33": {MinSamples: 33},
		"MinSamples is -1": {MinSamples: -1},
		"Spacing is -2":    {Spacing: -2},
	} {
		if _, err := NewStability(o); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%+v: error %v, want %q in it", o, err, want)
		}
	}
}

func TestStabilityAllocatesNothing(t *testing.T) {
	s := stability(t, StabilityOptions{})
	texts := [2]string{"I want to fly to Boston", "I want to fly to Bosten"}
	at := time.Duration(0)
	rated := 0
	if n := testing.AllocsPerRun(1000, func() {
		at += 20 * ms
		if s.Update(texts[at/(200*ms)%2], 0.9, at) > 0 {
			rated++
		}
	}); n != 0 {
		t.Errorf("%v allocations a call", n)
	}
	if rated == 0 {
		t.Error("nothing was rated")
	}
}

// Goal: below 500 ns a call, 0 allocations.
func BenchmarkStability(b *testing.B) {
	s := stability(b, StabilityOptions{})
	texts := [2]string{"I want to fly to Boston", "I want to fly to Boston tomorrow"}
	b.ReportAllocs()
	for i := range b.N {
		s.Update(texts[i/25%2], 0.9, time.Duration(i)*20*ms)
	}
}
