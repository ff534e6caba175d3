package turn

import (
	"math"
	"testing"
	"time"
)

// TestAuto lets the user say words and fall silent. The silence that ends the turn depends
// on what the dialogue makes of the words and on what the agent asked for.
func TestAuto(t *testing.T) {
	nan := math.NaN()
	for _, tc := range []struct {
		name   string
		o      AutoOptions
		kind   string
		l      Linguistic
		want   time.Duration
		reason string
	}{
		{"a complete answer", AutoOptions{}, "digits", Linguistic{Text: "one two", Answer: Complete}, 250 * ms, "transition_to_SPEAK_complete"},
		{"words that go on", AutoOptions{}, "city", Linguistic{Text: "from boston to", Answer: Incomplete}, 1500 * ms, "transition_to_SPEAK_incomplete"},
		{"other words", AutoOptions{}, "city", Linguistic{Text: "from boston"}, 600 * ms, "transition_to_SPEAK_silence"},
		{"other words where people pause", AutoOptions{}, "digits", Linguistic{Text: "one two"}, 1200 * ms, "transition_to_SPEAK_silence"},
		{"dictation", AutoOptions{}, "phone", Linguistic{Text: "one two", Answer: Incomplete}, 1500 * ms, "transition_to_SPEAK_incomplete"},
		{"a short complete answer", AutoOptions{}, "yes_no", Linguistic{Text: "yes", Answer: Complete}, 250 * ms, "transition_to_SPEAK_complete"},
		{"a short answer", AutoOptions{}, "yes_no", Linguistic{Text: "maybe"}, 360 * ms, "transition_to_SPEAK_silence"},
		{"a doubtful recognizer", AutoOptions{}, "city", Linguistic{Text: "from boston", Confidence: 0.1, Stability: 0}, 600 * ms, "transition_to_SPEAK_silence"},
		{"an unknown confidence", AutoOptions{}, "city", Linguistic{Text: "from boston", Confidence: nan, Stability: nan}, 600 * ms, "transition_to_SPEAK_silence"},
		{"no words", AutoOptions{}, "", Linguistic{}, 0, ""},
		{"other numbers", AutoOptions{Complete: 100 * ms, Silence: 400 * ms, Incomplete: 3 * time.Second}, "", Linguistic{Text: "one", Answer: Incomplete}, 3000 * ms, "transition_to_SPEAK_incomplete"},
	} {
		c, err := New(Options{Auto: tc.o})
		if err != nil {
			t.Fatal(err)
		}
		c.Expect(AdjustmentFor(tc.kind))
		if got, reason := ended(t, c, tc.l); got != tc.want || reason != tc.reason {
			t.Errorf("%s: ended after %v by %q, expected %v by %q", tc.name, got, reason, tc.want, tc.reason)
		}
	}
}

// autoCall steps the policy frame by frame and returns the frame that ends the turn.
type autoCall struct {
	c  Endpointer
	at time.Duration
	l  Linguistic
	// silent is the time since the last speech.
	silent time.Duration
}

// step passes frames for a time and returns the silence at which the turn ended, or -1.
func (c *autoCall) step(d time.Duration, speaking bool) time.Duration {
	for range d / (20 * ms) {
		c.at += 20 * ms
		a := Acoustic{At: c.at, Energy: 0.001, VAD: 0.1}
		if speaking {
			a.VAD, a.Energy, c.silent = 0.9, 0.1, 0
		} else {
			c.silent += 20 * ms
		}
		a.Silence = c.silent
		if d := c.c.Update(a, c.l); d.State == Speak {
			return c.silent
		}
	}
	return -1
}

func newAutoCall(t *testing.T) *autoCall {
	t.Helper()
	c, err := New(Options{})
	if err != nil {
		t.Fatal(err)
	}
	c.Expect(AdjustmentFor("integer"))
	return &autoCall{c: c}
}

// TestAutoWaitsForLateWords: words that arrive in the silence must stay the same for a
// moment, and a complete answer does not count if the user has spoken on since.
func TestAutoWaitsForLateWords(t *testing.T) {
	c := newAutoCall(t)
	c.step(500*ms, true)
	if got := c.step(240*ms, false); got != -1 {
		t.Fatalf("ended after %v without words", got)
	}
	c.l = Linguistic{Text: "one two", Answer: Complete}
	if got := c.step(time.Second, false); got != 360*ms {
		t.Errorf("late words end the turn after %v, expected 360ms", got)
	}

	c = newAutoCall(t)
	c.step(500*ms, true)
	c.l = Linguistic{Text: "one two", Answer: Complete}
	c.step(1000*ms, true)
	if got := c.step(time.Second, false); got != 600*ms {
		t.Errorf("a user who speaks on after a complete answer ends the turn after %v, expected 600ms", got)
	}

	c = newAutoCall(t)
	c.step(500*ms, true)
	c.l = Linguistic{Text: "one two", Answer: Complete}
	c.step(1000*ms, true)
	c.l.Text = "one two three"
	if got := c.step(time.Second, false); got != 260*ms {
		t.Errorf("words that complete the answer again end the turn after %v, expected 260ms", got)
	}
}

// TestAutoEndsATurnOnce: the turn ends once, and the next one after Reset and new speech.
func TestAutoEndsATurnOnce(t *testing.T) {
	c := newAutoCall(t)
	c.step(300*ms, true)
	c.l = Linguistic{Text: "yes", Answer: Complete}
	if got := c.step(time.Second, false); got != 260*ms {
		t.Errorf("ended after %v, expected 260ms", got)
	}
	c.c.Reset()
	if got := c.step(3*time.Second, false); got != -1 {
		t.Errorf("the next turn ends without speech after %v", got)
	}
}

// TestAutoAllocatesNothing: the policy runs for every frame.
func TestAutoAllocatesNothing(t *testing.T) {
	c := newAutoCall(t)
	texts := [2]string{"one two", "one two three"}
	n := 0
	if got := testing.AllocsPerRun(100, func() {
		n++
		c.l = Linguistic{Text: texts[n%2], Answer: Complete}
		c.step(40*ms, n%3 != 0)
	}); got != 0 {
		t.Errorf("%v allocations", got)
	}
}
