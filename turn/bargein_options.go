package turn

import (
	"cmp"
	"time"
)

// BargeInPolicy names how the user takes the floor while the agent speaks.
type BargeInPolicy string

// The barge-in policies (DESIGN.md section 5).
const (
	// BargeInHybrid, the default, turns the agent down on speech, stops it on
	// words or sustained speech and goes on when neither comes.
	BargeInHybrid BargeInPolicy = "hybrid"
	// BargeInEnergy stops on the first speech, whatever it is (seed 002).
	BargeInEnergy BargeInPolicy = "energy"
	// BargeInWords stops on substantial words alone (seed 004).
	BargeInWords BargeInPolicy = "words"
	// BargeInNone cannot be interrupted.
	BargeInNone BargeInPolicy = "none"
)

// OnSpeech names what the hybrid policy does as soon as it hears speech.
type OnSpeech string

// What happens on speech.
const (
	OnSpeechDuck  OnSpeech = "duck"  // lower the volume; the default
	OnSpeechPause OnSpeech = "pause" // hold the playout where it is
	OnSpeechNone  OnSpeech = "none"  // nothing audible
)

// BargeInOptions configure [BargeIn]. The zero value is the hybrid policy with
// the numbers of DESIGN.md section 5.
type BargeInOptions struct {
	Policy   BargeInPolicy `json:"policy,omitempty"`    // default hybrid
	MinWords int           `json:"min_words,omitempty"` // substantial words that stop; default 2 (seed 004)
	OnSpeech OnSpeech      `json:"on_speech,omitempty"` // hybrid only; default duck

	// MinSpeech of sustained speech stops although no words have come; hybrid
	// only; default 500 ms; Off: only words stop.
	//
	// It counts from SpeechStarted to SpeechStopped as they are reported. With
	// the defaults of [OnsetOptions] the first comes 60 ms and the second 200
	// ms late: a sound of more than 360 ms passes the 500.
	MinSpeech time.Duration `json:"min_speech,omitempty"`
	// MaxFiltered takes the place of MinSpeech while the words so far are
	// nothing but fillers and backchannels; default 1.5 s. While they are an
	// echo, the length of the speech never stops: the echo lasts as long as
	// the agent speaks.
	MaxFiltered time.Duration `json:"max_filtered,omitempty"`
	// ResumeAfter the first speech the agent goes on, when nothing has stopped
	// it by then; hybrid only; default 2 s.
	ResumeAfter time.Duration `json:"resume_after,omitempty"`
	// WordsWithin is how long after the end of speech, or after the last
	// result, words may still come; then the agent goes on, ResumeAfter or
	// not; default 700 ms.
	WordsWithin time.Duration `json:"words_within,omitempty"`
}

// Validate reports the first field that is out of range.
func (o BargeInOptions) Validate() error {
	switch o.Policy {
	case "", BargeInHybrid, BargeInEnergy, BargeInWords, BargeInNone:
	default:
		return &FieldError{Field: "Policy", Value: string(o.Policy), OneOf: []string{string(BargeInHybrid), string(BargeInEnergy), string(BargeInWords), string(BargeInNone)}}
	}
	switch o.OnSpeech {
	case "", OnSpeechDuck, OnSpeechPause, OnSpeechNone:
	default:
		return &FieldError{Field: "OnSpeech", Value: string(o.OnSpeech), OneOf: []string{string(OnSpeechDuck), string(OnSpeechPause), string(OnSpeechNone)}}
	}
	if o.MinWords < 0 {
		return &FieldError{Field: "MinWords", Value: o.MinWords, Want: "1 or more"}
	}
	return cmp.Or(
		checkDuration("MinSpeech", o.MinSpeech),
		checkPositive("MaxFiltered", o.MaxFiltered),
		checkPositive("ResumeAfter", o.ResumeAfter),
		checkPositive("WordsWithin", o.WordsWithin),
	)
}

// Or fills the fields that are zero from d.
func (o BargeInOptions) Or(d BargeInOptions) BargeInOptions {
	return BargeInOptions{
		Policy:      cmp.Or(o.Policy, d.Policy),
		MinWords:    cmp.Or(o.MinWords, d.MinWords),
		OnSpeech:    cmp.Or(o.OnSpeech, d.OnSpeech),
		MinSpeech:   cmp.Or(o.MinSpeech, d.MinSpeech),
		MaxFiltered: cmp.Or(o.MaxFiltered, d.MaxFiltered),
		ResumeAfter: cmp.Or(o.ResumeAfter, d.ResumeAfter),
		WordsWithin: cmp.Or(o.WordsWithin, d.WordsWithin),
	}
}

// DefaultBargeIn is what the zero BargeInOptions mean.
func DefaultBargeIn() BargeInOptions {
	return BargeInOptions{
		Policy:      BargeInHybrid,
		MinWords:    2,
		OnSpeech:    OnSpeechDuck,
		MinSpeech:   500 * time.Millisecond,
		MaxFiltered: 1500 * time.Millisecond,
		ResumeAfter: 2 * time.Second,
		WordsWithin: 700 * time.Millisecond,
	}
}

// SeedsBargeIn is the preset "seeds": the hybrid policy, in the time of seed 000. A voice
// without words has stopped the agent 140 ms after its onset, detected with the defaults
// of [OnsetOptions] (REQ-007: 150 ms), and the user has the floor 50 ms later (PER-002:
// 400 ms). Seed 004 wants two substantial words and no filler to interrupt; words come
// later than that: its filters hold for those that were understood before.
func SeedsBargeIn() BargeInOptions {
	return BargeInOptions{Policy: BargeInHybrid, MinSpeech: 80 * time.Millisecond}
}

// Profiles hold the barge-in options of the phases in which the agent has the
// floor. What is zero takes the default of its phase.
type Profiles struct {
	// Greeting: hybrid, but "hello?" (speech below 800 ms) does not break it.
	Greeting BargeInOptions `json:"greeting,omitzero"`
	// Reply: hybrid.
	Reply BargeInOptions `json:"reply,omitzero"`
	// ReadBack, where the agent repeats what it has understood: words alone,
	// so that neither a noise nor an "mhm" breaks it.
	ReadBack BargeInOptions `json:"read_back,omitzero"`
	// Thinking, before the reply has sounded: speech holds the reply back, any
	// word takes the floor, and a noise of any length does not lose the answer.
	// Who steps it does so with the verdict of [Unfiltered], for the agent is
	// silent; package conv asks for its policy alone.
	Thinking BargeInOptions `json:"thinking,omitzero"`
}

// Resolved fills in the defaults of each phase.
func (p Profiles) Resolved() Profiles {
	d := DefaultBargeIn()
	return Profiles{
		Greeting: p.Greeting.Or(BargeInOptions{MinSpeech: 800 * time.Millisecond}).Or(d),
		Reply:    p.Reply.Or(d),
		ReadBack: p.ReadBack.Or(BargeInOptions{Policy: BargeInWords}).Or(d),
		Thinking: p.Thinking.Or(BargeInOptions{MinWords: 1, MinSpeech: Off, OnSpeech: OnSpeechPause}).Or(d),
	}
}

// Validate reports the first bad field and its phase.
func (p Profiles) Validate() error {
	return cmp.Or(
		InField("Greeting", p.Greeting.Validate()),
		InField("Reply", p.Reply.Validate()),
		InField("ReadBack", p.ReadBack.Validate()),
		InField("Thinking", p.Thinking.Validate()),
	)
}
