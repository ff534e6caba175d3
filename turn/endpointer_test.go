package turn

import (
	"math"
	"slices"
	"strings"
	"testing"
	"time"
)

var (
	_ Endpointer = (*EasyTurn)(nil)
	_ Endpointer = (*silence)(nil)
	_ Endpointer = (*Manual)(nil)
	_ Endpointer = (*recognizer)(nil)
	_ Endpointer = (*Semantic)(nil)
)

// TestNew builds each policy by its name and lets the user say "yes" and fall
// silent: the policy and the name of its rule show that it is the right one.
func TestNew(t *testing.T) {
	l := Linguistic{Text: "yes of course", Confidence: 0.9, Stability: 0.9, Answer: Complete}
	for _, tc := range []struct {
		policy string
		want   time.Duration
		reason string
	}{
		{"", 250 * ms, "transition_to_SPEAK_complete"},
		{"auto", 250 * ms, "transition_to_SPEAK_complete"},
		{"easyturn", 700 * ms, "transition_to_SPEAK_eot"},
		{"silence", 500 * ms, "transition_to_SPEAK_silence"},
		{"manual", 0, ""},
		{"recognizer", 0, ""},
		{"semantic", 2500 * ms, "transition_to_SPEAK_max_silence"},
	} {
		c, err := New(Options{Policy: Policy(tc.policy)})
		if err != nil {
			t.Errorf("%q: %v", tc.policy, err)
			continue
		}
		if got, reason := ended(t, c, l); got != tc.want || reason != tc.reason {
			t.Errorf("%q: ended after %v by %q, want %v by %q", tc.policy, got, reason, tc.want, tc.reason)
		}
	}
	// A call does not stall on "hi", the controller of NewEasyTurn does.
	c, err := New(Options{Policy: PolicyEasyTurn})
	if err != nil {
		t.Fatal(err)
	}
	if got, _ := ended(t, c, Linguistic{Text: "hi", Confidence: 0.9, Stability: 0.9}); got != 1400*ms {
		t.Errorf("a call ends the turn %q after %v, want 1.4s", "hi", got)
	}
}

func TestNewNamesTheValidPolicies(t *testing.T) {
	_, err := New(Options{Policy: "vad"})
	if err == nil {
		t.Fatal("an unknown policy is accepted")
	}
	for _, name := range []string{`"vad"`, "auto", "easyturn", "silence", "manual", "recognizer", "semantic"} {
		if !strings.Contains(err.Error(), name) {
			t.Errorf("error %q does not name %s", err, name)
		}
	}
	if len(Policies()) != 6 || slices.Contains(Policies(), "") {
		t.Errorf("policies: %v", Policies())
	}
	if err := (Options{Semantic: SemanticOptions{Score: 1, MinSilence: Off}}).Validate(); err != nil {
		t.Error(err)
	}
	for _, o := range []Options{
		{Auto: AutoOptions{Complete: -5}},
		{Auto: AutoOptions{Silence: 200 * ms}},
		{Auto: AutoOptions{Incomplete: 500 * ms}},
		{Auto: AutoOptions{TextUnchanged: -7}},
		{Auto: AutoOptions{Thresholds: Thresholds{VADSpeaking: 2}}},
		{EasyTurn: EasyTurnOptions{MinSilence: -5}},
		{Silence: SilenceOptions{After: -1}},
		{Silence: SilenceOptions{Thresholds: Thresholds{VADSpeaking: 2}}},
		{Semantic: SemanticOptions{Score: 1.5}},
		{Semantic: SemanticOptions{Score: math.NaN()}},
		{Semantic: SemanticOptions{MaxSilence: -1}},
		{Semantic: SemanticOptions{MinSilence: 3 * time.Second}},
		{Semantic: SemanticOptions{MinSilence: -7}},
		{Semantic: SemanticOptions{Thresholds: Thresholds{VADSpeaking: 2}}},
	} {
		if _, err := New(o); err == nil {
			t.Errorf("%+v is accepted", o)
		}
	}
}

func endpointer(t *testing.T, o Options) Endpointer {
	t.Helper()
	c, err := New(o)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func TestSilence(t *testing.T) {
	c := endpointer(t, Options{Policy: PolicySilence})
	run(t, c, 0.9, 0.9, []frame{
		{0, 0, 0, 5000, "", "stable_HOLD"}, // nobody has spoken
		{20, 0.021, 0, 0, "", "stable_HOLD"},
		{40, 0.02, 0.7, 20, "", "stable_HOLD"},
		{519, 0, 0, 499, "", "stable_HOLD"},
		{520, 0, 0, 500, "", "transition_to_SPEAK_silence"},
		{540, 0, 0, 520, "", "stable_SPEAK"},
		{560, 0, 0.71, 0, "", "transition_to_HOLD_interrupt"},
		{1060, 0, 0, 500, "", "transition_to_SPEAK_silence"},
	})
	c.Reset()
	run(t, c, 0.9, 0.9, []frame{{1080, 0, 0, 520, "", "stable_HOLD"}, {9000, 0, 0, 9000, "", "stable_HOLD"}})
	c.Expect(AdjustmentFor("digits"))
	run(t, c, 0.9, 0.9, []frame{
		{10000, 1, 1, 0, "", "stable_HOLD"},
		{10999, 0, 0, 999, "", "stable_HOLD"},
		{11000, 0, 0, 1000, "", "transition_to_SPEAK_silence"},
	})
}

func TestManual(t *testing.T) {
	c := NewManual()
	run(t, c, 0.9, 0.9, []frame{
		{0, 1, 1, 0, "hello there", "stable_HOLD"},
		{9000, 0, 0, 9000, "hello there", "stable_HOLD"},
	})
	c.Release()
	c.Release()
	run(t, c, 0.9, 0.9, []frame{
		{9020, 0, 0, 9020, "hello there", "transition_to_SPEAK_manual"},
		{9040, 1, 1, 0, "hello there", "stable_SPEAK"},
	})
	c.Reset()
	run(t, c, 0.9, 0.9, []frame{{9060, 0, 0, 0, "", "stable_HOLD"}})
}

func TestRecognizerNeverEnds(t *testing.T) {
	c := newRecognizer()
	run(t, c, 0.9, 0.9, []frame{
		{0, 1, 1, 0, "hello there", "stable_HOLD"},
		{60000, 0, 0, 60000, "hello there", "stable_HOLD"},
	})
}

func TestSemantic(t *testing.T) {
	o, err := NewSemantic(SemanticOptions{})
	if err != nil {
		t.Fatal(err)
	}
	run(t, o, 0.9, 0.9, []frame{{0, 1, 1, 0, "", "stable_HOLD"}, {1000, 0, 0, 1000, "", "stable_HOLD"}})
	o.SetScore(math.Nextafter(0.5, 0))
	run(t, o, 0.9, 0.9, []frame{{1020, 0, 0, 1020, "", "stable_HOLD"}})
	o.SetScore(0.5)
	run(t, o, 0.9, 0.9, []frame{
		{1040, 0, 0, 299, "", "stable_HOLD"},
		{1060, 0, 0, 300, "", "transition_to_SPEAK_semantic"},
		{1080, 1, 1, 0, "", "transition_to_HOLD_interrupt"},
		// The score was that of the pause before.
		{3579, 0, 0, 2499, "", "stable_HOLD"},
		{3580, 0, 0, 2500, "", "transition_to_SPEAK_max_silence"},
	})
	o.Reset()
	o.Expect(AdjustmentFor("digits"))
	o.SetScore(1)
	run(t, o, 0.9, 0.9, []frame{{4000, 0, 0, 2500, "", "stable_HOLD"}, {4020, 1, 1, 0, "", "stable_HOLD"}})
	o.SetScore(1)
	run(t, o, 0.9, 0.9, []frame{
		{4619, 0, 0, 599, "", "stable_HOLD"},
		{4620, 0, 0, 600, "", "transition_to_SPEAK_semantic"},
	})
}

func TestEndpointersAllocateNothing(t *testing.T) {
	for _, policy := range Policies() {
		c := endpointer(t, Options{Policy: policy})
		l := Linguistic{Text: "I want to fly to Boston", Confidence: 0.9, Stability: 0.9}
		at := time.Duration(0)
		if n := testing.AllocsPerRun(200, func() {
			at += 20 * ms
			a := Acoustic{At: at, VAD: 0.1, Silence: at % time.Second}
			if a.Silence == 0 {
				a.VAD = 0.9
			}
			c.Update(a, l)
		}); n != 0 {
			t.Errorf("%s: %v allocations a frame", policy, n)
		}
	}
}
