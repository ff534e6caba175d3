package media

import (
	"context"
	"errors"
	"fmt"
	"math"
	"sync"
	"time"

	"github.com/hocketvoice/hocket/audio"
	"github.com/hocketvoice/hocket/conv"
	"github.com/hocketvoice/hocket/port"
	"github.com/hocketvoice/hocket/turn"
)

// recognizerRate is the sampling rate at which speech is recognized.
const recognizerRate = 16000

// UplinkOptions are the parts of an [Uplink].
type UplinkOptions struct {
	Rate       int             // of the leg's frames, in hertz
	Language   string          // of the speech
	Detector   port.Detector   // nil: speech is found by energy alone
	Recognizer port.Recognizer // nil: nothing is understood
	Turn       turn.Options
	Onset      turn.OnsetOptions
	Stability  turn.StabilityOptions
	// Energy says that the first frame past the interruption thresholds is speech
	// while the agent is heard (the policy of that name).
	Energy bool
	// PreRoll is how much of what was heard before the frame in which speech was
	// detected goes to the recognizer: 400 ms if zero. What it has had already
	// for an utterance before is not repeated.
	PreRoll time.Duration
	// EmptyAfter is the silence after which the recognizer is asked for words
	// when it has shown none: 700 ms if zero.
	EmptyAfter time.Duration
	// Utterance is the number of the last stretch of speech before this one: of a
	// conversation that goes on.
	Utterance int
	// Post takes the facts. It is called by the goroutine that calls Frame.
	Post func(...conv.Event)
	// Retired, if set, is told that a stream of the recognizer's was replaced, by the
	// goroutine that calls Frame: [Uplink.Tidy] closes it.
	Retired func()
	// Features, if set, sees what the turn controller sees on every frame.
	Features func(Features)
}

// Features are one frame as the turn controller saw it, and its decision.
type Features struct {
	Acoustic   turn.Acoustic
	Linguistic turn.Linguistic
	Decision   turn.Decision
}

// Uplink turns the person's frames into facts: speech started and stopped,
// words, the end of a turn. Frame is called by one goroutine; the other methods
// by any, and take effect with the next frame.
type Uplink struct {
	o          UplinkOptions
	detector   port.DetectorStream
	recognizer *stream
	next       *stream          // takes its place when nothing is being recognized
	toRec      *audio.Resampler // nil: the leg's rate is the recognizer's
	toDet      *audio.Resampler // nil: the detector takes the recognizer's samples
	preRoll    *audio.Ring
	endpointer turn.Endpointer
	stability  *turn.Stability
	onset      turn.Onset
	rec, det   []int16 // the frame at the recognizer's and the detector's rate
	roll       []int16

	pos       audio.Pos // of the next sample at the recognizer's rate
	given     audio.Pos // the end of what the recognizer has been given
	utterance int       // number of the last stretch of speech
	open      bool      // the recognizer is in an utterance
	asked     []request // finals that were asked for and are awaited, in order
	overdue   int       // the last stretch of speech whose final was awaited in vain, 0: none
	ended     bool      // the end of the turn was told, and nothing was heard since
	paused    bool
	audible   bool // the agent is heard
	echo      float64
	expected  port.Expectation // what the recognizer was told last
	err       error

	// The words of the user's turn.
	ours       int    // results for stretches of speech before this one belong to no turn
	said       string // what is final
	text       string // said, and what may still change
	confidence float64
	settled    bool // text is final

	taken  []port.Transcript // scratch
	obeyed []command         // scratch: those being carried out

	mu       sync.Mutex // guards all below
	commands []command
	results  []port.Transcript
	retired  []*stream // failed or replaced, and not closed yet
	opened   int       // streams so far
	serving  int       // the number of the one whose results count
	failed   bool      // the recognizer has failed and was not replaced
	shut     bool      // Close was called
}

// NewUplink opens the streams. Close ends them.
func NewUplink(ctx context.Context, o UplinkOptions) (*Uplink, error) {
	if o.PreRoll == 0 {
		o.PreRoll = 400 * time.Millisecond
	}
	if o.EmptyAfter == 0 {
		o.EmptyAfter = 700 * time.Millisecond
	}
	u := &Uplink{o: o, utterance: o.Utterance, confidence: math.NaN(), asked: make([]request, 0, maxAsked)}
	var err error
	if u.endpointer, err = turn.New(o.Turn); err != nil {
		return nil, fmt.Errorf("uplink: %w", err)
	}
	if u.stability, err = turn.NewStability(o.Stability); err != nil {
		return nil, fmt.Errorf("uplink: %w", err)
	}
	if u.onset, err = turn.NewOnset(o.Onset); err != nil {
		return nil, fmt.Errorf("uplink: %w", err)
	}
	if u.toRec, err = resamplerFor(o.Rate, recognizerRate); err != nil {
		return nil, fmt.Errorf("uplink: %w", err)
	}
	frame := audio.FrameSamples(recognizerRate)
	roll := int(audio.PosOf(o.PreRoll, recognizerRate)) + frame // and the frame itself
	if u.preRoll, err = audio.NewRing(audio.RingOptions{Capacity: roll}); err != nil {
		return nil, fmt.Errorf("uplink: %w", err)
	}
	u.rec, u.det = make([]int16, 0, 2*frame), make([]int16, 0, 2*audio.FrameSamples(audio.MaxRate))
	if o.Detector != nil {
		if err := u.openDetector(); err != nil {
			return nil, err
		}
	}
	if o.Recognizer != nil {
		if u.recognizer, err = u.openRecognizer(ctx); err != nil {
			return nil, fmt.Errorf("uplink: %w", err)
		}
	}
	return u, nil
}

func resamplerFor(from, to int) (*audio.Resampler, error) {
	if from == to {
		return nil, nil
	}
	return audio.NewResampler(audio.ResamplerOptions{From: from, To: to})
}

func (u *Uplink) openDetector() (err error) {
	if u.detector, err = u.o.Detector.Open(); err != nil {
		return fmt.Errorf("uplink: open the detector: %w", err)
	}
	if u.toDet, err = resamplerFor(recognizerRate, u.o.Detector.Rate()); err != nil {
		return fmt.Errorf("uplink: %w", err)
	}
	return nil
}

// Close ends the streams. It is called when nobody calls Frame any more.
func (u *Uplink) Close() error {
	u.mu.Lock()
	u.shut = true
	streams := u.retired
	u.retired = nil
	for _, c := range u.commands {
		streams = append(streams, c.stream) // a replacement that came too late
	}
	u.commands = nil
	u.mu.Unlock()
	streams = append(streams, u.recognizer, u.next)
	u.recognizer, u.next = nil, nil
	var errs []error
	for _, r := range streams {
		if r == nil {
			continue
		}
		if err := r.Close(); err != nil {
			errs = append(errs, fmt.Errorf("uplink: close the recognizer: %w", err))
		}
	}
	return errors.Join(errs...)
}

// Frame takes the next 20 ms. An error is the recognizer's; it is returned once
// and the uplink goes on without recognition.
func (u *Uplink) Frame(f audio.Frame) error {
	u.obey()
	if u.paused {
		return nil
	}
	u.rec = u.rec[:0]
	if u.toRec != nil {
		u.rec = u.toRec.Append(u.rec, f.PCM)
	} else {
		u.rec = append(u.rec, f.PCM...)
	}
	start := u.pos
	u.pos += audio.Pos(len(u.rec))
	u.preRoll.Overwrite(u.rec)

	in := turn.Acoustic{At: u.pos.Duration(recognizerRate), Energy: audio.RMS(f.PCM), VAD: u.voice()}
	acoustic, edge := u.onset.Update(in, u.echo, u.o.Energy && u.audible)
	begun := u.follow(edge)
	if u.open && !begun {
		u.give(start, u.rec)
	}
	u.maybeFinalize(acoustic)
	u.collect()
	u.decide(acoustic)
	err := u.err
	u.err = nil
	return err
}

// voice is the detector's probability of speech; NaN without a detector.
func (u *Uplink) voice() float64 {
	if u.detector == nil {
		return math.NaN()
	}
	if u.toDet == nil {
		return u.detector.Write(u.rec)
	}
	u.det = u.toDet.Append(u.det[:0], u.rec)
	return u.detector.Write(u.det)
}

// follow acts on the beginning and the end of speech and reports whether the
// recognizer has just been given this frame with its pre-roll.
func (u *Uplink) follow(edge turn.Edge) (begun bool) {
	switch edge {
	case turn.Started:
		u.utterance++
		source := conv.SourceVAD
		if u.o.Energy && u.audible {
			source = conv.SourceEnergy
		}
		if !u.open || u.ended {
			u.forget(u.utterance)
		}
		if u.ended {
			u.ended = false
			u.endpointer.Reset()
		}
		u.o.Post(conv.SpeechStarted{
			Utterance: u.utterance, Source: source, Lag: u.pos.Duration(recognizerRate) - u.onset.Began(),
		})
	case turn.Stopped:
		u.o.Post(conv.SpeechStopped{Utterance: u.utterance, Source: conv.SourceVAD})
	case turn.NoEdge:
	}
	if u.recognizer != nil && !u.open && u.onset.Speaking() {
		u.begin()
		return true
	}
	return false
}
