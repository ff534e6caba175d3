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
	"github.com/hocketvoice/hocket/internal/echo"
	"github.com/hocketvoice/hocket/port"
	"github.com/hocketvoice/hocket/turn"
)

// recognizerRate is the sampling rate of speech recognition in hertz.
const recognizerRate = 16000

// UplinkOptions configures an [Uplink].
type UplinkOptions struct {
	Rate       int             // of the leg's frames, in hertz
	Language   string          // of the speech
	Detector   port.Detector   // if nil, speech is detected by energy only
	Recognizer port.Recognizer // if nil, nothing is recognized
	Turn       turn.Options
	Onset      turn.OnsetOptions
	Stability  turn.StabilityOptions
	Echo       audio.EchoOptions
	// Energy makes the first frame above the interruption thresholds count as speech
	// while the agent can be heard (the barge-in policy energy).
	Energy bool
	// PreRoll is the length of sound before the detection of speech that is passed to
	// the recognizer; 400 ms if zero. Sound passed to the previous utterance is not
	// repeated.
	PreRoll time.Duration
	// EmptyAfter is the silence after which a final transcript is requested if the
	// recognizer has returned no words; 700 ms if zero.
	EmptyAfter time.Duration
	// Utterance is the number of the last utterance of a conversation that continues.
	Utterance int
	// Post receives the events. It is called by the goroutine that calls Frame.
	Post func(...conv.Event)
	// Retired, if not nil, is called when a stream of the recognizer was replaced, by
	// the goroutine that calls Frame. The stream must be closed with [Uplink.Tidy].
	Retired func()
	// Features, if not nil, receives the input of the turn controller for every frame.
	Features func(Features)
	// Ask, if not nil, asks a model whether the speaker has finished, and passes what it
	// says to [Uplink.Score]. It is called once in a pause, if the policy wants to know, by
	// the goroutine that calls Frame, and must not wait. pcm is the sound of the turn at
	// 16 kHz, the last 8 s at most; it belongs to Ask.
	Ask func(pause int, pcm []int16)
	// Sent, if not nil, is what the agent has sent, at Rate. The uplink cancels its echo.
	Sent *Reference
	// Thinking is how long the model's answer takes at least, in the time of the frames.
	Thinking time.Duration
}

// audibleEcho is the level from which an echo may be taken for speech: that below which frames
// are silence ([turn.Thresholds]).
const audibleEcho = 0.005

// Features is a frame as seen by the turn controller, and its decision.
type Features struct {
	Acoustic   turn.Acoustic
	Linguistic turn.Linguistic
	Decision   turn.Decision
	// Score is what a model has said about the pause since the previous frame, NaN if it
	// has said nothing.
	Score float64
}

// Uplink converts the person's frames to events: the beginning and end of speech,
// words, and the end of a turn. Frame must be called by one goroutine. The other
// methods are safe for concurrent use and take effect with the next frame.
type Uplink struct {
	o          UplinkOptions
	detector   port.DetectorStream
	recognizer *stream
	next       *stream          // replaces recognizer when nothing is being recognized
	toRec      *audio.Resampler // nil if the leg has the recognizer's rate
	toDet      *audio.Resampler // nil if the detector has the recognizer's rate
	preRoll    *audio.Ring
	endpointer turn.Endpointer
	stability  *turn.Stability
	onset      turn.Onset
	rec, det   []int16 // the frame at the recognizer's and the detector's rate
	roll       []int16

	pos           audio.Pos // of the next sample at the recognizer's rate
	given         audio.Pos // the end of what was passed to the recognizer
	utterance     int       // number of the last utterance
	open          bool      // the recognizer is in an utterance
	asked         []request // requests for final transcripts that are awaited, in order
	overdue       int       // the last utterance whose final transcript did not arrive in time; 0 if none
	ended         bool      // the end of the turn was reported, and nothing was heard since
	spoken        bool      // the turn has begun with speech that the turn controller did not see
	paused        bool
	audible       bool // the agent can be heard
	tracker       audio.EchoTracker
	canceller     *echo.Canceller  // nil: no echo is cancelled
	sentToRec     *audio.Resampler // nil if the leg has the recognizer's rate
	sent, sentRec []int16
	expected      port.Expectation // the last expectation passed to the recognizer
	err           error

	// The words of the user's turn.
	ours       int    // results for earlier utterances belong to no turn
	said       string // final words
	text       string // said, followed by interim words
	confidence float64
	settled    bool              // text is final
	answer     turn.Completeness // of text, as the dialogue reads it

	pauses pauses

	taken  []port.Transcript // scratch
	obeyed []command         // scratch: the commands being handled

	mu       sync.Mutex // guards the fields below
	commands []command
	results  []port.Transcript
	retired  []*stream // failed or replaced streams that are not closed yet
	opened   int       // number of streams so far
	serving  int       // number of the stream whose results count
	failed   bool      // the recognizer has failed and was not replaced
	shut     bool      // Close was called
}

// NewUplink returns an uplink with its streams open. They are closed by Close.
func NewUplink(ctx context.Context, o UplinkOptions) (*Uplink, error) {
	if o.PreRoll == 0 {
		o.PreRoll = 400 * time.Millisecond
	}
	if o.EmptyAfter == 0 {
		o.EmptyAfter = 700 * time.Millisecond
	}
	u := &Uplink{o: o, utterance: o.Utterance, confidence: math.NaN(), asked: make([]request, 0, maxAsked)}
	u.o.Turn.Auto.Language = o.Language
	if err := u.prepare(); err != nil {
		return nil, fmt.Errorf("uplink: %w", err)
	}
	if o.Detector != nil {
		if err := u.openDetector(); err != nil {
			return nil, err
		}
	}
	if o.Recognizer != nil {
		var err error
		if u.recognizer, err = u.openRecognizer(ctx); err != nil {
			return nil, fmt.Errorf("uplink: %w", err)
		}
	}
	return u, nil
}

// prepare makes the parts that need not be closed.
func (u *Uplink) prepare() (err error) {
	if u.endpointer, err = turn.New(u.o.Turn); err != nil {
		return err
	}
	if u.stability, err = turn.NewStability(u.o.Stability); err != nil {
		return err
	}
	if u.onset, err = turn.NewOnset(u.o.Onset); err != nil {
		return err
	}
	if err := u.prepareEcho(); err != nil {
		return err
	}
	if u.toRec, err = resamplerFor(u.o.Rate, recognizerRate); err != nil {
		return err
	}
	frame := audio.FrameSamples(recognizerRate)
	u.rec, u.det = make([]int16, 0, 2*frame), make([]int16, 0, 2*audio.FrameSamples(audio.MaxRate))
	if u.o.Ask != nil {
		if u.pauses.sound, err = audio.NewRing(audio.RingOptions{Capacity: int(audio.PosOf(longestAsked, recognizerRate))}); err != nil {
			return err
		}
	}
	roll := int(audio.PosOf(u.o.PreRoll, recognizerRate)) + frame // plus the frame itself
	u.preRoll, err = audio.NewRing(audio.RingOptions{Capacity: roll})
	return err
}

// prepareEcho makes the parts that find an echo and cancel it.
func (u *Uplink) prepareEcho() (err error) {
	if u.tracker, err = audio.NewEchoTracker(u.o.Echo); err != nil || u.o.Sent == nil || u.o.Echo.Off {
		return err
	}
	u.canceller = echo.New()
	u.sent = make([]int16, audio.FrameSamples(u.o.Rate))
	u.sentRec = make([]int16, 0, 2*audio.FrameSamples(recognizerRate)) // used with sentToRec
	u.sentToRec, err = resamplerFor(u.o.Rate, recognizerRate)
	return err
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

// Close closes the streams. Frame must not be called afterwards.
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

// Frame processes the next 20 ms. sent is the level (root mean square) of the agent's last
// frame, which may come back as an echo. Frame returns each error of the recognizer once; the
// uplink then continues without recognition.
func (u *Uplink) Frame(f audio.Frame, sent float64) error {
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
	u.cancelEcho()
	start := u.pos
	u.pos += audio.Pos(len(u.rec))
	u.preRoll.Overwrite(u.rec)
	if u.pauses.sound != nil {
		u.pauses.sound.Overwrite(u.rec)
	}

	in := turn.Acoustic{At: u.pos.Duration(recognizerRate), Energy: audio.RMS(f.PCM), VAD: u.voice()}
	own := u.tracker.Update(sent, in.Energy)
	acoustic, edge := u.onset.Update(in, own, u.o.Energy && u.audible)
	begun := u.follow(edge, acoustic.Silence, own)
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

// cancelEcho removes the echo of what was sent from the frame. The levels by which a voice is told
// from an echo are those of the frame as it came: what remains of an echo has no level of its own.
func (u *Uplink) cancelEcho() {
	if u.canceller == nil || !u.canceller.Models() && !u.tracker.Plausible() {
		return
	}
	u.o.Sent.Read(u.sent)
	pcm := u.sent
	if u.sentToRec != nil {
		u.sentRec = u.sentToRec.Append(u.sentRec[:0], u.sent)
		pcm = u.sentRec
	}
	u.canceller.Cancel(pcm, u.rec)
}

// voice returns the detector's probability of speech, or NaN without a detector.
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

// follow handles the beginning and end of speech, silence after the last speech. own is the level
// that the agent's voice may have. It reports whether the frame was already passed to the
// recognizer with the pre-roll.
func (u *Uplink) follow(edge turn.Edge, silence time.Duration, own float64) (begun bool) {
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
		u.pauses.spoke(u.onset.Began())
		u.o.Post(conv.SpeechStarted{
			Utterance: u.utterance, Source: source, Lag: u.pos.Duration(recognizerRate) - u.onset.Began(),
			Echo: own > audibleEcho,
		})
	case turn.Stopped:
		u.o.Post(conv.SpeechStopped{Utterance: u.utterance, Source: conv.SourceVAD, Lag: silence})
	case turn.NoEdge:
	}
	if u.recognizer != nil && !u.open && u.onset.Speaking() {
		u.begin()
		return true
	}
	return false
}
