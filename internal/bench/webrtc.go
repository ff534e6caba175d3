package bench

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"github.com/hocketvoice/hocket/conv"
	"github.com/hocketvoice/hocket/leg/webrtc"
	"github.com/hocketvoice/hocket/port"
	"github.com/hocketvoice/hocket/session"
	"github.com/hocketvoice/hocket/turn"
)

// WebRTCOptions describe a measurement of calls of browsers. Zero fields take the
// defaults named.
type WebRTCOptions struct {
	Calls    int           // at once: 60
	Duration time.Duration // of the measurement, behind a warm-up of 3 s: 20 s

	// Synthesizer makes the speech of both sides, before the measurement.
	Synthesizer port.Synthesizer
	Detector    port.Detector // of each call; required
	// Recognizer takes part in the measurement if it is set; else each utterance
	// has words without any work.
	Recognizer port.Recognizer
	// Turn and Onset are the turn controller's, fit for the detector.
	Turn  turn.Options
	Onset turn.OnsetOptions
}

// MaxCalls bounds a measurement.
const MaxCalls = 1000

// Validate says what does not fit.
func (o WebRTCOptions) Validate() error {
	switch {
	case o.Calls < 0 || o.Calls > MaxCalls:
		return fmt.Errorf("bench: %d calls, expected 1 to %d", o.Calls, MaxCalls)
	case o.Duration < 0 || o.Duration > time.Hour:
		return fmt.Errorf("bench: %v, expected up to an hour", o.Duration)
	case o.Synthesizer == nil || o.Detector == nil:
		return errors.New("bench: a voice and a detector are needed")
	}
	return nil
}

// prepare fills the defaults in, and has all be said that will be.
func (o *WebRTCOptions) prepare(ctx context.Context) (*canned, error) {
	if err := o.Validate(); err != nil {
		return nil, err
	}
	o.Calls, o.Duration = cmp.Or(o.Calls, 60), cmp.Or(o.Duration, 20*time.Second)
	return newCanned(ctx, o.Synthesizer, []string{greeting, answer, question})
}

// WebRTCReport is what was measured. The callers' share is in it: they send
// packets that were encoded before, and decode nothing.
type WebRTCReport struct {
	Usage
	Lateness     // of frames, when they were out
	Frames   int `json:"frames"`        // that were sent
	Stalls   int `json:"stalls"`        // frames more than 100 ms late
	Heard    int `json:"packets_heard"` // by the callers
	Turns    int `json:"turns"`         // of both sides that ended
	Lost     int `json:"packets_lost"`  // of the callers'
}

// What is said. The agent's lines are the greeting and the answer.
const (
	greeting = "Welcome to Hocket Airlines. What would you like to do?"
	answer   = "There is a flight to Denver on Friday at a quarter past nine. Would you like to book it?"
	question = "I want to book a flight from Boston to Denver."
)

const (
	warmUp  = 3 * time.Second
	pause   = 7 * time.Second // between the beginnings of a caller's utterances
	settled = 2 * time.Second // for what has ended to be gone
)

// call is one call and its caller.
type call struct {
	browser *Browser
	leg     *punctual
	session *session.Session
	heard   atomic.Int64
	turns   atomic.Int64
}

// WebRTC holds calls over the loopback interface and measures them. It returns
// when all have ended.
func WebRTC(ctx context.Context, o WebRTCOptions) (r WebRTCReport, err error) {
	voice, err := o.prepare(ctx)
	if err != nil {
		return r, err
	}
	said, err := voice.packets(2)
	if err != nil {
		return r, err
	}
	r.open(o.Calls)
	server, err := webrtc.NewServer(webrtc.Options{})
	if err != nil {
		return r, err
	}
	calls := make([]*call, 0, o.Calls)
	var running sync.WaitGroup
	ctx, cancel := context.WithCancel(ctx)
	defer func() {
		cancel()
		running.Wait()
		for _, c := range calls {
			err = errors.Join(err, c.browser.Close())
		}
		err = errors.Join(err, server.Close())
		r.close()
	}()
	for i := range o.Calls {
		c, err := newCall(ctx, server, o, voice, said, i)
		if err != nil {
			return r, fmt.Errorf("bench: call %d: %w", i+1, err)
		}
		calls = append(calls, c)
		running.Go(func() { _ = c.session.Run(ctx) }) // it ends with ctx, and what it did is measured
	}
	err = r.measure(ctx, calls, o.Duration)
	return r, err
}

// measure waits and counts.
func (r *WebRTCReport) measure(ctx context.Context, calls []*call, d time.Duration) error {
	err := r.watch(ctx, d, func() {
		for _, c := range calls {
			c.leg.restart()
		}
	})
	if err != nil {
		return err
	}
	late, stalls := lateness(calls)
	r.Frames, r.Stalls, r.Lateness = len(late), stalls, newLateness(late)
	for i, c := range calls {
		r.Heard += int(c.heard.Load())
		r.Turns += int(c.turns.Load())
		r.Lost += c.leg.Stats().Lost
		if c.heard.Load() == 0 {
			return fmt.Errorf("bench: the caller of call %d has heard nothing", i+1)
		}
	}
	return nil
}

func newCall(ctx context.Context, server *webrtc.Server, o WebRTCOptions, voice *canned, said [][]byte, i int) (*call, error) {
	c := &call{}
	// The callers speak one after the other, not in chorus.
	period := int(pause / (20 * time.Millisecond))
	n := -i * period / o.Calls
	var err error
	c.browser, err = NewBrowser(BrowserOptions{
		Source: func() (packet []byte) {
			if at := (n + 2*period) % period; n >= 0 && at < len(said) && len(said[at]) > 0 {
				packet = said[at]
			}
			n++
			return packet
		},
		Sink: func([]byte) { c.heard.Add(1) },
	})
	if err != nil {
		return nil, err
	}
	if err := c.connect(ctx, server, o, voice); err != nil {
		return nil, errors.Join(err, c.browser.Close())
	}
	return c, nil
}

// connect has the server answer, and makes the session.
func (c *call) connect(ctx context.Context, server *webrtc.Server, o WebRTCOptions, voice *canned) error {
	offer, err := c.browser.Offer(ctx)
	if err != nil {
		return err
	}
	leg, sdp, err := server.Accept(ctx, offer) // closed with the server
	if err != nil {
		return err
	}
	c.leg = &punctual{Leg: leg}
	recognizer := o.Recognizer
	if recognizer == nil {
		recognizer = scribe{question}
	}
	c.session, err = session.New(session.Options{
		ID: "bench", Conv: conv.Options{Greeting: greeting}, Leg: c.leg, Recognizer: recognizer, Synthesizer: voice,
		Detector: o.Detector, Model: answerer{answer}, Turn: o.Turn, Onset: o.Onset,
	})
	if err != nil {
		return err
	}
	c.session.OnTurnEvent(func(t session.TurnEvent) {
		if t.Type != conv.TurnStarted {
			c.turns.Add(1)
		}
	})
	return c.browser.Answer(ctx, sdp)
}
