package media

import (
	"context"
	"fmt"
	"math"
	"sync"
	"time"

	"github.com/hocketvoice/hocket/audio"
	"github.com/hocketvoice/hocket/conv"
	"github.com/hocketvoice/hocket/dialog"
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
	// BargeIn says whether the first frame past the interruption thresholds is
	// speech while the agent is heard (policy energy).
	Energy bool
	// PreRoll is how much of what was heard before speech was detected goes to
	// the recognizer: 400 ms if zero.
	PreRoll time.Duration
	// EmptyAfter is the silence after which the recognizer is asked for words
	// when it has shown none: 700 ms if zero.
	EmptyAfter time.Duration
	// Post takes the facts. It is called by the goroutine that calls Frame.
	Post func(...conv.Event)
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
	recognizer port.RecognizerStream
	toRec      *audio.Resampler // nil: the leg's rate is the recognizer's
	toDet      *audio.Resampler // nil: the detector takes the recognizer's samples
	preRoll    *audio.Ring
	endpointer turn.Endpointer
	stability  *turn.Stability
	onset      turn.Onset
	rec, det   []int16 // the frame at the recognizer's and the detector's rate
	roll       []int16

	pos        audio.Pos // of the next sample at the recognizer's rate
	utterance  int       // number of the last stretch of speech
	open       bool      // the recognizer is in an utterance
	ended      bool      // the end of the turn was told, and nothing was heard since
	paused     bool
	audible    bool // the agent is heard
	text       string
	confidence float64
	settled    bool // text is final
	echo       float64
	err        error

	mu       sync.Mutex // guards the mailbox
	commands []command
	results  []port.Transcript
	taken    []port.Transcript
	todo     []command
}

// command is something another goroutine asks for.
type command struct {
	kind   commandKind
	expect dialog.Expectation
	on     bool
	level  float64
}

type commandKind uint8

const (
	commandListen commandKind = iota
	commandFinalize
	commandExpect
	commandAudible
	commandPause
	commandEcho
	commandRelease
)

// NewUplink opens the streams. Close ends them.
func NewUplink(ctx context.Context, o UplinkOptions) (*Uplink, error) {
	if o.PreRoll == 0 {
		o.PreRoll = 400 * time.Millisecond
	}
	if o.EmptyAfter == 0 {
		o.EmptyAfter = 700 * time.Millisecond
	}
	u := &Uplink{o: o, confidence: math.NaN()}
	var err error
	if u.endpointer, err = turn.New(o.Turn); err != nil {
		return nil, fmt.Errorf("uplink: %w", err)
	}
	if u.stability, err = turn.NewStability(turn.StabilityOptions{}); err != nil {
		return nil, fmt.Errorf("uplink: %w", err)
	}
	if u.onset, err = turn.NewOnset(o.Onset); err != nil {
		return nil, fmt.Errorf("uplink: %w", err)
	}
	if u.toRec, err = resamplerFor(o.Rate, recognizerRate); err != nil {
		return nil, fmt.Errorf("uplink: %w", err)
	}
	roll := int(audio.PosOf(o.PreRoll, recognizerRate))
	if u.preRoll, err = audio.NewRing(audio.RingOptions{Capacity: roll}); err != nil {
		return nil, fmt.Errorf("uplink: %w", err)
	}
	u.roll = make([]int16, roll)
	frame := audio.FrameSamples(recognizerRate)
	u.rec, u.det = make([]int16, 0, 2*frame), make([]int16, 0, 2*audio.FrameSamples(audio.MaxRate))
	if o.Detector != nil {
		if err := u.openDetector(); err != nil {
			return nil, err
		}
	}
	if o.Recognizer != nil {
		cfg := port.RecognizerConfig{Rate: recognizerRate, Language: o.Language}
		if u.recognizer, err = o.Recognizer.Open(ctx, cfg, u.take); err != nil {
			return nil, fmt.Errorf("uplink: open the recognizer: %w", err)
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

// Close ends the streams.
func (u *Uplink) Close() error {
	if u.recognizer == nil {
		return nil
	}
	return u.recognizer.Close()
}

// take is the recognizer's sink. It may be called from any goroutine.
func (u *Uplink) take(t port.Transcript) {
	u.mu.Lock()
	u.results = append(u.results, t)
	u.mu.Unlock()
}

func (u *Uplink) ask(c command) {
	u.mu.Lock()
	u.commands = append(u.commands, c)
	u.mu.Unlock()
}

// Listen begins a user turn: what is left of earlier words belongs to none.
func (u *Uplink) Listen() { u.ask(command{kind: commandListen}) }

// Finalize asks for the final transcript of what was heard.
func (u *Uplink) Finalize() { u.ask(command{kind: commandFinalize}) }

// Release is the end of push-to-talk.
func (u *Uplink) Release() { u.ask(command{kind: commandRelease}) }

// Expect says what the agent awaits.
func (u *Uplink) Expect(e dialog.Expectation) { u.ask(command{kind: commandExpect, expect: e}) }

// Audible says whether the agent is heard now.
func (u *Uplink) Audible(on bool) { u.ask(command{kind: commandAudible, on: on}) }

// Pause stops and starts the capture.
func (u *Uplink) Pause(on bool) { u.ask(command{kind: commandPause, on: on}) }

// Echo says at what level, root mean square, the agent's own sound may come
// back in the next frame.
func (u *Uplink) Echo(level float64) { u.ask(command{kind: commandEcho, level: level}) }

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
		u.check(u.recognizer.Write(audio.Frame{Pos: start, Rate: recognizerRate, PCM: u.rec}))
	}
	u.maybeFinalize(acoustic)
	u.collect(acoustic.At)
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

// check notes the recognizer's failure and goes on without it.
func (u *Uplink) check(err error) {
	if err == nil {
		return
	}
	u.err = fmt.Errorf("recognize: %w", err)
	u.open = false
	u.recognizer = nil
}

// follow acts on the beginning and the end of speech and reports whether the
// recognizer has just been given this frame with its pre-roll.
func (u *Uplink) follow(edge turn.Edge) (begun bool) {
	switch edge {
	case turn.Started:
		u.utterance++
		source := "vad"
		if u.o.Energy && u.audible {
			source = "energy"
		}
		if !u.open || u.ended {
			u.forget()
		}
		if u.ended {
			u.ended = false
			u.endpointer.Reset()
		}
		u.o.Post(conv.SpeechStarted{Utterance: u.utterance, Source: source})
	case turn.Stopped:
		u.o.Post(conv.SpeechStopped{Utterance: u.utterance})
	case turn.NoEdge:
	}
	if u.recognizer != nil && !u.open && u.onset.Speaking() {
		u.begin()
		return true
	}
	return false
}

// begin opens an utterance with what was heard just before.
func (u *Uplink) begin() {
	u.check(u.recognizer.Begin())
	if u.recognizer == nil {
		return
	}
	u.open = true
	n := u.preRoll.CopyAt(u.roll, u.preRoll.Pos())
	frame := audio.FrameSamples(recognizerRate)
	// The pre-roll goes in frames like all else; a remainder comes first.
	for from, to := 0, n%frame; from < n && u.open; from, to = to, to+frame {
		if to > from {
			u.check(u.recognizer.Write(audio.Frame{
				Pos: u.preRoll.Pos() + audio.Pos(from), Rate: recognizerRate, PCM: u.roll[from:to],
			}))
		}
	}
}

// forget drops the words of a turn that is over.
func (u *Uplink) forget() {
	u.text, u.settled, u.confidence = "", false, math.NaN()
	u.stability.Reset()
}

// maybeFinalize asks for the words of an utterance that nobody else will end: a
// sound over the agent's voice, or one that has shown no words.
func (u *Uplink) maybeFinalize(a turn.Acoustic) {
	if !u.open || u.onset.Speaking() {
		return
	}
	if a.Silence >= u.o.EmptyAfter && (u.text == "" || u.audible) {
		u.finalize()
	}
}

func (u *Uplink) finalize() {
	if u.recognizer == nil || !u.open {
		return
	}
	u.open = false
	u.check(u.recognizer.Finalize())
}

// obey carries out what other goroutines asked for.
func (u *Uplink) obey() {
	u.mu.Lock()
	u.todo, u.commands = u.commands, u.todo[:0]
	u.mu.Unlock()
	for i := range u.todo {
		switch c := &u.todo[i]; c.kind {
		case commandListen:
			u.listen()
		case commandFinalize:
			if u.recognizer == nil || !u.open {
				u.o.Post(conv.STTFinal{Utterance: u.utterance}) // there is nothing more
				continue
			}
			u.finalize()
		case commandExpect:
			u.endpointer.Expect(turn.AdjustmentFor(c.expect.Kind))
			if u.recognizer != nil {
				u.recognizer.Expect(port.Expectation{Kind: c.expect.Kind, Phrases: c.expect.Phrases})
			}
		case commandAudible:
			u.audible = c.on
		case commandPause:
			u.paused = c.on
		case commandEcho:
			u.echo = c.level
		case commandRelease:
			if m, ok := u.endpointer.(*turn.Manual); ok {
				m.Release()
			}
		}
	}
}

// listen begins a turn, unless the user is speaking already: then it has begun.
func (u *Uplink) listen() {
	u.ended = false
	u.endpointer.Reset()
	if u.onset.Speaking() {
		return
	}
	if u.open {
		u.open = false
		u.check(u.recognizer.Discard())
	}
	u.forget()
}

// collect takes the recognizer's results.
func (u *Uplink) collect(at time.Duration) {
	u.mu.Lock()
	u.taken, u.results = u.results, u.taken[:0]
	u.mu.Unlock()
	for i := range u.taken {
		u.hear(&u.taken[i])
	}
}

func (u *Uplink) hear(t *port.Transcript) {
	if t.Final {
		u.text, u.confidence, u.settled = t.Text, t.Confidence, true
		u.stability.Final(t.Text)
		u.o.Post(conv.STTFinal{
			Utterance: u.utterance, Text: t.Text, Confidence: t.Confidence, Stability: 1, Endpoint: t.Endpoint,
		})
		return
	}
	changed := t.Text != u.text
	u.text, u.confidence, u.settled = t.Text, t.Confidence, false
	if changed && t.Text != "" {
		u.o.Post(conv.STTPartial{Utterance: u.utterance, Text: t.Text, Confidence: t.Confidence})
	}
}

// decide steps the turn controller. While the agent is heard the end of turn
// has no meaning: what is said then is an interruption or nothing.
func (u *Uplink) decide(a turn.Acoustic) {
	l := turn.Linguistic{Text: u.text, Confidence: u.confidence, Stability: 1}
	if !u.settled {
		l.Stability = u.stability.Update(u.text, u.confidence, a.At)
	}
	if u.audible {
		return
	}
	d := u.endpointer.Update(a, l)
	if u.o.Features != nil {
		u.o.Features(Features{Acoustic: a, Linguistic: l, Decision: d})
	}
	if d.State == turn.Speak && d.Reason.Transition() && !u.ended {
		u.ended = true
		u.o.Post(conv.TurnEnded{Utterance: u.utterance, Cause: u.cause()})
	}
}

// cause is the policy's name as an end of turn.
func (u *Uplink) cause() string {
	switch u.o.Turn.Policy {
	case turn.PolicySilence:
		return "silence"
	case turn.PolicySemantic:
		return "semantic"
	case turn.PolicyManual:
		return "manual"
	default:
		return "easyturn"
	}
}
