package turn

import (
	"encoding/json"
	"fmt"
	"math"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"pgregory.net/rapid"

	"github.com/hocketvoice/hocket/internal/seeds"
)

const ms = time.Millisecond

func easyTurn(t rapid.TB, o EasyTurnOptions) *EasyTurn {
	t.Helper()
	c, err := NewEasyTurn(o)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// TestEasyTurnConformance compares the defaults with the table, and the table
// with the defaults: a number missing on either side fails.
func TestEasyTurnConformance(t *testing.T) {
	var table struct {
		Controller map[string]json.RawMessage `json:"controller"`
	}
	seeds.Load(t, "easyturn", &table)

	numbers := func(o EasyTurnOptions) map[string]float64 {
		r := o.resolved()
		inMS := func(d time.Duration) float64 { return float64(d) / float64(ms) }
		return map[string]float64{
			"ENERGY_THRESHOLD_HIGH":          r.Thresholds.EnergyHigh,
			"ENERGY_THRESHOLD_LOW":           r.Thresholds.EnergyLow,
			"VAD_THRESHOLD_SPEAKING":         r.Thresholds.VADSpeaking,
			"VAD_THRESHOLD_SILENCE":          r.Thresholds.VADSilence,
			"INTERRUPT_ENERGY_THRESHOLD":     r.Thresholds.InterruptEnergy,
			"INTERRUPT_VAD_THRESHOLD":        r.Thresholds.InterruptVAD,
			"MIN_SILENCE_TO_SPEAK_MS":        inMS(r.MinSilence),
			"MIN_SILENCE_SHORT_UTTERANCE_MS": inMS(r.MinSilenceShort),
			"SHORT_UTTERANCE_CHARS":          float64(r.ShortUtterance),
			"MIN_TEXT_LENGTH":                float64(r.MinTextLength),
			"MIN_CONFIDENCE_TO_SPEAK":        r.MinConfidence,
			"STABILITY_THRESHOLD":            r.MinStability,
			"TEXT_UNCHANGED_MS":              inMS(r.TextUnchanged),
			"HYSTERESIS_WINDOW_MS":           inMS(r.Hysteresis),
		}
	}
	ours := numbers(EasyTurnOptions{})
	for name, raw := range table.Controller {
		var number float64
		var withDefault struct {
			Default float64 `json:"default"`
		}
		switch name {
		case "states":
			if got, want := string(compact(t, raw)), fmt.Sprintf("[%q,%q]", Hold, Speak); got != want {
				t.Errorf("states: table has %s, package has %s", got, want)
			}
			continue
		case "initial":
			if got, want := string(raw), fmt.Sprintf("%q", easyTurn(t, EasyTurnOptions{}).state); got != want {
				t.Errorf("initial: table has %s, package has %s", got, want)
			}
			continue
		case "frame_ms": // the caller's
			continue
		case "aggressive":
			var changes map[string]float64
			if err := json.Unmarshal(raw, &changes); err != nil {
				t.Fatal(err)
			}
			for name, got := range numbers(Aggressive()) {
				want, changed := changes[name]
				if !changed {
					want = numbers(EasyTurnOptions{})[name]
				}
				if got != want {
					t.Errorf("aggressive %s: table has %v, package has %v", name, want, got)
				}
			}
			continue
		}
		if json.Unmarshal(raw, &number) != nil {
			if err := json.Unmarshal(raw, &withDefault); err != nil {
				t.Fatalf("%s: %v", name, err)
			}
			number = withDefault.Default
		}
		got, ok := ours[name]
		if !ok {
			t.Errorf("%s = %v is in the table, not in the package", name, number)
		} else if got != number {
			t.Errorf("%s: table has %v, package has %v", name, number, got)
		}
		delete(ours, name)
	}
	for name, got := range ours {
		t.Errorf("%s = %v is in the package, not in the table", name, got)
	}
}

func compact(t *testing.T, raw json.RawMessage) []byte {
	t.Helper()
	var v any
	if err := json.Unmarshal(raw, &v); err != nil {
		t.Fatal(err)
	}
	out, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// quiet and said are inputs that pass every test of HOLD, each exactly at its
// limit.
func quiet(at time.Duration) Acoustic {
	return Acoustic{At: at, Energy: 0.02, VAD: 0.7, Silence: 500 * ms}
}

func said() Linguistic { return Linguistic{Text: "hello", Confidence: 0.6, Stability: 0.8} }

// TestEasyTurnThresholds changes one input at a time, at, below and above its
// limit, and looks whether SPEAK is wanted.
func TestEasyTurnThresholds(t *testing.T) {
	long := "twenty characters..." // exactly 20
	if utf8.RuneCountInString(long) != 20 {
		t.Fatal("the text is not 20 characters long")
	}
	for _, tc := range []struct {
		name  string
		a     func(*Acoustic)
		l     func(*Linguistic)
		speak bool
	}{
		{"all at their limit", nil, nil, true},
		{"energy below", func(a *Acoustic) { a.Energy = 0.019 }, nil, true},
		{"energy above", func(a *Acoustic) { a.Energy = math.Nextafter(0.02, 1) }, nil, false},
		{"voice activity below", func(a *Acoustic) { a.VAD = 0.1 }, nil, true},
		{"voice activity above", func(a *Acoustic) { a.VAD = math.Nextafter(0.7, 1) }, nil, false},
		{"silence below, short text", func(a *Acoustic) { a.Silence = 499 * ms }, nil, false},
		{"silence above, short text", func(a *Acoustic) { a.Silence = 501 * ms }, nil, true},
		{"silence at, long text", func(a *Acoustic) { a.Silence = 400 * ms }, func(l *Linguistic) { l.Text = long }, true},
		{"silence below, long text", func(a *Acoustic) { a.Silence = 399 * ms }, func(l *Linguistic) { l.Text = long }, false},
		{"silence at, 19 characters", func(a *Acoustic) { a.Silence = 400 * ms }, func(l *Linguistic) { l.Text = long[1:] }, false},
		{"4 characters", nil, func(l *Linguistic) { l.Text = "hell" }, false},
		{"4 characters and space", nil, func(l *Linguistic) { l.Text = " hell  " }, false},
		{"5 characters of two bytes", nil, func(l *Linguistic) { l.Text = "äöüßé" }, true},
		{"4 characters of two bytes", nil, func(l *Linguistic) { l.Text = "äöüß" }, false},
		{"6 characters", nil, func(l *Linguistic) { l.Text = "hello!" }, true},
		{"confidence below", nil, func(l *Linguistic) { l.Confidence = math.Nextafter(0.6, 0) }, false},
		{"confidence above", nil, func(l *Linguistic) { l.Confidence = 0.61 }, true},
		{"stability below", nil, func(l *Linguistic) { l.Stability = math.Nextafter(0.8, 0) }, false},
		{"stability above", nil, func(l *Linguistic) { l.Stability = 0.81 }, true},
		{"no text", nil, func(l *Linguistic) { *l = Linguistic{Confidence: 1, Stability: 1} }, false},
		{"no confidence", nil, func(l *Linguistic) { l.Confidence = math.NaN() }, false},
		{"no stability", nil, func(l *Linguistic) { l.Stability = math.NaN() }, false},
		{"no energy", func(a *Acoustic) { a.Energy = math.NaN() }, nil, true},
		{"no voice activity", func(a *Acoustic) { a.VAD = math.NaN() }, nil, true},
		{"neither", func(a *Acoustic) { a.Energy, a.VAD = math.NaN(), math.NaN() }, nil, false},
	} {
		t.Run(tc.name, func(t *testing.T) {
			a, l := quiet(0), said()
			if tc.a != nil {
				tc.a(&a)
			}
			if tc.l != nil {
				tc.l(&l)
			}
			c := easyTurn(t, EasyTurnOptions{})
			// The text must have stood for 150 ms: one frame before, speaking.
			c.Update(Acoustic{At: 0, Energy: 1, VAD: 1}, l)
			a.At = 150 * ms
			want := "stable_HOLD"
			if tc.speak {
				want = "pending_SPEAK"
			}
			if got := c.Update(a, l).Reason.String(); got != want {
				t.Errorf("reason %s, want %s", got, want)
			}
		})
	}
}

// TestEasyTurnInterruptThresholds does the same for SPEAK.
func TestEasyTurnInterruptThresholds(t *testing.T) {
	nan := math.NaN()
	for _, tc := range []struct {
		energy, vad float64
		want        string
	}{
		{0.015, 0.6, "stable_SPEAK"},
		{0.014, 0.5, "stable_SPEAK"},
		{math.Nextafter(0.015, 1), 0, "pending_HOLD"},
		{0, math.Nextafter(0.6, 1), "pending_HOLD"},
		{nan, 0.61, "pending_HOLD"},
		{0.016, nan, "pending_HOLD"},
		{nan, nan, "stable_SPEAK"},
	} {
		c := easyTurn(t, EasyTurnOptions{})
		c.state = Speak
		if got := c.Update(Acoustic{Energy: tc.energy, VAD: tc.vad}, said()).Reason.String(); got != tc.want {
			t.Errorf("energy %v, vad %v: reason %s, want %s", tc.energy, tc.vad, got, tc.want)
		}
	}
}

// frame is a line of a golden sequence.
type frame struct {
	at      int // ms
	energy  float64
	vad     float64
	silence int // ms
	text    string
	want    string
}

func run(t *testing.T, c Endpointer, confidence, stability float64, frames []frame) {
	t.Helper()
	for _, f := range frames {
		got := c.Update(
			Acoustic{At: time.Duration(f.at) * ms, Energy: f.energy, VAD: f.vad, Silence: time.Duration(f.silence) * ms},
			Linguistic{Text: f.text, Confidence: confidence, Stability: stability})
		if got.Reason.String() != f.want {
			t.Fatalf("at %d ms: reason %s, want %s", f.at, got.Reason, f.want)
		}
		if got.At != time.Duration(f.at)*ms {
			t.Fatalf("at %d ms: decision is of %v", f.at, got.At)
		}
		if wantSpeak := strings.Contains(f.want, "stable_SPEAK") || strings.Contains(f.want, "to_SPEAK") || strings.HasPrefix(f.want, "pending_HOLD"); (got.State == Speak) != wantSpeak {
			t.Fatalf("at %d ms: state %s with reason %s", f.at, got.State, f.want)
		}
	}
}

// The golden sequences are worked out by hand from the seed's pseudocode.
func TestEasyTurnGoldenTurn(t *testing.T) {
	const text = "I want to fly to Boston"
	run(t, easyTurn(t, EasyTurnOptions{}), 0.9, 0.95, []frame{
		{0, 0.05, 0.9, 0, "", "stable_HOLD"},
		{40, 0.05, 0.9, 0, "I want", "stable_HOLD"},
		{80, 0.05, 0.9, 0, text, "stable_HOLD"},
		{120, 0.001, 0.1, 40, text, "stable_HOLD"},
		{440, 0.001, 0.1, 360, text, "stable_HOLD"},
		{480, 0.001, 0.1, 400, text, "pending_SPEAK"},
		{520, 0.001, 0.1, 440, text, "pending_SPEAK_40ms"},
		{560, 0.001, 0.1, 480, text, "pending_SPEAK_80ms"},
		{640, 0.001, 0.1, 560, text, "pending_SPEAK_160ms"},
		{680, 0.001, 0.1, 600, text, "transition_to_SPEAK_eot"},
		{720, 0.001, 0.1, 640, text, "stable_SPEAK"},
		// The user breaks in.
		{760, 0.016, 0.2, 0, text, "pending_HOLD"},
		{800, 0.016, 0.2, 0, text, "pending_HOLD_40ms"},
		{840, 0.001, 0.61, 0, text, "pending_HOLD_80ms"},
		{880, 0.05, 0.9, 0, text, "pending_HOLD_120ms"},
		{960, 0.05, 0.9, 0, text, "transition_to_HOLD_interrupt"},
		{1000, 0.05, 0.9, 0, text, "stable_HOLD"},
	})
}

func TestEasyTurnGoldenPauseInsideHysteresis(t *testing.T) {
	const text = "a text that is long enough"
	run(t, easyTurn(t, EasyTurnOptions{}), 0.9, 0.95, []frame{
		{0, 0.05, 0.9, 0, text, "stable_HOLD"},
		{400, 0.001, 0.1, 400, text, "pending_SPEAK"},
		{430, 0.001, 0.1, 430, text, "pending_SPEAK_30ms"},
		// Speech goes on before the window is over: the wish is forgotten.
		{460, 0.03, 0.1, 0, text, "stable_HOLD"},
		{860, 0.001, 0.1, 400, text, "pending_SPEAK"},
		{1059, 0.001, 0.1, 599, text, "pending_SPEAK_199ms"},
		{1060, 0.001, 0.1, 600, text, "transition_to_SPEAK_eot"},
		// A blip shorter than the window does not take the floor back.
		{1090, 0.5, 1, 0, text, "pending_HOLD"},
		{1120, 0.001, 0.1, 30, text, "stable_SPEAK"},
		{1150, 0.5, 1, 0, text, "pending_HOLD"},
		{1349, 0.5, 1, 0, text, "pending_HOLD_199ms"},
		{1350, 0.5, 1, 0, text, "transition_to_HOLD_interrupt"},
	})
}

func TestEasyTurnGoldenTextChanges(t *testing.T) {
	const before, after = "I would like a ticket", "I would like a ticket to Rome"
	run(t, easyTurn(t, EasyTurnOptions{}), 0.9, 0.95, []frame{
		{0, 0.05, 0.9, 0, before, "stable_HOLD"},
		{400, 0.001, 0.1, 400, before, "pending_SPEAK"},
		{420, 0.001, 0.1, 420, after, "stable_HOLD"}, // late words
		{569, 0.001, 0.1, 569, after, "stable_HOLD"},
		{570, 0.001, 0.1, 570, after, "pending_SPEAK"},
		{770, 0.001, 0.1, 770, after, "transition_to_SPEAK_eot"},
	})
}

func TestEasyTurnGoldenAggressive(t *testing.T) {
	const text = "a text that is long enough"
	run(t, easyTurn(t, Aggressive()), 0.9, 0.95, []frame{
		{0, 0.05, 0.9, 0, text, "stable_HOLD"},
		{299, 0.001, 0.1, 299, text, "stable_HOLD"},
		{300, 0.001, 0.1, 300, text, "pending_SPEAK"},
		{449, 0.001, 0.1, 449, text, "pending_SPEAK_149ms"},
		{450, 0.001, 0.1, 450, text, "transition_to_SPEAK_eot"},
	})
}

func TestEasyTurnReset(t *testing.T) {
	const text = "a text that is long enough"
	c := easyTurn(t, EasyTurnOptions{})
	frames := []frame{
		{0, 0.05, 0.9, 0, text, "stable_HOLD"},
		{400, 0.001, 0.1, 400, text, "pending_SPEAK"},
		{600, 0.001, 0.1, 600, text, "transition_to_SPEAK_eot"},
	}
	run(t, c, 0.9, 0.95, frames)
	c.Reset()
	run(t, c, 0.9, 0.95, frames)
}

// seedController implements the seed's pseudocode literally, for comparison.
type seedController struct {
	currentState        string
	previousText        string
	lastTextChangeTime  *int64
	pendingState        *string
	pendingStateStart   int64
	minSilence, window  int64
	minSilenceShort     int64
	minText             int
	minConf, minStab    float64
	energyHigh, vadHigh float64
	interruptEnergy     float64
	interruptVAD        float64
}

func (c *seedController) update(energy, vad float64, silence, timestamp int64, text string, conf, stab float64) (string, string) {
	if text != c.previousText {
		c.lastTextChangeTime = &timestamp
		c.previousText = text
	}
	isSpeaking := energy > c.energyHigh || vad > c.vadHigh
	var desired string
	if c.currentState == "HOLD" {
		desired = c.evaluateHold(isSpeaking, silence, timestamp, text, conf, stab)
	} else {
		desired = "SPEAK"
		if energy > c.interruptEnergy || vad > c.interruptVAD {
			desired = "HOLD"
		}
	}
	final, reason := c.applyHysteresis(desired, timestamp)
	c.currentState = final
	return final, reason
}

func (c *seedController) evaluateHold(isSpeaking bool, silence, now int64, text string, conf, stab float64) string {
	if isSpeaking {
		return "HOLD"
	}
	minSilence := c.minSilence
	length := len([]rune(strings.TrimSpace(text)))
	if length < 20 {
		minSilence = c.minSilenceShort
	}
	if silence < minSilence {
		return "HOLD"
	}
	if length < c.minText {
		return "HOLD"
	}
	if conf < c.minConf {
		return "HOLD"
	}
	if stab < c.minStab {
		return "HOLD"
	}
	if c.lastTextChangeTime != nil && now-*c.lastTextChangeTime < 150 {
		return "HOLD"
	}
	return "SPEAK"
}

func (c *seedController) applyHysteresis(desired string, now int64) (string, string) {
	if desired == c.currentState {
		c.pendingState = nil
		return c.currentState, "stable_" + c.currentState
	}
	if c.pendingState == nil || *c.pendingState != desired {
		c.pendingState = &desired
		c.pendingStateStart = now
		return c.currentState, "pending_" + desired
	}
	elapsed := now - c.pendingStateStart
	if elapsed >= c.window {
		c.pendingState = nil
		reason := "transition_to_SPEAK_eot"
		if desired == "HOLD" {
			reason = "transition_to_HOLD_interrupt"
		}
		return desired, reason
	}
	return c.currentState, fmt.Sprintf("pending_%s_%dms", desired, elapsed)
}

// drawFrames returns the frames of a call with periods of speech and of pauses. Each period
// is steady except for single frames, and often close enough to the limits for every branch
// to be taken.
func drawFrames(t *rapid.T, each func(Acoustic, Linguistic)) {
	var a Acoustic
	var l Linguistic
	for range rapid.IntRange(1, 12).Draw(t, "stretches") {
		speech := rapid.Bool().Draw(t, "speech")
		step := time.Duration(rapid.IntRange(20, 40).Draw(t, "ms")) * ms
		odd := rapid.IntRange(0, 60).Draw(t, "odd frame")
		if rapid.IntRange(0, 2).Draw(t, "new words") > 0 {
			l = Linguistic{
				Text: rapid.SampledFrom([]string{
					"hello there my friend", "hello", "", "no", "hello there my friend of mine",
				}).Draw(t, "text"),
				Confidence: rapid.SampledFrom([]float64{0.9, 0.6, 0.59}).Draw(t, "confidence"),
				Stability:  rapid.SampledFrom([]float64{0.9, 0.8, 0.79}).Draw(t, "stability"),
			}
		}
		for i := range rapid.IntRange(1, 45).Draw(t, "frames") {
			a.At += step
			if speech != (i == odd) {
				a.Energy = rapid.SampledFrom([]float64{0.3, 0.0201, 0.0151}).Draw(t, "energy")
				a.VAD = rapid.SampledFrom([]float64{0.9, 0.71, 0.61, 0.5}).Draw(t, "vad")
				a.Silence = 0
			} else {
				a.Energy = rapid.SampledFrom([]float64{0, 0.004, 0.015}).Draw(t, "energy")
				a.VAD = rapid.SampledFrom([]float64{0, 0.29, 0.6}).Draw(t, "vad")
				a.Silence += step
			}
			each(a, l)
		}
	}
}

func TestEasyTurnIsTheSeedsPseudocode(t *testing.T) {
	reached := make(map[string]int)
	rapid.Check(t, func(t *rapid.T) {
		c := easyTurn(t, EasyTurnOptions{})
		seed := seedController{
			currentState: "HOLD", minSilence: 400, minSilenceShort: 500, window: 200, minText: 5, minConf: 0.6, minStab: 0.8,
			energyHigh: 0.02, vadHigh: 0.7, interruptEnergy: 0.015, interruptVAD: 0.6,
		}
		drawFrames(t, func(a Acoustic, l Linguistic) {
			got := c.Update(a, l)
			state, reason := seed.update(a.Energy, a.VAD, a.Silence.Milliseconds(), a.At.Milliseconds(), l.Text, l.Confidence, l.Stability)
			if got.State.String() != state || got.Reason.String() != reason {
				t.Fatalf("at %v: %s, %s; the pseudocode says %s, %s", a.At, got.State, got.Reason, state, reason)
			}
			if got.Reason.Transition() {
				reached[reason]++
			}
		})
	})
	for _, reason := range []string{"transition_to_SPEAK_eot", "transition_to_HOLD_interrupt"} {
		if reached[reason] == 0 {
			t.Errorf("no sequence reached %s: the comparison is too weak", reason)
		}
	}
}

// TestEasyTurnProperties checks properties that hold for all options, including the rules
// that the seed does not have.
func TestEasyTurnProperties(t *testing.T) {
	turns, interrupts := 0, 0
	rapid.Check(t, func(t *rapid.T) {
		o := EasyTurnOptions{}
		if rapid.Bool().Draw(t, "for calls") {
			o = o.ForCalls()
		}
		c := easyTurn(t, o)
		kind := rapid.SampledFrom([]string{"", "", "yes_no", "digits", "spelling"}).Draw(t, "kind")
		c.Expect(AdjustmentFor(kind))
		changed := -time.Hour
		state := Hold
		drawFrames(t, func(a Acoustic, l Linguistic) {
			at := a.At
			d := c.Update(a, l)
			if !(d.Confidence >= 0 && d.Confidence <= 1) {
				t.Fatalf("confidence %v", d.Confidence)
			}
			if d.Reason.Transition() != (d.State != state) {
				t.Fatalf("%s to %s with reason %s", state, d.State, d.Reason)
			}
			if !d.Reason.Transition() {
				return
			}
			if changed >= 0 && at-changed < 200*ms {
				t.Fatalf("two changes within %v", at-changed)
			}
			changed, state = at, d.State
			if state == Hold {
				interrupts++
				return
			}
			turns++
			minSilence := scaled(400*ms, AdjustmentFor(kind))
			if utf8.RuneCountInString(l.Text) < 20 {
				minSilence = scaled(500*ms, AdjustmentFor(kind))
			}
			// The silence was there when the change became pending.
			if a.Silence < minSilence+200*ms {
				t.Fatalf("SPEAK after %v of silence", a.Silence)
			}
			if l.Text == "" || a.Energy > 0.02 || a.VAD > 0.7 {
				t.Fatalf("SPEAK on %+v with %q", a, l.Text)
			}
		})
	})
	if turns == 0 || interrupts == 0 {
		t.Errorf("%d turns ended, %d were taken back: the sequences are too weak", turns, interrupts)
	}
}

// TestEasyTurnNeverFlapsOnAPausingSpeaker checks that pauses shorter than the minimal
// silence plus the hysteresis never end a turn.
func TestEasyTurnNeverFlapsOnAPausingSpeaker(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		c := easyTurn(t, EasyTurnOptions{}.ForCalls())
		l := Linguistic{Text: "and then, well, I would like", Confidence: 0.95, Stability: 1}
		at := time.Duration(0)
		for range rapid.IntRange(1, 30).Draw(t, "pauses") {
			for range rapid.IntRange(1, 20).Draw(t, "speech") {
				at += 20 * ms
				if d := c.Update(Acoustic{At: at, Energy: 0.1, VAD: 0.9}, l); d.Reason.String() != "stable_HOLD" {
					t.Fatalf("speech: %s", d.Reason)
				}
			}
			silence := time.Duration(0)
			for range rapid.IntRange(1, 29).Draw(t, "silence") {
				at += 20 * ms
				silence += 20 * ms
				if d := c.Update(Acoustic{At: at, VAD: 0.05, Silence: silence}, l); d.State != Hold || d.Reason.Transition() {
					t.Fatalf("after a pause of %v: %s", silence, d.Reason)
				}
			}
		}
	})
}

func TestReason(t *testing.T) {
	for _, tc := range []struct {
		r    Reason
		want string
	}{
		{Reason{}, "stable_HOLD"},
		{Reason{state: Speak}, "stable_SPEAK"},
		{Reason{kind: pendingFirst, state: Speak}, "pending_SPEAK"},
		{Reason{kind: pendingFirst, state: Hold}, "pending_HOLD"},
		{Reason{kind: pendingSince, state: Speak, elapsed: 40 * ms}, "pending_SPEAK_40ms"},
		{Reason{kind: pendingSince, state: Hold, elapsed: 40*ms + 999*time.Microsecond}, "pending_HOLD_40ms"},
		{Reason{kind: pendingSince, state: Speak}, "pending_SPEAK_0ms"},
		{Reason{kind: transition, state: Speak, rule: ruleEndOfTurn}, "transition_to_SPEAK_eot"},
		{Reason{kind: transition, state: Hold, rule: ruleInterrupt}, "transition_to_HOLD_interrupt"},
		{Reason{kind: transition, state: Speak, rule: ruleManual}, "transition_to_SPEAK_manual"},
	} {
		if got := tc.r.String(); got != tc.want {
			t.Errorf("got %s, want %s", got, tc.want)
		}
		if text, err := tc.r.MarshalText(); err != nil || string(text) != tc.want {
			t.Errorf("marshalled: %s, %v; want %s", text, err, tc.want)
		}
	}
	for _, s := range []State{Hold, Speak} {
		var back State
		if text, _ := s.MarshalText(); back.UnmarshalText(text) != nil || back != s {
			t.Errorf("%s comes back as %s", s, back)
		}
	}
	if new(State).UnmarshalText([]byte("hold")) == nil {
		t.Error("a state of another name is accepted")
	}
}

func TestConfidence(t *testing.T) {
	nan := math.NaN()
	for _, tc := range []struct {
		s                   State
		vad, asr, stability float64
		want                float64
	}{
		{Hold, 0.9, 0.5, 1, 0.4*0.9 + 0.3*0.5 + 0.3},
		{Speak, 0.9, 0.5, 1, 0.4*0.1 + 0.3*0.5 + 0.3},
		{Speak, 0, 1, 1, 1},
		{Hold, 0, 0, 0, 0},
		{Hold, nan, 0.5, 1, 0.75},
		{Hold, 0.6, nan, nan, 0.6},
		{Speak, 0.6, nan, 1, (0.4*0.4 + 0.3) / 0.7},
		{Speak, nan, nan, nan, 0},
		{Hold, 3, 3, 3, 1},
		{Speak, 9, 0, 0, 0},
		{Speak, math.Inf(1), math.Inf(1), 0, 0},
	} {
		got := confidence(tc.s, tc.vad, Linguistic{Confidence: tc.asr, Stability: tc.stability})
		if !(math.Abs(got-tc.want) < 1e-12) {
			t.Errorf("%s, %v, %v, %v: %v, want %v", tc.s, tc.vad, tc.asr, tc.stability, got, tc.want)
		}
	}
}

// ended returns the silence after which a controller that has heard text ends the turn,
// polled every 10 ms, or 0 if it does not within ten seconds.
func ended(t *testing.T, c Endpointer, l Linguistic) (time.Duration, string) {
	t.Helper()
	c.Update(Acoustic{At: 0, Energy: 0.1, VAD: 0.9}, l)
	for at := 10 * ms; at <= 10*time.Second; at += 10 * ms {
		if d := c.Update(Acoustic{At: at, VAD: 0.05, Silence: at}, l); d.State == Speak {
			return at, d.Reason.String()
		}
	}
	return 0, ""
}

func TestEasyTurnRulesForCalls(t *testing.T) {
	const window = 200 * ms
	sure := func(text string) Linguistic { return Linguistic{Text: text, Confidence: 0.9, Stability: 0.9} }
	plain, calls := EasyTurnOptions{}, EasyTurnOptions{}.ForCalls()
	for _, tc := range []struct {
		name   string
		o      EasyTurnOptions
		kind   string
		l      Linguistic
		want   time.Duration
		reason string
	}{
		{"the seed stalls on hi", plain, "", sure("hi"), 0, ""},
		{"hi ends in a call", calls, "", sure("hi"), 1200*ms + window, "short_answer"},
		{"hello needs no rule", calls, "", sure("hello"), 500*ms + window, "eot"},
		{"nothing ends nothing", calls, "", sure(""), 0, ""},
		{"blank is nothing", calls, "", sure("   "), 0, ""},
		{"a yes is quick", calls, "yes_no", sure("no"), 300*ms + window, "eot"},
		{"a yes is quick in the seed's controller too", plain, "yes_no", sure("yes"), 300*ms + window, "eot"},
		{"4K", plain, "string", sure("4K"), 500*ms + window, "eot"},
		{"digits wait", calls, "digits", sure("4 2"), 1000*ms + window, "eot"},
		{"many digits wait", calls, "digits", sure("4 2 7 7 9 1 3 2 8 8 1 0"), 800*ms + window, "eot"},
		{"spelling waits", calls, "spelling", sure("b o"), 1250*ms + window, "eot"},
		{"unknown kinds keep the silence", calls, "city", sure("Rome"), 500*ms + window, "eot"},
		{"doubt waits", calls, "", Linguistic{Text: "hello there", Confidence: 0.3, Stability: 0.9}, 1500*ms + window, "max_silence"},
		{"unknown scores wait", calls, "", Linguistic{Text: "hello there", Confidence: math.NaN(), Stability: math.NaN()}, 1500*ms + window, "max_silence"},
		{"a doubtful hi waits", calls, "", Linguistic{Text: "hi", Confidence: 0.3, Stability: 0}, 1500*ms + window, "max_silence"},
		{"doubt stalls the seed", plain, "", Linguistic{Text: "hello there", Confidence: 0.3, Stability: 0.9}, 0, ""},
		{"aggressive waits less for certainty", Aggressive().ForCalls(), "", Linguistic{Text: "hello there", Confidence: 0.3, Stability: 0.9}, 1130*ms + 150*ms, "max_silence"},
		{"aggressive waits less for a hi", Aggressive().ForCalls(), "", sure("hi"), 900*ms + 150*ms, "short_answer"},
		{"half is the least", EasyTurnOptions{MinSilence: 20 * ms}.ForCalls(), "", Linguistic{Text: "hello there", Confidence: 0.3}, 750*ms + window, "max_silence"},
		{"patience waits longer", EasyTurnOptions{MinSilence: 2 * time.Second}.ForCalls(), "", Linguistic{Text: "hello there", Confidence: 0.3}, 2*time.Second + window, "max_silence"},
		{"off in a call", EasyTurnOptions{ShortAnswerAfter: Off, MaxSilence: Off}.ForCalls(), "", sure("hi"), 0, ""},
	} {
		c := easyTurn(t, tc.o)
		c.Expect(AdjustmentFor(tc.kind))
		got, reason := ended(t, c, tc.l)
		if got != tc.want || strings.TrimPrefix(reason, "transition_to_SPEAK_") != tc.reason {
			t.Errorf("%s: ended after %v by %q, want %v by %q", tc.name, got, reason, tc.want, tc.reason)
		}
	}
}

func TestEasyTurnExpect(t *testing.T) {
	c := easyTurn(t, EasyTurnOptions{})
	l := Linguistic{Text: "a text that is long enough", Confidence: 1, Stability: 1}
	for _, step := range []struct {
		a    Adjustment
		want time.Duration
	}{
		{Adjustment{Silence: 2}, 1000 * ms},
		{Adjustment{}, 600 * ms}, // and it is undone
		{Adjustment{Silence: -3}, 600 * ms},
		{Adjustment{Silence: math.NaN()}, 600 * ms},
		{AdjustmentFor("phone"), 1200 * ms},
	} {
		c.Expect(step.a)
		c.Reset() // keeps what is expected
		if got, _ := ended(t, c, l); got != step.want {
			t.Errorf("%+v: ended after %v, want %v", step.a, got, step.want)
		}
	}
	for _, kind := range []string{"", "yes_no", "date", "digits", "phone", "email", "money", "whatever"} {
		if err := AdjustmentFor(kind).Validate(); err != nil {
			t.Errorf("%s: %v", kind, err)
		}
	}
}

func TestEasyTurnOptionsValidate(t *testing.T) {
	for _, tc := range []struct {
		o    EasyTurnOptions
		want string // in the error; empty for none
	}{
		{EasyTurnOptions{}, ""},
		{Aggressive(), ""},
		{EasyTurnOptions{}.ForCalls(), ""},
		{EasyTurnOptions{MinSilence: 5 * time.Second}.ForCalls(), ""},
		{EasyTurnOptions{MinSilence: Off, MinSilenceShort: Off, MinTextLength: Off, MinConfidence: Off, MinStability: Off, TextUnchanged: Off, Hysteresis: Off, ShortUtterance: Off}, ""},
		{EasyTurnOptions{Thresholds: Thresholds{EnergyHigh: Off, EnergyLow: Off, InterruptEnergy: Off}}, ""},
		{EasyTurnOptions{Thresholds: Thresholds{EnergyLow: 0.02, VADSilence: 0.7}}, ""},
		{EasyTurnOptions{ShortAnswerAfter: 500 * ms, MaxSilence: 500 * ms}, ""},
		{EasyTurnOptions{MinSilence: -3}, "MinSilence is -3ns"},
		{EasyTurnOptions{MinConfidence: 1.5}, "MinConfidence is 1.5"},
		{EasyTurnOptions{MinStability: math.NaN()}, "MinStability is NaN"},
		{EasyTurnOptions{MinTextLength: -2}, "MinTextLength is -2"},
		{EasyTurnOptions{ShortAnswerAfter: 300 * ms}, "ShortAnswerAfter is 300ms"},
		{EasyTurnOptions{ShortAnswerAfter: time.Second, MinSilence: 2 * time.Second}, "ShortAnswerAfter is 1s: expected at least MinSilence, 2s"},
		{EasyTurnOptions{MaxSilence: 300 * ms}, "MaxSilence is 300ms: expected at least MinSilenceShort, 500ms"},
		{EasyTurnOptions{Thresholds: Thresholds{EnergyLow: 0.5}}, "EnergyLow is 0.5"},
		{EasyTurnOptions{Thresholds: Thresholds{VADSilence: 0.9}}, "VADSilence is 0.9"},
		{EasyTurnOptions{Thresholds: Thresholds{EnergyHigh: Off, VADSpeaking: Off, EnergyLow: Off, VADSilence: Off}}, "Thresholds.EnergyHigh is off: expected a level here or in Thresholds.VADSpeaking"},
		{EasyTurnOptions{Thresholds: Thresholds{InterruptEnergy: Off, InterruptVAD: Off}}, "Thresholds.InterruptEnergy is off"},
		{EasyTurnOptions{Thresholds: Thresholds{VADSpeaking: 7}}, "VADSpeaking is 7"},
	} {
		c, err := NewEasyTurn(tc.o)
		switch {
		case tc.want == "" && err != nil:
			t.Errorf("%+v: %v", tc.o, err)
		case tc.want != "" && (err == nil || !strings.Contains(err.Error(), tc.want)):
			t.Errorf("%+v: error %v, want %q in it", tc.o, err, tc.want)
		case (err == nil) != (c != nil):
			t.Errorf("%+v: both or neither of controller and error", tc.o)
		}
	}
}

// TestEasyTurnOff checks that, with every rule off, a single pause frame ends the turn at
// the next frame, as the seed's code would with zeros.
func TestEasyTurnOff(t *testing.T) {
	c := easyTurn(t, EasyTurnOptions{
		Thresholds: Thresholds{EnergyHigh: Off, EnergyLow: Off},
		MinSilence: Off, MinSilenceShort: Off, MinTextLength: Off, MinConfidence: Off, MinStability: Off, TextUnchanged: Off, Hysteresis: Off,
	})
	for i, want := range []string{"pending_SPEAK", "transition_to_SPEAK_eot"} {
		if got := c.Update(Acoustic{At: time.Duration(i) * ms, Energy: 1, VAD: 0.7}, Linguistic{}).Reason.String(); got != want {
			t.Errorf("frame %d: %s, want %s", i, got, want)
		}
	}
}

func TestEasyTurnAllocatesNothing(t *testing.T) {
	c := easyTurn(t, EasyTurnOptions{}.ForCalls())
	texts := [2]string{"I want to fly to Bos", "I want to fly to Boston"}
	at := time.Duration(0)
	var d Decision
	if n := testing.AllocsPerRun(1000, func() {
		at += 20 * ms
		d = c.Update(Acoustic{At: at, Energy: 0.001, VAD: 0.1, Silence: 600 * ms}, Linguistic{Text: texts[at/(2*time.Second)%2], Confidence: 0.9, Stability: 0.9})
	}); n != 0 {
		t.Errorf("%v allocations a frame", n)
	}
	if d.At != at {
		t.Error("the frames were not decided")
	}
}

// Goal: below 200 ns a frame, 0 allocations.
func BenchmarkEasyTurn(b *testing.B) {
	c := easyTurn(b, EasyTurnOptions{}.ForCalls())
	texts := [2]string{"I want to fly to Boston on the tenth of", "I want to fly to Boston on the tenth of December"}
	b.ReportAllocs()
	for i := range b.N {
		at := time.Duration(i) * 20 * ms
		l := Linguistic{Text: texts[i/32%2], Confidence: 0.9, Stability: 0.9}
		c.Update(Acoustic{At: at, Energy: 0.001, VAD: 0.1, Silence: 100 * ms}, l)
	}
}
