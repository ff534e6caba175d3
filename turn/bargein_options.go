package turn

import (
	"cmp"
	"time"
)

// BargeInPolicy says how the user takes the floor while the agent speaks.
type BargeInPolicy string

// The barge-in policies (DESIGN.md section 5).
const (
	// BargeInHybrid, the default, lowers the agent's volume on speech, stops the agent
	// on words or sustained speech, and resumes if neither comes.
	BargeInHybrid BargeInPolicy = "hybrid"
	// BargeInEnergy stops the agent on any speech (seed 002).
	BargeInEnergy BargeInPolicy = "energy"
	// BargeInWords stops the agent on substantial words only (seed 004).
	BargeInWords BargeInPolicy = "words"
	// BargeInNone never stops the agent.
	BargeInNone BargeInPolicy = "none"
)

// OnSpeech says what the hybrid policy does when speech starts.
type OnSpeech string

// The reactions to speech.
const (
	OnSpeechDuck  OnSpeech = "duck"  // lower the volume; the default
	OnSpeechPause OnSpeech = "pause" // pause the playout
	OnSpeechNone  OnSpeech = "none"  // change nothing that is audible
)

// BargeInOptions configures [BargeIn]. The zero value is the hybrid policy with the values
// of DESIGN.md, section 5.
type BargeInOptions struct {
	Policy   BargeInPolicy `json:"policy,omitempty"`    // default hybrid
	MinWords int           `json:"min_words,omitempty"` // number of substantial words that stop the agent; default 2 (seed 004)
	OnSpeech OnSpeech      `json:"on_speech,omitempty"` // hybrid only; default duck

	// Steady is how long the speech must go on behind words that stop the agent, unless the next
	// result has them, too, or they are final; hybrid only; default 250 ms. If it is Off, the first result with
	// MinWords stops the agent, and no word does so alone (seed 004).
	Steady time.Duration `json:"steady,omitempty"`
	// MinSpeech is the length of speech that stops the agent without words; hybrid only;
	// default 700 ms. If it is Off, only words stop the agent.
	//
	// It counts from SpeechStarted to SpeechStopped as they are reported. With the
	// defaults of [OnsetOptions] the first comes 60 ms and the second 200 ms late, so a
	// sound of more than 560 ms exceeds 700 ms.
	MinSpeech time.Duration `json:"min_speech,omitempty"`
	// MaxFiltered replaces MinSpeech while the words so far are only fillers and
	// backchannels; default 1.5 s. While they are an echo, speech of any length does not
	// stop the agent, since the echo lasts as long as the agent speaks.
	MaxFiltered time.Duration `json:"max_filtered,omitempty"`
	// ResumeAfter is the time after the first speech at which the agent resumes if nothing
	// has stopped it; hybrid only; default 2 s.
	ResumeAfter time.Duration `json:"resume_after,omitempty"`
	// WordsWithin is the time after the end of speech, or after the last result, within
	// which words may still come. The agent resumes then, even before ResumeAfter; default
	// 700 ms.
	WordsWithin time.Duration `json:"words_within,omitempty"`
}

// Validate returns an error for the first field that is out of range.
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
		checkDuration("Steady", o.Steady),
		checkDuration("MinSpeech", o.MinSpeech),
		checkPositive("MaxFiltered", o.MaxFiltered),
		checkPositive("ResumeAfter", o.ResumeAfter),
		checkPositive("WordsWithin", o.WordsWithin),
	)
}

// Or returns o with its zero fields replaced by those of d.
func (o BargeInOptions) Or(d BargeInOptions) BargeInOptions {
	return BargeInOptions{
		Policy:      cmp.Or(o.Policy, d.Policy),
		MinWords:    cmp.Or(o.MinWords, d.MinWords),
		OnSpeech:    cmp.Or(o.OnSpeech, d.OnSpeech),
		Steady:      cmp.Or(o.Steady, d.Steady),
		MinSpeech:   cmp.Or(o.MinSpeech, d.MinSpeech),
		MaxFiltered: cmp.Or(o.MaxFiltered, d.MaxFiltered),
		ResumeAfter: cmp.Or(o.ResumeAfter, d.ResumeAfter),
		WordsWithin: cmp.Or(o.WordsWithin, d.WordsWithin),
	}
}

// DefaultBargeIn returns the options that the zero BargeInOptions stands for.
func DefaultBargeIn() BargeInOptions {
	return BargeInOptions{
		Policy:      BargeInHybrid,
		MinWords:    2,
		OnSpeech:    OnSpeechDuck,
		Steady:      250 * time.Millisecond,
		MinSpeech:   700 * time.Millisecond,
		MaxFiltered: 1500 * time.Millisecond,
		ResumeAfter: 2 * time.Second,
		WordsWithin: 700 * time.Millisecond,
	}
}

// SeedsBargeIn returns the preset "seeds": the hybrid policy with the timing of seed 000. A
// voice without words stops the agent 140 ms after its onset, if detected with the defaults
// of [OnsetOptions] (REQ-007: 150 ms), and the user has the floor 50 ms later (PER-002: 400
// ms). Seed 004 requires two substantial words and no filler to interrupt. Words come later
// than 140 ms, so its filters apply only to words that were recognized earlier.
func SeedsBargeIn() BargeInOptions {
	return BargeInOptions{Policy: BargeInHybrid, OnSpeech: OnSpeechDuck, Steady: Off, MinSpeech: 80 * time.Millisecond}
}

// Profiles has the barge-in options of the phases in which the agent has the floor. Zero
// fields take the defaults of their phase.
type Profiles struct {
	// Greeting applies to the greeting. The default is hybrid, but speech below 800 ms
	// ("hello?") does not stop it.
	Greeting BargeInOptions `json:"greeting,omitzero"`
	// Reply applies to replies. The default is hybrid.
	Reply BargeInOptions `json:"reply,omitzero"`
	// ReadBack applies while the agent repeats what it has understood. The default is hybrid
	// without MinSpeech and OnSpeech, so that neither a noise nor an "mhm" stops it, and "no" does.
	ReadBack BargeInOptions `json:"read_back,omitzero"`
	// Thinking applies before a reply is audible. By default speech delays the reply, any
	// word takes the floor, and a noise of any length does not. Since the agent is silent,
	// a caller passes the verdict of [Unfiltered]; package conv uses the policy only.
	Thinking BargeInOptions `json:"thinking,omitzero"`
}

// Resolved returns the profiles with the defaults of each phase filled in.
func (p Profiles) Resolved() Profiles {
	d := DefaultBargeIn()
	return Profiles{
		Greeting: p.Greeting.Or(BargeInOptions{MinSpeech: 800 * time.Millisecond}).Or(d),
		Reply:    p.Reply.Or(d),
		ReadBack: p.ReadBack.Or(BargeInOptions{MinSpeech: Off, OnSpeech: OnSpeechNone}).Or(d),
		Thinking: p.Thinking.Or(BargeInOptions{MinWords: 1, MinSpeech: Off, OnSpeech: OnSpeechPause}).Or(d),
	}
}

// Validate returns an error for the first invalid field, with its phase.
func (p Profiles) Validate() error {
	return cmp.Or(
		InField("Greeting", p.Greeting.Validate()),
		InField("Reply", p.Reply.Validate()),
		InField("ReadBack", p.ReadBack.Validate()),
		InField("Thinking", p.Thinking.Validate()),
	)
}
