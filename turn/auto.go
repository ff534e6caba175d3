package turn

import (
	"cmp"
	"time"
)

// Completeness says whether the words of a turn so far are a complete answer to what the agent
// expects. The dialogue reads the words.
type Completeness string

// The values of Completeness.
const (
	Undecided  Completeness = ""           // more words may follow
	Complete   Completeness = "complete"   // the answer that the agent expects; nothing that follows changes it
	Incomplete Completeness = "incomplete" // more words must follow
)

// AutoOptions configures [PolicyAuto]. The zero value selects the defaults.
type AutoOptions struct {
	Thresholds    Thresholds
	Complete      time.Duration // the silence that ends a complete answer; default 250 ms
	Silence       time.Duration // the silence that ends other turns; default 600 ms. An [Adjustment] scales it.
	Incomplete    time.Duration // the silence that ends a turn whose words must go on; default 1.5 s
	TextUnchanged time.Duration // how long the text must have been unchanged; default 100 ms
	Finished      time.Duration // the shortest silence that ends free speech; default 300 ms
	// Language is that of the words, as a BCP 47 tag; English if empty. In other languages
	// the words of free speech are not read.
	Language string
}

// Validate returns an error for the first field that is out of range.
func (o AutoOptions) Validate() error {
	if err := cmp.Or(
		InField("Thresholds", o.Thresholds.Validate()),
		checkPositive("Complete", o.Complete),
		checkPositive("Silence", o.Silence),
		checkPositive("Incomplete", o.Incomplete),
		checkDuration("TextUnchanged", o.TextUnchanged),
		checkPositive("Finished", o.Finished),
	); err != nil {
		return err
	}
	r := o.resolved()
	if r.Silence < r.Complete {
		return &FieldError{Field: "Silence", Value: r.Silence, Want: "at least", Other: "Complete", OtherValue: r.Complete}
	}
	if r.Incomplete < r.Silence {
		return &FieldError{Field: "Incomplete", Value: r.Incomplete, Want: "at least", Other: "Silence", OtherValue: r.Silence}
	}
	return nil
}

func (o AutoOptions) resolved() AutoOptions {
	return AutoOptions{
		Thresholds:    o.Thresholds.resolved(),
		Complete:      cmp.Or(o.Complete, 250*time.Millisecond),
		Silence:       cmp.Or(o.Silence, 600*time.Millisecond),
		Incomplete:    cmp.Or(o.Incomplete, 1500*time.Millisecond),
		TextUnchanged: minimum(o.TextUnchanged, 100*time.Millisecond),
		Finished:      cmp.Or(o.Finished, 300*time.Millisecond),
		Language:      o.Language,
	}
}

// auto ends a turn after a silence whose length depends on what the dialogue makes of the words
// and, in free speech, on how complete the words read and the voice sounds. It needs words, but
// neither their confidence nor their stability: whether the recognizer is in doubt does not tell
// whether the user goes on.
type auto struct {
	latch
	o     AutoOptions // resolved
	scale Adjustment

	text      string // of the previous frame
	changedAt time.Duration
	behind    bool // whether there was speech that the text cannot contain

	free free // what is known of free speech
}

// textLag is how long after the speech its words come at most, as far as a complete answer is
// concerned. Speech that is later than the last change of the text by more adds to the answer.
const textLag = 400 * time.Millisecond

// newAuto returns an endpointer in HOLD. It returns an error if the options are invalid.
func newAuto(o AutoOptions) (*auto, error) {
	if err := o.Validate(); err != nil {
		return nil, err
	}
	r := o.resolved()
	return &auto{o: r, free: newFree(r.Language)}, nil
}

// Update implements [Endpointer].
func (p *auto) Update(a Acoustic, l Linguistic) Decision {
	if l.Text != p.text {
		p.text, p.changedAt, p.behind = l.Text, a.At, false
		p.free.read(l.Text)
	}
	speaking := p.o.Thresholds.speaking(a.Energy, a.VAD)
	if speaking {
		p.free.voice = 0 // the score is about a pause that is over
	}
	p.behind = p.behind || speaking && a.At-p.changedAt > textLag
	limit, by := p.limit(l.Answer)
	ended := l.Text != "" && a.Silence >= limit && a.At-p.changedAt >= p.o.TextUnchanged
	reason := p.step(speaking, ended, by)
	return Decision{State: p.state, Reason: reason, Confidence: confidence(p.state, a.VAD, l), At: a.At}
}

// limit returns the silence that ends the turn, and the rule that says so.
func (p *auto) limit(c Completeness) (time.Duration, rule) {
	usual := scaled(p.o.Silence, p.scale)
	switch c {
	case Complete:
		if p.behind {
			break
		}
		return min(p.o.Complete, usual), ruleComplete
	case Incomplete:
		return max(p.o.Incomplete, usual), ruleIncomplete
	case Undecided:
		if p.scale == (Adjustment{}) {
			return p.free.limit(p.o, p.behind)
		}
	}
	return usual, ruleSilence
}

// Asks implements [Scored]: the score counts in free speech.
func (p *auto) Asks() bool { return p.scale == (Adjustment{}) }

// SetScore implements [Scored].
func (p *auto) SetScore(score float64) { p.free.voice = logOdds(score) }

// Expect implements [Endpointer]. It scales Silence.
func (p *auto) Expect(a Adjustment) {
	p.scale = Adjustment{}
	if a.Validate() == nil {
		p.scale = a
	}
}

// Reset implements [Endpointer].
func (p *auto) Reset() {
	p.latch = latch{}
	p.text, p.changedAt, p.behind = "", 0, false
	p.free = newFree(p.o.Language)
}
