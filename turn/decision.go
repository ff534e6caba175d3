package turn

import (
	"fmt"
	"math"
	"strconv"
	"time"
)

// Acoustic holds the acoustic features of one frame (seed 002, "Extract
// acoustic features"). A feature that is not known is NaN.
type Acoustic struct {
	At      time.Duration // the end of the frame, since the start of the stream
	Energy  float64       // root mean square of the samples, full scale = 1
	VAD     float64       // probability of speech, 0 to 1
	Silence time.Duration // time since the last speech; [Onset] fills it in
}

// Linguistic holds what the recognizer has understood so far in this turn. It
// may be older than the frame it comes with. A score that is not known is NaN.
type Linguistic struct {
	Text       string  // the words of this turn, empty when there are none
	Confidence float64 // the recognizer's belief in Text, 0 to 1
	Stability  float64 // how settled Text is, 0 to 1; [Stability] computes it
}

// State says which side the turn controller gives the floor to.
type State uint8

// The states of the turn controller (seed 002, "Turn State Machine").
const (
	Hold  State = iota // the user has the floor; the agent waits
	Speak              // the user has finished; the agent should answer
)

// String is the seed's name of the state, "HOLD" or "SPEAK".
func (s State) String() string {
	if s == Speak {
		return "SPEAK"
	}
	return "HOLD"
}

// MarshalText writes the state by its name.
func (s State) MarshalText() ([]byte, error) { return []byte(s.String()), nil }

// UnmarshalText reads a state by its name.
func (s *State) UnmarshalText(text []byte) error {
	switch string(text) {
	case "HOLD":
		*s = Hold
	case "SPEAK":
		*s = Speak
	default:
		return fmt.Errorf("turn state %q: want HOLD or SPEAK", text)
	}
	return nil
}

// Decision is the answer of an [Endpointer] to one frame.
type Decision struct {
	State  State
	Reason Reason
	// Confidence, 0 to 1, is how much the inputs speak for State:
	// 0.4 * V + 0.3 * recognizer confidence + 0.3 * stability, where V is the
	// voice activity for HOLD and its complement for SPEAK. An input that is
	// absent (NaN) drops out and the others share its weight; without any it
	// is 0.
	Confidence float64
	At         time.Duration // of the frame
}

// Reason says why a [Decision] is what it is. It is a small comparable value
// that is formatted only when somebody asks, so that a frame costs no
// allocation. The zero Reason is "stable_HOLD".
type Reason struct {
	kind    reasonKind
	state   State
	rule    rule
	elapsed time.Duration // how long the change has been pending
}

type reasonKind uint8

const (
	stable reasonKind = iota
	pendingFirst
	pendingSince
	transition
)

// rule names what made a transition. The seed's controller knows the first two.
type rule uint8

const (
	ruleEndOfTurn rule = iota
	ruleInterrupt
	ruleShortAnswer
	ruleMaxSilence
	ruleSilence
	ruleSemantic
	ruleManual
)

var ruleNames = [...]string{"eot", "interrupt", "short_answer", "max_silence", "silence", "semantic", "manual"}

// String gives the seed's reason: "stable_HOLD", "stable_SPEAK",
// "pending_SPEAK" for the frame that first wants a change, "pending_SPEAK_40ms"
// while the change is not yet old enough, "transition_to_SPEAK_eot" and
// "transition_to_HOLD_interrupt". The milliseconds are rounded down.
//
// Rules that the seed does not have put their own name in place of "eot":
// short_answer and max_silence ([EasyTurnOptions]), silence, semantic and
// manual (the other endpointers).
func (r Reason) String() string {
	switch r.kind {
	case pendingFirst:
		return "pending_" + r.state.String()
	case pendingSince:
		return "pending_" + r.state.String() + "_" + strconv.FormatInt(r.elapsed.Milliseconds(), 10) + "ms"
	case transition:
		return "transition_to_" + r.state.String() + "_" + ruleNames[r.rule]
	default:
		return "stable_" + r.state.String()
	}
}

// MarshalText writes the reason as [Reason.String] does.
func (r Reason) MarshalText() ([]byte, error) { return []byte(r.String()), nil }

// Transition tells whether the frame changed the state.
func (r Reason) Transition() bool { return r.kind == transition }

// Weights of the confidence of a decision.
const (
	weightVoice      = 0.4
	weightRecognizer = 0.3
	weightStability  = 0.3
)

// confidence is Decision.Confidence, for the state after the update.
func confidence(s State, vad float64, l Linguistic) float64 {
	if s == Speak {
		vad = 1 - vad
	}
	var sum, weight float64
	if !math.IsNaN(vad) {
		sum += weightVoice * vad
		weight += weightVoice
	}
	if !math.IsNaN(l.Confidence) {
		sum += weightRecognizer * l.Confidence
		weight += weightRecognizer
	}
	if !math.IsNaN(l.Stability) {
		sum += weightStability * l.Stability
		weight += weightStability
	}
	if weight == 0 {
		return 0
	}
	return clamp01(sum / weight)
}

// clamp01 brings x into 0 to 1; what is not a number becomes 0.
func clamp01(x float64) float64 {
	if !(x > 0) {
		return 0
	}
	return min(x, 1)
}
