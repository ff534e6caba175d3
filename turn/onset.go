package turn

import (
	"cmp"
	"math"
	"time"
)

// OnsetOptions configures [Onset]. The zero value selects the defaults.
type OnsetOptions struct {
	Thresholds Thresholds
	MinSpeech  time.Duration // total speech before Started; default 60 ms; if Off, the first frame of speech starts
	MinSilence time.Duration // silence before Stopped; default 200 ms; if Off, the first silent frame stops
	// MaxBetween is the maximum length of frames between the thresholds, which continue
	// speech; default 1 s. After it they count as silence, so that the hiss of a connection
	// does not keep a turn open.
	MaxBetween time.Duration
}

// Validate returns an error for the first field that is out of range.
func (o OnsetOptions) Validate() error {
	return cmp.Or(
		InField("Thresholds", o.Thresholds.Validate()),
		checkDuration("MinSpeech", o.MinSpeech),
		checkDuration("MinSilence", o.MinSilence),
		checkPositive("MaxBetween", o.MaxBetween),
	)
}

func (o OnsetOptions) resolved() OnsetOptions {
	return OnsetOptions{
		Thresholds: o.Thresholds.resolved(),
		MinSpeech:  minimum(o.MinSpeech, 60*time.Millisecond),
		MinSilence: minimum(o.MinSilence, 200*time.Millisecond),
		MaxBetween: minimum(o.MaxBetween, time.Second),
	}
}

// Edge is a change that [Onset] detects.
type Edge uint8

// The edges.
const (
	NoEdge  Edge = iota
	Started      // the user has begun to speak
	Stopped      // the user has stopped speaking
)

// String returns the name of the edge.
func (e Edge) String() string {
	switch e {
	case Started:
		return "started"
	case Stopped:
		return "stopped"
	default:
		return "none"
	}
}

// The length of the first frame, and the maximum length of a frame if frames are missing
// before it.
const (
	firstFrame   = 20 * time.Millisecond
	longestFrame = 60 * time.Millisecond
)

// Onset detects frame by frame where speech starts and stops, from voice activity and energy
// (seed 002, "Is user speaking?"). It is a comparable value that is copied by assignment. It
// allocates nothing and is not safe for concurrent use.
//
// A frame above a speaking threshold is speech, and a frame below both silence thresholds is
// silence. A frame between them continues the previous state, for at most MaxBetween. Speech
// starts after speech frames of MinSpeech in total without a silent frame between them. A click
// of a frame or two therefore starts nothing and does not reset the measured silence. Speech
// stops after MinSilence without speech.
//
// If the agent's own voice comes back (as on a telephone connection without an echo canceller
// on this side), the caller passes with each frame the level that the echo may have in it at
// most, see [audio.EchoTracker]. Update subtracts it from the energy, as power, before any
// comparison. If nothing audible is left, the voice activity counts as 0, since a detector
// cannot know whose voice it hears. A fixed higher threshold would ignore quiet callers
// instead.
type Onset struct {
	o OnsetOptions // resolved

	begun    bool
	at       time.Duration // end of the previous frame
	speaking bool          // between Started and Stopped
	loud     bool          // whether the previous frame was speech or continued it
	voiced   time.Duration // total speech of the current start
	since    time.Duration // beginning of voiced
	voicedAt time.Duration // end of the last frame above a speaking threshold
	spokeAt  time.Duration // end of the last speech, or the start of the stream
}

// NewOnset returns a detector at the start of a stream. It returns an error if the options
// are invalid.
func NewOnset(o OnsetOptions) (Onset, error) {
	if err := o.Validate(); err != nil {
		return Onset{}, err
	}
	return Onset{o: o.resolved()}, nil
}

// Configure changes the options and keeps the state, also in the middle of speech. If the
// options are invalid, it returns an error and changes nothing.
func (d *Onset) Configure(o OnsetOptions) error {
	if err := o.Validate(); err != nil {
		return err
	}
	d.o = o.resolved()
	return nil
}

// Reset returns to the start of a stream.
func (d *Onset) Reset() { *d = Onset{o: d.o} }

// Speaking reports whether the user is speaking, between Started and Stopped.
func (d *Onset) Speaking() bool { return d.speaking }

// Began returns the time at which the speech of the last Started began.
func (d *Onset) Began() time.Duration { return d.since }

// Update handles the next frame, in the order of time. It ignores in.Silence.
//
// echo is the level that the agent's voice may have in the frame, see [Onset]. If interrupt
// is true, the thresholds for interruptions apply (seed 002: energy above 0.015 or voice
// activity above 0.6) and the first frame above them starts speech. This is for the policy
// [BargeInEnergy] while the agent is audible.
//
// Update returns the frame for an [Endpointer], without the echo and with Silence set to
// the time since the last speech or the start of the stream. Silence is 0 during speech and
// already grows before Stopped.
func (d *Onset) Update(in Acoustic, echo float64, interrupt bool) (Acoustic, Edge) {
	frame := firstFrame
	if d.begun {
		frame = min(max(in.At-d.at, 0), longestFrame)
	} else {
		d.begun = true
		d.spokeAt = in.At - firstFrame
	}
	d.at = in.At
	in = d.gated(in, echo)

	limits := &d.o.Thresholds
	speech := limits.speaking(in.Energy, in.VAD) || interrupt && limits.interrupting(in.Energy, in.VAD)
	switch {
	case speech:
		d.loud = true
		if d.voiced == 0 {
			d.since = in.At - frame
		}
		d.voiced += frame
		d.voicedAt = in.At
	case limits.silent(in.Energy, in.VAD):
		d.loud = false
		d.voiced = 0
	case d.loud && in.At-d.voicedAt > d.o.MaxBetween:
		d.loud = false
		d.voiced = 0
		if d.speaking {
			d.spokeAt = d.voicedAt
		}
	}

	edge := NoEdge
	if speech && !d.speaking && (interrupt || d.voiced >= d.o.MinSpeech) {
		d.speaking = true
		edge = Started
	}
	if d.speaking && d.loud {
		d.spokeAt = in.At
	}
	in.Silence = in.At - d.spokeAt
	if d.speaking && !d.loud && in.Silence >= d.o.MinSilence {
		d.speaking = false
		edge = Stopped
	}
	return in, edge
}

// gated subtracts the echo from a frame.
func (d *Onset) gated(in Acoustic, echo float64) Acoustic {
	if echo == 0 || math.IsNaN(in.Energy) {
		return in
	}
	in.Energy = math.Sqrt(max(in.Energy*in.Energy-echo*echo, 0))
	audible := d.o.Thresholds.EnergyLow
	if math.IsInf(audible, 1) { // Off
		audible = defaultEnergyLow
	}
	if in.Energy < audible && !math.IsNaN(in.VAD) {
		in.VAD = 0
	}
	return in
}
