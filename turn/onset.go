package turn

import (
	"cmp"
	"math"
	"time"
)

// OnsetOptions configure [Onset]. The zero value is the default.
type OnsetOptions struct {
	Thresholds Thresholds
	MinSpeech  time.Duration // speech that must add up before Started; default 60 ms; Off: the first frame starts
	MinSilence time.Duration // silence before Stopped; default 200 ms; Off: the first frame stops
	// MaxBetween bounds a stretch of frames that are clearly neither speech
	// nor silence, and so prolong what was; default 1 s. Then they are silence:
	// the hiss of a line must not hold a turn open for ever.
	MaxBetween time.Duration
	// EchoHold is how long the agent's audio may take to come back: the
	// loudest echo level of at least this time counts; default 400 ms.
	EchoHold time.Duration
}

// Validate reports the first field that is out of range.
func (o OnsetOptions) Validate() error {
	return cmp.Or(
		InField("Thresholds", o.Thresholds.Validate()),
		checkDuration("MinSpeech", o.MinSpeech),
		checkDuration("MinSilence", o.MinSilence),
		checkPositive("MaxBetween", o.MaxBetween),
		checkPositive("EchoHold", o.EchoHold),
	)
}

func (o OnsetOptions) resolved() OnsetOptions {
	return OnsetOptions{
		Thresholds: o.Thresholds.resolved(),
		MinSpeech:  minimum(o.MinSpeech, 60*time.Millisecond),
		MinSilence: minimum(o.MinSilence, 200*time.Millisecond),
		MaxBetween: minimum(o.MaxBetween, time.Second),
		EchoHold:   minimum(o.EchoHold, 400*time.Millisecond),
	}
}

// Edge is a change that [Onset] has found.
type Edge uint8

// The edges.
const (
	NoEdge  Edge = iota
	Started      // the user has begun to speak
	Stopped      // the user has stopped speaking
)

// String is the name of the edge.
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

// The length that is taken for the first frame, and the most that a frame
// stands for when frames are missing before it.
const (
	firstFrame   = 20 * time.Millisecond
	longestFrame = 60 * time.Millisecond
)

// Onset finds where speech starts and stops, frame by frame, from voice
// activity and energy (seed 002, "Is user speaking?"). It is a value: copied by
// assignment, comparable, without allocation; one goroutine steps it.
//
// A frame above a speaking threshold is speech; one below both silence
// thresholds is silence; what lies between prolongs what was, for at most
// MaxBetween. Speech starts when MinSpeech of speech frames have come without a
// silent one among them: a click of a frame or two starts nothing, nor does it
// set the measured silence back. Speech stops after MinSilence without speech.
//
// The echo gate: where the agent's own voice comes back (a telephone line has
// no echo canceller on this side), the caller gives with each frame the level
// that it expects to come back, the energy of what it has sent times the
// coupling of the path (0.1 to 0.3 on telephones), taken after any ducking; 0
// while the agent is silent or the far end cancels echo. The loudest level of
// the last EchoHold is taken off the energy before anything is compared, which
// raises each energy threshold by it, and where nothing audible is left the
// voice activity counts as 0: a detector cannot know whose voice it hears. A
// fixed higher threshold would make the agent deaf to quiet callers instead.
type Onset struct {
	o OnsetOptions // resolved

	begun    bool
	at       time.Duration // the end of the frame before
	speaking bool          // between Started and Stopped
	loud     bool          // the frame before was speech, or prolonged it
	voiced   time.Duration // speech that has added up before Started
	since    time.Duration // where it began
	voicedAt time.Duration // the end of the last frame that was clearly speech
	spokeAt  time.Duration // the end of the last speech, or the start of the stream

	// The loudest echo in this half-open window and in the one before.
	echoFrom   time.Duration
	echo       float64
	echoBefore float64
}

// NewOnset returns a detector at the start of a stream, or the error of
// o.Validate.
func NewOnset(o OnsetOptions) (Onset, error) {
	if err := o.Validate(); err != nil {
		return Onset{}, err
	}
	return Onset{o: o.resolved()}, nil
}

// Configure changes the options and keeps the state: a voice that is heard goes
// on. It returns the error of o.Validate, and then changes nothing.
func (d *Onset) Configure(o OnsetOptions) error {
	if err := o.Validate(); err != nil {
		return err
	}
	d.o = o.resolved()
	return nil
}

// Reset starts anew, as for a new stream.
func (d *Onset) Reset() { *d = Onset{o: d.o} }

// Speaking tells whether the user speaks: true from Started to Stopped.
func (d *Onset) Speaking() bool { return d.speaking }

// Began is where the speech began of which Started told last.
func (d *Onset) Began() time.Duration { return d.since }

// Update takes the next frame, in the order of time. in.Silence is not read.
//
// echo is the level of the agent's voice that is expected in the frame, see
// [Onset]. With interrupt the thresholds for interruptions apply (seed 002:
// energy above 0.015 or voice activity above 0.6) and the first such frame
// starts speech: for the policy [BargeInEnergy], while the agent is audible.
//
// The result is the frame as an [Endpointer] should see it, without the echo
// and with Silence filled in: the time since the last speech, or since the
// start of the stream. Silence is 0 during speech and grows already before
// Stopped comes.
func (d *Onset) Update(in Acoustic, echo float64, interrupt bool) (Acoustic, Edge) {
	frame := firstFrame
	if d.begun {
		frame = min(max(in.At-d.at, 0), longestFrame)
	} else {
		d.begun = true
		d.spokeAt = in.At - firstFrame
		d.echoFrom = in.At
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

// gated takes the echo out of a frame.
func (d *Onset) gated(in Acoustic, echo float64) Acoustic {
	level := d.hold(in.At, echo)
	if level == 0 || math.IsNaN(in.Energy) {
		return in
	}
	in.Energy = max(in.Energy-level, 0)
	audible := d.o.Thresholds.EnergyLow
	if math.IsInf(audible, 1) { // Off
		audible = defaultEnergyLow
	}
	if in.Energy < audible && !math.IsNaN(in.VAD) {
		in.VAD = 0
	}
	return in
}

// hold gives the loudest echo of the last one to two windows of EchoHold.
func (d *Onset) hold(at time.Duration, echo float64) float64 {
	if at-d.echoFrom >= d.o.EchoHold {
		d.echoBefore = d.echo
		if at-d.echoFrom >= 2*d.o.EchoHold {
			d.echoBefore = 0
		}
		d.echo, d.echoFrom = 0, at
	}
	if echo > d.echo {
		d.echo = echo
	}
	return max(d.echo, d.echoBefore)
}
