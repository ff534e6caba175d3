package turn

import (
	"cmp"
	"errors"
	"math"
	"slices"
	"time"
)

// Endpointer decides when the user's turn has ended. It is called for every frame. It is
// not safe for concurrent use, and allocates nothing.
//
// SPEAK means that the turn has ended; Reason.Transition is true for the frame that changed
// the state. The caller calls Reset when it gives the floor back to the user.
type Endpointer interface {
	// Update decides on the next frame. Frames must come in the order of time.
	Update(Acoustic, Linguistic) Decision
	// Expect adapts the policy to the expected answer, until the next call; Reset does not
	// undo it. The zero Adjustment stands for free speech.
	Expect(Adjustment)
	// Reset returns to HOLD, for a new turn of the user.
	Reset()
}

// Scored is an [Endpointer] that makes use of a model that hears whether the user has finished.
// The caller asks the model in a pause, and passes what it says.
type Scored interface {
	Endpointer
	// Asks reports whether a score would count in this turn.
	Asks() bool
	// SetScore sets the model's probability, 0 to 1, that the user has finished. It applies
	// until the user speaks again, the next SetScore or Reset. NaN withdraws it. The caller
	// must drop the score of a pause after which the user has already continued to speak.
	SetScore(score float64)
}

// Policy names the way to decide that the user's turn has ended.
type Policy string

// The end-of-turn policies that [New] knows.
const (
	PolicyAuto       Policy = "auto"       // a silence that depends on whether the answer is complete; the default
	PolicyEasyTurn   Policy = "easyturn"   // seed 002
	PolicySilence    Policy = "silence"    // seed 001: a fixed silence
	PolicyManual     Policy = "manual"     // seed 001: push to talk
	PolicyRecognizer Policy = "recognizer" // seeds 000 and 004: the recognizer's own endpoint
	PolicySemantic   Policy = "semantic"   // an end-of-turn model's score
)

// Policies returns the end-of-turn policies.
func Policies() []Policy {
	return []Policy{PolicyAuto, PolicyEasyTurn, PolicySilence, PolicyManual, PolicyRecognizer, PolicySemantic}
}

// Options selects and configures an end-of-turn policy. The zero value is PolicyAuto.
type Options struct {
	Policy   Policy // one of Policies; empty is PolicyAuto
	Auto     AutoOptions
	EasyTurn EasyTurnOptions
	Silence  SilenceOptions
	Semantic SemanticOptions
}

// Validate returns errors for an unknown policy and for the first invalid field of each
// policy, including those that are not selected.
func (o Options) Validate() error {
	var policy error
	if o.Policy != "" && !slices.Contains(Policies(), o.Policy) {
		var names []string
		for _, p := range Policies() {
			names = append(names, string(p))
		}
		policy = &FieldError{Field: "Policy", Value: string(o.Policy), OneOf: names}
	}
	return errors.Join(
		policy,
		InField("Auto", o.Auto.Validate()),
		InField("EasyTurn", o.EasyTurn.ForCalls().Validate()),
		InField("Silence", o.Silence.Validate()),
		InField("Semantic", o.Semantic.Validate()),
	)
}

// New returns the endpointer that the options select. EasyTurn gets the rules of
// [EasyTurnOptions.ForCalls]; use [NewEasyTurn] for the seed's controller alone. New
// returns an error if the options are invalid.
func New(o Options) (Endpointer, error) {
	if err := o.Validate(); err != nil {
		return nil, err
	}
	switch o.Policy {
	case PolicySilence:
		return newSilence(o.Silence)
	case PolicyManual:
		return NewManual(), nil
	case PolicyRecognizer:
		return newRecognizer(), nil
	case PolicySemantic:
		return NewSemantic(o.Semantic)
	case PolicyEasyTurn:
		return NewEasyTurn(o.EasyTurn.ForCalls())
	default:
		return newAuto(o.Auto)
	}
}

// latch switches between HOLD and SPEAK for the policies without hysteresis. A turn ends at
// most once after the user has spoken, and new speech returns to HOLD.
type latch struct {
	state State
	spoke bool // whether the user has spoken since the turn began
}

// step handles a frame. If ended is true and the user has spoken in the turn, it moves to
// SPEAK.
func (p *latch) step(speaking, ended bool, by rule) Reason {
	switch {
	case speaking:
		p.spoke = true
		if p.state == Speak {
			p.state = Hold
			return Reason{kind: transition, state: Hold, rule: ruleInterrupt}
		}
	case p.state == Hold && p.spoke && ended:
		p.state = Speak
		return Reason{kind: transition, state: Speak, rule: by}
	}
	return Reason{kind: stable, state: p.state}
}

// SilenceOptions configures [PolicySilence]. The zero value is seed 001's 500 ms.
type SilenceOptions struct {
	Thresholds Thresholds
	After      time.Duration // the silence that ends a turn; default 500 ms
}

// Validate returns an error for the first field that is out of range.
func (o SilenceOptions) Validate() error {
	return cmp.Or(InField("Thresholds", o.Thresholds.Validate()), checkPositive("After", o.After))
}

// silence ends a turn when the user has spoken and then been silent for a fixed time (seed
// 001, section 4.2: 500 ms). It needs no words.
type silence struct {
	latch
	limits Thresholds
	after  time.Duration // configured
	limit  time.Duration // adjusted
}

// newSilence returns an endpointer in HOLD. It returns an error if the options are invalid.
func newSilence(o SilenceOptions) (*silence, error) {
	if err := o.Validate(); err != nil {
		return nil, err
	}
	after := cmp.Or(o.After, 500*time.Millisecond)
	return &silence{limits: o.Thresholds.resolved(), after: after, limit: after}, nil
}

// Update implements [Endpointer].
func (p *silence) Update(a Acoustic, l Linguistic) Decision {
	reason := p.step(p.limits.speaking(a.Energy, a.VAD), a.Silence >= p.limit, ruleSilence)
	return Decision{State: p.state, Reason: reason, Confidence: confidence(p.state, a.VAD, l), At: a.At}
}

// Expect implements [Endpointer].
func (p *silence) Expect(a Adjustment) {
	p.limit = p.after
	if a.Validate() == nil {
		p.limit = scaled(p.after, a)
	}
}

// Reset implements [Endpointer].
func (p *silence) Reset() { p.latch = latch{} }

// Manual ends a turn only when the user releases a button (seed 001, push_to_talk_release
// and manual_send). It is not safe for concurrent use.
type Manual struct {
	state    State
	released bool
}

// NewManual returns an endpointer in HOLD.
func NewManual() *Manual { return &Manual{} }

// Release ends the turn at the next Update. Further calls do nothing.
func (p *Manual) Release() { p.released = true }

// Update implements [Endpointer].
func (p *Manual) Update(a Acoustic, l Linguistic) Decision {
	reason := Reason{kind: stable, state: p.state}
	if p.released && p.state == Hold {
		p.state = Speak
		reason = Reason{kind: transition, state: Speak, rule: ruleManual}
	}
	return Decision{State: p.state, Reason: reason, Confidence: confidence(p.state, a.VAD, l), At: a.At}
}

// Expect implements [Endpointer]. It does nothing.
func (p *Manual) Expect(Adjustment) {}

// Reset implements [Endpointer]. It stands for pressing the button again.
func (p *Manual) Reset() { *p = Manual{} }

// recognizer never ends a turn. The recognizer's own endpoint does, which the conversation
// receives with the final transcript (seeds 000 and 004).
type recognizer struct{}

// newRecognizer returns an endpointer that is always in HOLD.
func newRecognizer() *recognizer { return &recognizer{} }

// Update implements [Endpointer].
func (p *recognizer) Update(a Acoustic, l Linguistic) Decision {
	return Decision{Confidence: confidence(Hold, a.VAD, l), At: a.At}
}

// Expect implements [Endpointer]. It does nothing.
func (p *recognizer) Expect(Adjustment) {}

// Reset implements [Endpointer]. It does nothing.
func (p *recognizer) Reset() {}

// SemanticOptions configures [Semantic]. The defaults are those of other software that
// ships an end-of-turn model.
type SemanticOptions struct {
	Thresholds Thresholds
	Score      float64       // a score of at least this ends the turn; default 0.5
	MinSilence time.Duration // no turn ends before this silence; default 300 ms
	MaxSilence time.Duration // every turn ends after this silence; default 2.5 s
}

// Validate returns an error for the first field that is out of range.
func (o SemanticOptions) Validate() error {
	if err := o.Thresholds.Validate(); err != nil {
		return InField("Thresholds", err)
	}
	if !(o.Score >= 0 && o.Score <= 1) {
		return &FieldError{Field: "Score", Value: o.Score, Want: "a number from 0 to 1"}
	}
	if err := cmp.Or(checkDuration("MinSilence", o.MinSilence), checkPositive("MaxSilence", o.MaxSilence)); err != nil {
		return err
	}
	if r := o.resolved(); r.MaxSilence < r.MinSilence {
		return &FieldError{Field: "MaxSilence", Value: r.MaxSilence, Want: "at least", Other: "MinSilence", OtherValue: r.MinSilence}
	}
	return nil
}

func (o SemanticOptions) resolved() SemanticOptions {
	return SemanticOptions{
		Thresholds: o.Thresholds.resolved(),
		Score:      cmp.Or(o.Score, 0.5),
		MinSilence: minimum(o.MinSilence, 300*time.Millisecond),
		MaxSilence: cmp.Or(o.MaxSilence, 2500*time.Millisecond),
	}
}

// Semantic ends a turn after a short silence if a model says that the user has finished,
// and otherwise after a long silence. The caller runs the model and passes its score to
// SetScore. Semantic is not safe for concurrent use.
type Semantic struct {
	latch
	o     SemanticOptions // resolved
	scale Adjustment
	score float64 // NaN while unknown
}

// NewSemantic returns an endpointer in HOLD. It returns an error if the options are
// invalid.
func NewSemantic(o SemanticOptions) (*Semantic, error) {
	if err := o.Validate(); err != nil {
		return nil, err
	}
	return &Semantic{o: o.resolved(), score: math.NaN()}, nil
}

// Asks implements [Scored]: the score always counts.
func (p *Semantic) Asks() bool { return true }

// SetScore implements [Scored].
func (p *Semantic) SetScore(score float64) { p.score = score }

// Update implements [Endpointer].
func (p *Semantic) Update(a Acoustic, l Linguistic) Decision {
	speaking := p.o.Thresholds.speaking(a.Energy, a.VAD)
	if speaking {
		p.score = math.NaN() // the score is about a pause that is over
	}
	minSilence := scaled(p.o.MinSilence, p.scale)
	by := ruleSemantic
	ended := p.score >= p.o.Score && a.Silence >= minSilence
	if !ended && a.Silence >= max(p.o.MaxSilence, minSilence) {
		ended, by = true, ruleMaxSilence
	}
	reason := p.step(speaking, ended, by)
	return Decision{State: p.state, Reason: reason, Confidence: confidence(p.state, a.VAD, l), At: a.At}
}

// Expect implements [Endpointer]. It scales MinSilence.
func (p *Semantic) Expect(a Adjustment) {
	p.scale = Adjustment{}
	if a.Validate() == nil {
		p.scale = a
	}
}

// Reset implements [Endpointer].
func (p *Semantic) Reset() {
	p.latch = latch{}
	p.score = math.NaN()
}
