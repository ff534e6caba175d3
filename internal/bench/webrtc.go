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

// WebRTCOptions configures a measurement of browser calls. Detector is required;
// other zero fields select the defaults.
type WebRTCOptions struct {
	Calls    int           // concurrent calls; default 60
	Duration time.Duration // of the measurement, after a warm-up of 3 s; default 20 s

	// Synthesizer synthesizes the speech of both sides before the measurement.
	Synthesizer port.Synthesizer
	Detector    port.Detector // of each call; required
	// Recognizer, if not nil, is included in the measurement. Otherwise each
	// utterance gets fixed words at no cost.
	Recognizer port.Recognizer
	// Turn and Onset configure the turn controller for the detector.
	Turn  turn.Options
	Onset turn.OnsetOptions
}

// MaxCalls limits WebRTCOptions.Calls.
const MaxCalls = 1000

// Validate returns an error if an option is invalid.
func (o WebRTCOptions) Validate() error {
	switch {
	case o.Calls < 0 || o.Calls > MaxCalls:
		return fmt.Errorf("bench: %d calls: expected 1 to %d", o.Calls, MaxCalls)
	case o.Duration < 0 || o.Duration > time.Hour:
		return fmt.Errorf("bench: duration is %v: expected 0 to 1h", o.Duration)
	case o.Synthesizer == nil || o.Detector == nil:
		return errors.New("bench: Synthesizer and Detector must be set")
	}
	return nil
}

// prepare sets the defaults and synthesizes all speech.
func (o *WebRTCOptions) prepare(ctx context.Context) (*canned, error) {
	if err := o.Validate(); err != nil {
		return nil, err
	}
	o.Calls, o.Duration = cmp.Or(o.Calls, 60), cmp.Or(o.Duration, 20*time.Second)
	return newCanned(ctx, o.Synthesizer, []string{greeting, answer, question})
}

// WebRTCReport is the result. It includes the cost of the callers, which send
// packets encoded in advance and do not decode.
type WebRTCReport struct {
	Usage
	Lateness     // delay of frames when they were sent
	Frames   int `json:"frames"`        // number sent
	Stalls   int `json:"stalls"`        // frames more than 100 ms late
	Heard    int `json:"packets_heard"` // packets received by the callers
	Turns    int `json:"turns"`         // finished turns of both sides
	Lost     int `json:"packets_lost"`  // packets of the callers
}

// What is said. The agent says the greeting and the answer.
const (
	greeting = "Welcome to Hocket Airlines. What would you like to do?"
	answer   = "There is a flight to Denver on Friday at a quarter past nine. Would you like to book it?"
	question = "I want to book a flight from Boston to Denver."
)

const (
	warmUp  = 3 * time.Second
	pause   = 7 * time.Second // between the starts of a caller's utterances
	settled = 2 * time.Second // for ended goroutines to be gone
)

// call is one call and its caller.
type call struct {
	browser *Browser
	leg     *punctual
	session *session.Session
	heard   atomic.Int64
	turns   atomic.Int64
}

// WebRTC runs calls over the loopback interface and measures them. It returns when
// all have ended.
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
	server, err := webrtc.NewServer(webrtc.Options{}) //nolint:contextcheck // opening ports takes none
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
		running.Go(func() { _ = c.session.Run(ctx) }) // it ends with ctx; its error does not matter
	}
	err = r.measure(ctx, calls, o.Duration)
	return r, err
}

// measure waits for the duration and collects the results.
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
			return fmt.Errorf("bench: the caller of call %d received no sound", i+1)
		}
	}
	return nil
}

func newCall(ctx context.Context, server *webrtc.Server, o WebRTCOptions, voice *canned, said [][]byte, i int) (*call, error) {
	c := &call{}
	// The callers speak one after the other.
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

// connect connects to the server and creates the session.
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
