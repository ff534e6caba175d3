package app

import (
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"sync"
	"time"

	"github.com/hocketvoice/hocket/audio"
	"github.com/hocketvoice/hocket/internal/config"
	"github.com/hocketvoice/hocket/internal/dialing"
	"github.com/hocketvoice/hocket/port"
	"github.com/hocketvoice/hocket/server/api"
)

// The defaults of the section server.dial.
const (
	DefaultDialRing      = 30 * time.Second
	DefaultDialPerNumber = 3
	DefaultDialPerDay    = 100
	DefaultDialMachine   = "hang_up"
)

const (
	// keptCalls limits the calls that were placed and are remembered.
	keptCalls = 1000
	// onceSaid is how long a carrier may take to play a message.
	onceSaid = 5 * time.Second
)

// phoneLeg is the leg of a call that was placed.
type phoneLeg interface {
	port.Leg
	port.Acknowledger
	port.AnswerReader
	io.Closer
}

// placing places a call and returns its leg when it is answered.
type placing func(ctx context.Context, d port.Dial) (phoneLeg, error)

// dialer places calls. It is safe for concurrent use.
type dialer struct {
	s     *Server
	c     config.Dial
	place placing
	allow dialing.List

	ctx  context.Context //nolint:containedctx // it ends the calls that nobody has answered, with the server
	done sync.WaitGroup

	mu    sync.Mutex // guards the fields below
	meter dialing.Meter
	calls map[string]*placedCall
	order []string // their ids, the oldest first
}

// placedCall is a call that was placed.
type placedCall struct {
	owner string
	api.PhoneCall
}

// newDialer returns what places calls, or nil if the config allows none.
func newDialer(s *Server, c config.Server) *dialer {
	d := &dialer{s: s, c: c.Dial, allow: c.Dial.Allow, calls: make(map[string]*placedCall)}
	name := c.Dial.Carrier
	for carrier := range s.places {
		name = cmp.Or(name, carrier)
	}
	if d.place = s.places[name]; d.place == nil || len(d.allow) == 0 {
		return nil
	}
	d.c.Ring = cmp.Or(d.c.Ring, config.Duration(DefaultDialRing))
	d.c.PerNumber, d.c.PerDay = cmp.Or(d.c.PerNumber, DefaultDialPerNumber), cmp.Or(d.c.PerDay, DefaultDialPerDay)
	d.c.Machine = cmp.Or(d.c.Machine, DefaultDialMachine)
	var stop context.CancelFunc
	d.ctx, stop = context.WithCancel(context.Background())
	s.close = append(s.close, func() error {
		stop()
		d.done.Wait()
		return nil
	})
	return d
}

// Dial implements [api.Dialer].
func (d *dialer) Dial(owner string, n api.NewPhoneCall) (api.PhoneCall, error) {
	to, err := d.allow.Allow(n.To)
	if err != nil {
		return api.PhoneCall{}, fmt.Errorf("%w: the number is %w", api.ErrDialRefused, err)
	}
	agent, err := d.s.answering(n.Agent)
	if err != nil {
		return api.PhoneCall{}, fmt.Errorf("%w: no agent has the name %q", api.ErrDialRefused, n.Agent)
	}
	speech := d.s.roster.named(agent).speech
	if d.s.roster.named(agent).upstream == nil && (speech == nil || speech.Synthesizer == nil) {
		return api.PhoneCall{}, fmt.Errorf("%w: the agent has no voice", api.ErrDialRefused)
	}
	if err := d.s.admitPhone(errBusyServer); err != nil {
		return api.PhoneCall{}, err
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.ctx.Err() != nil {
		return api.PhoneCall{}, fmt.Errorf("%w: the server is shutting down", api.ErrDialRefused)
	}
	if err := d.meter.Admit(time.Now(), to, dialing.Limits{PerNumber: int(d.c.PerNumber), PerDay: int(d.c.PerDay)}); err != nil {
		return api.PhoneCall{}, fmt.Errorf("%w: %w", api.ErrDialLimit, err)
	}
	c := &placedCall{owner: owner, PhoneCall: api.PhoneCall{ID: rand.Text(), Status: "dialing", To: dialing.Mask(to)}}
	d.calls[c.ID] = c
	if d.order = append(d.order, c.ID); len(d.order) > keptCalls {
		delete(d.calls, d.order[0])
		d.order = d.order[1:]
	}
	d.done.Go(func() { d.hold(c, agent, to) })
	return c.PhoneCall, nil
}

// errBusyServer says that the server has no room for a call.
var errBusyServer = errors.New("there is no room for a call")

// Find implements [api.Dialer].
func (d *dialer) Find(owner, id string) (api.PhoneCall, bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	c := d.calls[id]
	if c == nil || c.owner != owner {
		return api.PhoneCall{}, false
	}
	return c.PhoneCall, true
}

// note changes what is known of a call.
func (d *dialer) note(c *placedCall, change func(*api.PhoneCall)) {
	d.mu.Lock()
	defer d.mu.Unlock()
	change(&c.PhoneCall)
}

// over notes the end of a call.
func (d *dialer) over(c *placedCall, outcome, reason string) {
	d.note(c, func(p *api.PhoneCall) { p.Status, p.Outcome, p.Reason = "ended", outcome, reason })
	d.s.o.Log.Info("a call that was placed is over", "to", c.To, "outcome", outcome)
}

// hold lives through a call up to the beginning of its conversation.
func (d *dialer) hold(c *placedCall, agent, to string) {
	detects := d.c.Machine != "off"
	leg, err := d.place(d.ctx, port.Dial{
		To: to, From: d.c.From, Ring: time.Duration(d.c.Ring), Detect: detects, AwaitEnd: d.c.Machine == "message",
		Progress: func(state string) {
			d.note(c, func(p *api.PhoneCall) {
				if state == "ringing" && p.Status != "dialing" || p.Status == "ended" {
					return // what a carrier says may come late
				}
				p.Status = state
			})
		},
	})
	if err != nil {
		outcome, reason := outcomeOf(err)
		d.over(c, outcome, reason)
		if outcome == "failed" {
			d.s.phoneFailed(err)
		}
		return
	}
	if detects {
		by, on := d.screen(leg, d.c.Machine == "message")
		if on {
			d.note(c, func(p *api.PhoneCall) { p.AnsweredBy = string(by) })
		}
		if !on || by != dialing.Human && d.c.Machine != "go_on" {
			d.leave(c, leg, agent, on)
			return
		}
	}
	conversation, err := d.s.startPhone(agent, c.owner, to, leg)
	if err != nil {
		d.over(c, "failed", "the conversation could not begin")
		d.s.phoneFailed(err)
		return
	}
	d.note(c, func(p *api.PhoneCall) { p.Status, p.Conversation = "answered", conversation.ID() })
	select {
	case <-conversation.Done():
		d.over(c, "completed", "")
	case <-d.ctx.Done():
	}
}

// outcomeOf returns why nobody has answered, for programs and for people.
func outcomeOf(err error) (outcome, reason string) {
	for _, o := range []struct {
		err  error
		name string
	}{
		{port.ErrLineBusy, "busy"},
		{port.ErrNoAnswer, "no_answer"},
		{port.ErrRejected, "rejected"},
		{port.ErrUnreachable, "unreachable"},
		{context.Canceled, "cancelled"},
	} {
		if errors.Is(err, o.err) {
			return o.name, o.err.Error()
		}
	}
	return "failed", "the carrier has not placed the call: " + err.Error()
}

// screen listens to who has answered, until it is known, or, if message is set, until a machine
// records. on is false if the call is over.
func (d *dialer) screen(leg phoneLeg, message bool) (by dialing.Verdict, on bool) {
	ctx, cancel := context.WithCancel(d.ctx)
	reports := make(chan port.Answer)
	var reader sync.WaitGroup
	reader.Go(func() {
		for {
			a, err := leg.ReadAnswer(ctx)
			if err != nil {
				return
			}
			select {
			case reports <- a:
			case <-ctx.Done():
				return
			}
		}
	})
	defer reader.Wait()
	defer cancel()
	var s dialing.Screen
	for {
		f, err := leg.Read(ctx)
		if err != nil {
			return s.Verdict(), false
		}
		v := s.Frame(f)
		select {
		case a := <-reports:
			v = s.Carrier(dialing.Report(a))
		default:
		}
		if v == dialing.Human || v == dialing.Recording || v == dialing.Machine && !message {
			return v, true
		}
	}
}

// leave ends a call that a machine has answered, after a message if there is one. on is false if the
// call is over already.
func (d *dialer) leave(c *placedCall, leg phoneLeg, agent string, on bool) {
	outcome := "machine"
	if on && d.c.Machine == "message" {
		if err := d.say(leg, agent); err != nil {
			d.s.phoneFailed(fmt.Errorf("a message could not be left: %w", err))
		} else {
			outcome = "message"
		}
	}
	if err := leg.Close(); err != nil {
		d.s.phoneFailed(err)
	}
	if !on {
		outcome = "hung_up"
	}
	d.over(c, outcome, "")
}

// say says the message, and waits until it was played.
func (d *dialer) say(leg phoneLeg, agent string) error {
	a := d.s.roster.named(agent)
	if a.speech == nil || a.speech.Synthesizer == nil {
		return errors.New("the agent has no voice of its own")
	}
	pcm, err := synthesize(d.ctx, a.speech.Synthesizer, port.Utterance{
		Text: d.c.Message, Voice: a.opts.Voice, Language: a.opts.Conversation.Language,
	}, leg.Rate())
	if err != nil {
		return err
	}
	clock := time.NewTicker(audio.FrameDuration)
	defer clock.Stop()
	frame, begun := audio.FrameSamples(leg.Rate()), leg.Played()
	written := audio.Pos(0)
	for late := 0; late < int(onceSaid/audio.FrameDuration); {
		f := audio.Frame{Rate: leg.Rate(), PCM: make([]int16, frame)}
		n := copy(f.PCM, pcm)
		pcm = pcm[n:]
		if err := leg.Write(d.ctx, f); err != nil {
			return err
		}
		if n > 0 {
			written += audio.Pos(frame)
		} else if late++; leg.Played()-begun >= written {
			return nil
		}
		select {
		case <-clock.C:
		case <-d.ctx.Done():
			return d.ctx.Err()
		}
	}
	return errors.New("the carrier has not played it")
}

// synthesize returns the sound of a text at a rate.
func synthesize(ctx context.Context, s port.Synthesizer, u port.Utterance, rate int) ([]int16, error) {
	var pcm []int16
	if err := s.Speak(ctx, u, func(p port.Speech) error {
		pcm = append(pcm, p.PCM...)
		return nil
	}); err != nil {
		return nil, err
	}
	return audio.Resample(pcm, s.Rate(), rate)
}
