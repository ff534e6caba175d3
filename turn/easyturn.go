package turn

import (
	"cmp"
	"math"
	"strings"
	"time"
	"unicode/utf8"
)

// EasyTurnOptions configures [EasyTurn]. The zero value is the controller of seed 002.
type EasyTurnOptions struct {
	Thresholds Thresholds

	MinSilence      time.Duration // MIN_SILENCE_TO_SPEAK_MS; default 400 ms
	ShortUtterance  int           // texts of fewer characters wait MinSilenceShort instead; default 20
	MinSilenceShort time.Duration // MIN_SILENCE_SHORT_UTTERANCE_MS; default 500 ms
	MinTextLength   int           // MIN_TEXT_LENGTH, in characters; default 5
	MinConfidence   float64       // MIN_CONFIDENCE_TO_SPEAK; default 0.6
	MinStability    float64       // STABILITY_THRESHOLD; default 0.8
	TextUnchanged   time.Duration // how long the text must have been unchanged; default 150 ms
	Hysteresis      time.Duration // HYSTERESIS_WINDOW_MS; default 200 ms

	// Two rules that the seed does not have. Both need a text that has been unchanged for
	// TextUnchanged, and the hysteresis applies. They are off by default, as in the seed's
	// controller; ForCalls and New turn them on.

	// ShortAnswerAfter is the silence that ends a turn although its text is shorter than
	// MinTextLength, so that "hi" does not stall a call. An [Adjustment] scales it like the
	// other silences.
	ShortAnswerAfter time.Duration
	// MaxSilence is the silence that ends a turn although the confidence or the stability
	// of its text is too low or unknown (NaN). The agent can ask again after a doubtful
	// turn, but a turn that does not end stalls the call.
	MaxSilence time.Duration
}

// defaultMinSilence is the seed's MIN_SILENCE_TO_SPEAK_MS.
const defaultMinSilence = 400 * time.Millisecond

// Defaults of the rules that New and ForCalls turn on.
const (
	defaultShortAnswerAfter = 1200 * time.Millisecond
	defaultMaxSilence       = 1500 * time.Millisecond
)

// Aggressive returns the seed's preset for a perceived latency below 300 ms.
func Aggressive() EasyTurnOptions {
	return EasyTurnOptions{MinSilence: 300 * time.Millisecond, Hysteresis: 150 * time.Millisecond}
}

// ForCalls returns the options with the two rules enabled that keep a call from stalling,
// unless o sets them or turns them off. If MinSilence is shorter than the seed's, as in
// [Aggressive], the defaults of the rules are shorter in proportion, down to half. They are
// never shorter than the minimal silences.
func (o EasyTurnOptions) ForCalls() EasyTurnOptions {
	r := o.resolved()
	longest := max(r.MinSilence, r.MinSilenceShort)
	pace := min(max(float64(r.MinSilence)/float64(defaultMinSilence), 0.5), 1)
	if o.ShortAnswerAfter == 0 {
		o.ShortAnswerAfter = max(time.Duration(pace*float64(defaultShortAnswerAfter)), longest)
	}
	if o.MaxSilence == 0 {
		o.MaxSilence = max(time.Duration(pace*float64(defaultMaxSilence)), longest)
	}
	return o
}

// Validate returns an error for the first field that is out of range.
func (o EasyTurnOptions) Validate() error {
	if err := cmp.Or(
		InField("Thresholds", o.Thresholds.Validate()),
		checkDuration("MinSilence", o.MinSilence),
		checkCount("ShortUtterance", o.ShortUtterance),
		checkDuration("MinSilenceShort", o.MinSilenceShort),
		checkCount("MinTextLength", o.MinTextLength),
		checkLevel("MinConfidence", o.MinConfidence),
		checkLevel("MinStability", o.MinStability),
		checkDuration("TextUnchanged", o.TextUnchanged),
		checkDuration("Hysteresis", o.Hysteresis),
		checkDuration("ShortAnswerAfter", o.ShortAnswerAfter),
		checkDuration("MaxSilence", o.MaxSilence),
	); err != nil {
		return err
	}
	r := o.resolved()
	other, longest := "MinSilence", r.MinSilence
	if r.MinSilenceShort > longest {
		other, longest = "MinSilenceShort", r.MinSilenceShort
	}
	for _, f := range []struct {
		name  string
		value time.Duration
	}{{"ShortAnswerAfter", r.ShortAnswerAfter}, {"MaxSilence", r.MaxSilence}} {
		if f.value > 0 && f.value < longest {
			return &FieldError{Field: f.name, Value: f.value, Want: "at least", Other: other, OtherValue: longest}
		}
	}
	return nil
}

func (o EasyTurnOptions) resolved() EasyTurnOptions {
	return EasyTurnOptions{
		Thresholds:       o.Thresholds.resolved(),
		MinSilence:       minimum(o.MinSilence, defaultMinSilence),
		ShortUtterance:   minimum(o.ShortUtterance, 20),
		MinSilenceShort:  minimum(o.MinSilenceShort, 500*time.Millisecond),
		MinTextLength:    minimum(o.MinTextLength, 5),
		MinConfidence:    minimum(o.MinConfidence, 0.6),
		MinStability:     minimum(o.MinStability, 0.8),
		TextUnchanged:    minimum(o.TextUnchanged, 150*time.Millisecond),
		Hysteresis:       minimum(o.Hysteresis, 200*time.Millisecond),
		ShortAnswerAfter: max(o.ShortAnswerAfter, 0),
		MaxSilence:       max(o.MaxSilence, 0),
	}
}

// EasyTurn is the turn controller of seed 002. For every frame it weighs voice activity,
// silence and the recognizer's words, and it moves between HOLD and SPEAK with hysteresis.
// It is not safe for concurrent use, and allocates nothing after NewEasyTurn.
//
// It does not have the seed's history buffers and last_speech_end, since no decision
// depends on them.
type EasyTurn struct {
	o          EasyTurnOptions // resolved and adjusted
	configured EasyTurnOptions // resolved, before Expect

	state State
	// pending reports whether the other state has been wanted since pendingAt.
	pending   bool
	pendingAt time.Duration

	text      string // of the previous frame
	length    int    // number of characters of text
	changed   bool   // whether the text has changed at all; the last time was changedAt
	changedAt time.Duration
}

// NewEasyTurn returns a controller in HOLD. It returns an error if the options are invalid.
func NewEasyTurn(o EasyTurnOptions) (*EasyTurn, error) {
	if err := o.Validate(); err != nil {
		return nil, err
	}
	r := o.resolved()
	return &EasyTurn{o: r, configured: r}, nil
}

// Expect adapts the controller to the expected answer, from the next frame until the next
// call. The zero Adjustment stands for free speech, the seed's controller. An invalid
// adjustment (see [Adjustment.Validate]) counts as zero.
func (c *EasyTurn) Expect(a Adjustment) {
	c.o = c.configured
	if a.Validate() != nil {
		return
	}
	if a.MinTextLength > 0 {
		c.o.MinTextLength = a.MinTextLength
	}
	c.o.MinSilence = scaled(c.o.MinSilence, a)
	c.o.MinSilenceShort = scaled(c.o.MinSilenceShort, a)
	c.o.ShortAnswerAfter = scaled(c.o.ShortAnswerAfter, a)
	if c.o.MaxSilence > 0 {
		// MaxSilence is a limit: it is not scaled, only raised to the other silences.
		c.o.MaxSilence = max(c.o.MaxSilence, c.o.MinSilence, c.o.MinSilenceShort)
	}
}

func scaled(d time.Duration, a Adjustment) time.Duration {
	if a.Silence == 0 {
		return d
	}
	return time.Duration(float64(d) * a.Silence)
}

// Reset returns to HOLD and clears the text, for a new turn of the user. The adjustment of
// Expect stays.
func (c *EasyTurn) Reset() {
	*c = EasyTurn{o: c.o, configured: c.configured}
}

// Update decides on the next frame. Frames must come in the order of time, every 20 to 40
// ms.
//
// It implements the seed's "EasyTurn Controller Decision Loop" with the same tests in the
// same order, the same comparisons and the same reasons. If the confidence or stability is
// unknown (NaN), or both energy and voice activity are, HOLD does not change to SPEAK.
func (c *EasyTurn) Update(a Acoustic, l Linguistic) Decision {
	if l.Text != c.text {
		c.text = l.Text
		c.length = textLength(l.Text)
		c.changed, c.changedAt = true, a.At
	}
	desired, by := c.desired(a, l)
	reason := c.applyHysteresis(desired, by, a.At)
	return Decision{State: c.state, Reason: reason, Confidence: confidence(c.state, a.VAD, l), At: a.At}
}

// desired evaluates the seed's evaluate_hold_state or evaluate_speak_state.
func (c *EasyTurn) desired(a Acoustic, l Linguistic) (State, rule) {
	if c.state == Speak {
		if c.o.Thresholds.interrupting(a.Energy, a.VAD) {
			return Hold, ruleInterrupt
		}
		return Speak, ruleEndOfTurn
	}
	if c.o.Thresholds.speaking(a.Energy, a.VAD) || math.IsNaN(a.Energy) && math.IsNaN(a.VAD) {
		return Hold, ruleInterrupt
	}
	minSilence := c.o.MinSilence
	if c.length < c.o.ShortUtterance {
		minSilence = c.o.MinSilenceShort
	}
	if a.Silence < minSilence {
		return Hold, ruleInterrupt
	}
	by := ruleEndOfTurn
	if c.length < c.o.MinTextLength {
		if !c.waived(c.o.ShortAnswerAfter, a.Silence) {
			return Hold, ruleInterrupt
		}
		by = ruleShortAnswer
	}
	// Written so that NaN fails.
	if !(l.Confidence >= c.o.MinConfidence && l.Stability >= c.o.MinStability) {
		if !c.waived(c.o.MaxSilence, a.Silence) {
			return Hold, ruleInterrupt
		}
		by = ruleMaxSilence
	}
	if c.changed && a.At-c.changedAt < c.o.TextUnchanged {
		return Hold, ruleInterrupt
	}
	return Speak, by
}

// waived reports whether a rule for long silences ends a turn that the seed's tests hold. A
// duration of 0 turns the rule off. The rule needs some text.
func (c *EasyTurn) waived(after, silence time.Duration) bool {
	return after > 0 && silence >= after && c.length > 0
}

func (c *EasyTurn) applyHysteresis(desired State, by rule, now time.Duration) Reason {
	if desired == c.state {
		c.pending = false
		return Reason{kind: stable, state: c.state}
	}
	if !c.pending {
		c.pending, c.pendingAt = true, now
		return Reason{kind: pendingFirst, state: desired}
	}
	elapsed := now - c.pendingAt
	if elapsed < c.o.Hysteresis {
		return Reason{kind: pendingSince, state: desired, elapsed: elapsed}
	}
	c.pending = false
	c.state = desired
	return Reason{kind: transition, state: desired, rule: by}
}

// textLength returns the number of characters of a text without the space around it.
func textLength(text string) int {
	return utf8.RuneCountInString(strings.TrimSpace(text))
}
