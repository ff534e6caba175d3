package turn

import (
	"fmt"
	"math"
	"strconv"
	"time"
)

// Acoustic has the acoustic features of one frame (seed 002, "Extract acoustic features").
// An unknown feature is NaN.
type Acoustic struct {
	At      time.Duration // end of the frame, since the start of the stream
	Energy  float64       // root mean square of the samples, with 1 as full scale
	VAD     float64       // probability of speech, 0 to 1
	Silence time.Duration // time since the last speech, from [Onset]
}

// Linguistic has what the recognizer has understood so far in this turn. It may be older
// than the frame that it is passed with. An unknown score is NaN.
type Linguistic struct {
	Text       string  // the words of this turn, or ""
	Confidence float64 // the recognizer's confidence in Text, 0 to 1
	Stability  float64 // score of [Stability] for Text, 0 to 1

	Answer Completeness // what the dialogue makes of Text
}

// State says who has the floor.
type State uint8

// The states of the turn controller (seed 002, "Turn State Machine").
const (
	Hold  State = iota // the user has the floor; the agent waits
	Speak              // the user has finished; the agent may answer
)

// String returns the seed's name of the state, "HOLD" or "SPEAK".
func (s State) String() string {
	if s == Speak {
		return "SPEAK"
	}
	return "HOLD"
}

// MarshalText encodes the state as its name.
func (s State) MarshalText() ([]byte, error) { return []byte(s.String()), nil }

// UnmarshalText decodes the name of a state.
func (s *State) UnmarshalText(text []byte) error {
	switch string(text) {
	case "HOLD":
		*s = Hold
	case "SPEAK":
		*s = Speak
	default:
		return fmt.Errorf("turn state %q: expected HOLD or SPEAK", text)
	}
	return nil
}

// Decision is the decision of an [Endpointer] on one frame.
type Decision struct {
	State  State
	Reason Reason
	// Confidence says how much the inputs support State, 0 to 1:
	// 0.4 * V + 0.3 * recognizer confidence + 0.3 * stability, where V is the voice
	// activity for HOLD and its complement for SPEAK. The others share the weight of an
	// input that is unknown (NaN). If all are unknown, Confidence is 0.
	Confidence float64
	At         time.Duration // end of the frame
}

// Reason says how a [Decision] came about. It is a small comparable value that is formatted
// only on demand, so that a frame allocates nothing. The zero Reason is "stable_HOLD".
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

// rule is what caused a transition. The seed's controller has only the first two.
type rule uint8

const (
	ruleEndOfTurn rule = iota
	ruleInterrupt
	ruleShortAnswer
	ruleMaxSilence
	ruleSilence
	ruleSemantic
	ruleManual
	ruleComplete
	ruleIncomplete
	ruleFinished
)

var ruleNames = [...]string{"eot", "interrupt", "short_answer", "max_silence", "silence", "semantic", "manual", "complete", "incomplete", "finished"}

// String returns the seed's reason: "stable_HOLD", "stable_SPEAK", "pending_SPEAK" for the
// first frame that wants a change, "pending_SPEAK_40ms" while the change has been wanted
// for less than the hysteresis, "transition_to_SPEAK_eot" and
// "transition_to_HOLD_interrupt". The milliseconds are rounded down.
//
// Rules that the seed does not have replace "eot" by their own name: short_answer and
// max_silence ([EasyTurnOptions]), complete, incomplete and finished ([AutoOptions]), silence, semantic
// and manual (the other endpointers).
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

// MarshalText encodes the reason as [Reason.String] does.
func (r Reason) MarshalText() ([]byte, error) { return []byte(r.String()), nil }

// Transition reports whether the frame changed the state.
func (r Reason) Transition() bool { return r.kind == transition }

// Weights of the confidence of a decision.
const (
	weightVoice      = 0.4
	weightRecognizer = 0.3
	weightStability  = 0.3
)

// confidence computes Decision.Confidence for the state after the update.
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

// clamp01 limits x to the range 0 to 1. NaN becomes 0.
func clamp01(x float64) float64 {
	if !(x > 0) {
		return 0
	}
	return min(x, 1)
}
