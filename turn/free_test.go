package turn

import (
	"math"
	"testing"
	"time"
)

// TestFreeSpeech: where no value is awaited, the words and what a model hears decide how long
// the silence is that ends the turn.
func TestFreeSpeech(t *testing.T) {
	for _, tc := range []struct {
		name   string
		o      AutoOptions
		text   string
		score  float64
		answer Completeness
		least  time.Duration
		most   time.Duration
	}{
		{"a whole sentence", AutoOptions{}, "what are your opening hours on monday", math.NaN(), Undecided, 300 * ms, 500 * ms},
		{"a sentence that goes on", AutoOptions{}, "i would like to fly to", math.NaN(), Undecided, 1400 * ms, 1500 * ms},
		{"a voice that has finished", AutoOptions{}, "the blue one", 0.98, Undecided, 300 * ms, 580 * ms},
		{"a sentence that goes on in a voice that has finished", AutoOptions{}, "i would like to fly to", 0.9, Undecided, 1200 * ms, 1500 * ms},
		{"another language", AutoOptions{Language: "de-AT"}, "i would like to fly to", math.NaN(), Undecided, 600 * ms, 600 * ms},
		{"another language, a voice that goes on", AutoOptions{Language: "de"}, "ich möchte nach", 0.02, Undecided, 620 * ms, 1500 * ms},
		{"English of a country", AutoOptions{Language: "en_GB"}, "i would like to fly to", math.NaN(), Undecided, 1400 * ms, 1500 * ms},
		{"what the dialogue knows counts first", AutoOptions{}, "i would like to fly to", 0.01, Complete, 260 * ms, 260 * ms},
		{"a shorter silence", AutoOptions{Silence: 260 * ms}, "what are your opening hours on monday", 0.98, Undecided, 260 * ms, 260 * ms},
	} {
		c, err := New(Options{Auto: tc.o})
		if err != nil {
			t.Fatal(err)
		}
		call := &autoCall{c: c, l: Linguistic{Text: tc.text, Answer: tc.answer}}
		call.step(300*ms, true)
		call.step(100*ms, false)
		scored, ok := c.(Scored)
		if !ok || !scored.Asks() {
			t.Fatalf("%s: the policy does not ask the model", tc.name)
		}
		scored.SetScore(tc.score)
		got := call.step(3*time.Second, false)
		if got < tc.least || got > tc.most {
			t.Errorf("%s: ended after %v, expected %v to %v", tc.name, got, tc.least, tc.most)
		}
	}
}

// TestFreeSpeechReason: the reason says what decided.
func TestFreeSpeechReason(t *testing.T) {
	for text, want := range map[string]string{
		"what are your opening hours on monday": "transition_to_SPEAK_finished",
		"...":                                   "transition_to_SPEAK_silence",
	} {
		c, err := New(Options{})
		if err != nil {
			t.Fatal(err)
		}
		if _, reason := ended(t, c, Linguistic{Text: text}); reason != want {
			t.Errorf("%q: %s, expected %s", text, reason, want)
		}
	}
}

// TestScoreIsAboutAPause: what a model has said of a pause is forgotten when the user goes on,
// and at the next turn; words that lag behind the speech do not end a turn sooner.
func TestScoreIsAboutAPause(t *testing.T) {
	c, err := New(Options{Auto: AutoOptions{Language: "de"}})
	if err != nil {
		t.Fatal(err)
	}
	scored := c.(Scored)
	call := &autoCall{c: c, l: Linguistic{Text: "ja bitte"}}
	call.step(500*ms, true)
	call.step(100*ms, false)
	scored.SetScore(0.01)
	call.step(100*ms, true)
	if got := call.step(3*time.Second, false); got != 600*ms {
		t.Errorf("ended after %v, expected 600ms: the user has gone on", got)
	}
	scored.SetScore(0.01)
	c.Reset()
	call.step(500*ms, true)
	if got := call.step(3*time.Second, false); got != 600*ms {
		t.Errorf("ended after %v, expected 600ms: the score is of another turn", got)
	}

	c, err = New(Options{})
	if err != nil {
		t.Fatal(err)
	}
	call = &autoCall{c: c}
	call.step(500*ms, true)
	call.l.Text = "what are your opening hours on monday"
	call.step(1000*ms, true)
	if got := call.step(3*time.Second, false); got != 600*ms {
		t.Errorf("ended after %v, expected 600ms: there was speech after the words", got)
	}
}

// TestValuesAskNoModel: where a value is awaited, the dialogue decides.
func TestValuesAskNoModel(t *testing.T) {
	c, err := New(Options{})
	if err != nil {
		t.Fatal(err)
	}
	c.Expect(AdjustmentFor("date"))
	if c.(Scored).Asks() {
		t.Error("the model is asked about a date")
	}
}
