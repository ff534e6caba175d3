package realtime

import (
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/hocketvoice/hocket/audio"
	"github.com/hocketvoice/hocket/conv"
	wire "github.com/hocketvoice/hocket/internal/wire/realtime"
	"github.com/hocketvoice/hocket/leg/realtime/projection"
	"github.com/hocketvoice/hocket/port"
	"github.com/hocketvoice/hocket/session"
)

// conn is one conversation. It runs a [projection.Projection] and owns the session, the
// connection of the client ([link]) and all queues. The client may disconnect and
// return over another connection. The methods of conn are called by the reader of the
// connection, the goroutine of the session (OnStep), the goroutine that writes to the
// leg (writeSpeech), the ear, the clock, and the goroutines of responses beside the
// conversation; mu guards the state that they share.
//
// An input is projected, and the resulting events are queued, while mu is held. The
// goroutine that brought the input then performs the effects without mu.
type conn struct {
	o       *Options
	id      string // of the conversation
	owner   string
	ids     *eventIDs
	leg     sound
	call    Call // carries the sound; nil if events carry it
	callID  string
	ear     *ear
	parts   session.Options // as returned by Open or Resume
	openErr error           // nil or ErrUnknownModel
	s       *session.Session
	hold    func(ctx context.Context, s *session.Session) error
	issued  func(ctx context.Context, digest, before []byte) error // may be nil
	issuing sync.Mutex                                             // serializes calls of issued
	resume  digest                                                 // digest of the client's newest token; guarded by the server's mu
	before  digest                                                 // digest of the previous token, valid until the client uses the newest; guarded by the server's mu
	heard   func(context.Context)                                  // called when the client has received its newest token
	gone    bool                                                   // the conversation has ended; guarded by the server's mu
	wakec   chan struct{}                                          // contains a token when the clock must check its deadlines
	work    chan func(context.Context)                             // functions that the clock starts in goroutines: the ear, responses beside the conversation
	ready   chan struct{}                                          // closed when the machine listens for the first time
	ended   chan struct{}                                          // closed when all goroutines of the conversation have ended

	mu sync.Mutex // guards the fields below

	p        *projection.Projection
	said     string              // what the agent said last; only for flows without a model
	encoders map[string]*encoder // by response id
	measure  chan struct{}       // closed when it is known how much of the last response was heard; nil if it is known
	listens  bool                // ready is closed or about to be
	idleAt   time.Time           // the projection's deadline

	link     *link     // the client's connection; nil while it is disconnected
	known    bool      // the client has sent a valid event
	over     bool      // the client cannot return
	done     bool      // the session has ended
	leaveAt  time.Time // when the wait for a disconnected client ends; zero while it is connected
	cutAt    time.Time // when a conversation without a client is cancelled; zero if not set
	expireAt time.Time // when the maximum duration is reached
}

// sound is the leg of a conversation and the queue of the client's sound.
type sound interface {
	port.Leg
	// heard returns how much of the person's sound has been heard, in milliseconds.
	heard() int
	// push queues sound or a marker. It blocks while the queue is full.
	push(ctx context.Context, c chunk) error
	// drop discards the queued sound.
	drop()
	// setLine sets the state of the client's connection.
	setLine(line port.Line)
	// end makes the leg end, because the client has left for good.
	end()
}

// begin contains what a new conversation needs.
type begin struct {
	owner   string
	session wire.Session
	named   bool // the client has named the model
	parts   Parts
	openErr error // nil or ErrUnknownModel
	call    Call  // carries the sound; nil if events carry it
}

// newConn creates a conversation and its session.
func newConn(o *Options, b begin) (*conn, error) {
	parts := b.parts.Session
	c := &conn{
		o: o, id: cmp.Or(b.parts.ID, newID("conv")), owner: b.owner, ids: newEventIDs(), parts: parts, hold: b.parts.Hold, issued: b.parts.Issue, openErr: b.openErr,
		wakec: make(chan struct{}, 1), work: make(chan func(context.Context), projection.MaxBeside+1), ready: make(chan struct{}), ended: make(chan struct{}),
		encoders: make(map[string]*encoder), expireAt: time.Now().Add(o.Lifetime),
	}
	c.p = projection.New(time.Now(), projection.Options{
		Session: b.session, Conversation: c.id, Named: b.named, Means: b.parts.Means, IDs: rand.Text()[:16], Responses: o.Responses, Tokens: o.Tokens,
		Instructions: parts.Instructions, Greets: greets(&parts.Conv), Flows: parts.Conv.Agent != nil, OwnTools: parts.Tools != nil, Deaf: parts.Recognizer == nil,
		Stopped: cmp.Or(max(parts.Onset.MinSilence, 0), 200*time.Millisecond), // the uplink's default
		Plays:   b.call != nil, Restored: parts.Restore != nil,
	})
	if c.hold == nil {
		c.hold = func(ctx context.Context, s *session.Session) error { return s.Run(ctx) }
	}
	c.leg = newLeg(c.writeSpeech)
	if b.call != nil {
		c.leg, c.call = &callLine{Call: b.call, c: c}, b.call
	}
	c.ear = newEar(parts.Recognizer, parts.Conv.Language)
	p := parts
	p.ID, p.Leg, p.Heard, p.Idle = c.id, c.leg, c.noteHeard, true
	p.Conv = projection.MachineOptions(parts.Conv)
	p.Turn, p.Onset = turnOptions(b.session, &parts)
	if p.Echo == (audio.EchoOptions{}) {
		p.Echo.Off = true // see Parts.Session
	}
	p.Model, p.Synthesizer = &mind{c}, &voice{c, parts.Synthesizer}
	s, err := session.New(p)
	if err != nil {
		return nil, fmt.Errorf("realtime: %w", err)
	}
	c.s = s
	return c, nil
}

// greets reports whether the agent speaks first.
func greets(o *conv.Options) bool {
	if o.Greeting != "" || o.Agent == nil {
		return o.Greeting != ""
	}
	settings := o.Agent.Settings()
	return settings.Greeting != "" || settings.Start != ""
}

var _ port.Model = (*mind)(nil)

// run runs the conversation until it or ctx ends. All of its goroutines have ended when
// run returns, except for those of a connection that still has to be closed.
func (c *conn) run(ctx context.Context) {
	defer close(c.ended)
	outer := ctx
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	defer c.s.OnStep(func(st session.Step) {
		// The loop waits for this function, so events must be posted through its
		// handle: posting through the session would wait for the loop.
		c.noteSaid(st.State)
		c.stepBy(ctx, projection.Stepped{Event: st.Event, Output: st.Output, State: st.State}, st.Loop.Post)
	})()
	var workers sync.WaitGroup
	workers.Go(func() { c.clock(ctx, cancel) })
	if c.call != nil {
		workers.Go(func() { c.carryCall(outer) }) // ends with the call, after the last events were sent
	}
	c.finished(c.hold(ctx, c.s), ctx.Err() != nil)
	cancel()
	workers.Wait()
}

// finished tells the client why the session has ended. cut reports that it was
// cancelled.
func (c *conn) finished(err error, cut bool) {
	c.locked(func() { c.done = true })
	switch {
	case err == nil || cut:
		c.conclude(closeNormal, "the conversation is over")
	case errors.Is(err, port.ErrFenced):
		c.conclude(closeRestart, "the conversation goes on elsewhere")
	case errors.Is(err, context.Canceled): // Hold was cancelled
		c.conclude(closeRestart, "the server restarts")
	case errors.Is(err, ErrBusy):
		c.tell(wire.ErrorEvent{Error: *errFull})
		c.conclude(closeBusy, "there are too many conversations")
	default:
		c.tell(wire.ErrorEvent{Error: wire.Error{Type: wire.ServerError, Code: "session_failed", Message: "The conversation could not go on."}})
		c.conclude(closeError, "the conversation could not go on")
	}
}

// clock waits for the deadlines of the conversation: its maximum duration, the wait for
// a disconnected client, and the deadline of the projection. It pings the client and
// starts the functions received from work. cut cancels the conversation.
func (c *conn) clock(ctx context.Context, cut func()) {
	ping := time.NewTicker(c.o.PingEvery)
	defer ping.Stop()
	timer := time.NewTimer(time.Hour)
	defer timer.Stop()
	var jobs sync.WaitGroup
	defer jobs.Wait()
	for {
		timer.Reset(time.Until(c.nextMoment()))
		select {
		case <-ctx.Done():
			return
		case <-c.wakec:
		case job := <-c.work:
			jobs.Go(func() { job(ctx) })
		case <-timer.C:
			c.step(ctx, projection.TimePassed{})
			c.moment(time.Now(), cut)
		case <-ping.C:
			jobs.Go(func() { c.ping(ctx) }) // may block
		}
	}
}

// nextMoment returns the earliest deadline.
func (c *conn) nextMoment() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	next := c.expireAt
	for _, at := range []time.Time{c.idleAt, c.leaveAt, c.cutAt} {
		if !at.IsZero() && at.Before(next) {
			next = at
		}
	}
	return next
}

// moment handles the deadlines that have passed.
func (c *conn) moment(now time.Time, cut func()) {
	passed := func(at time.Time) bool { return !at.IsZero() && !now.Before(at) }
	cuts, leave, expire := false, false, false
	c.locked(func() {
		if passed(c.cutAt) {
			c.cutAt, cuts = now.Add(time.Hour), true // do not cut again
		}
		if passed(c.leaveAt) {
			c.leaveAt, leave = time.Time{}, true
		}
		if passed(c.expireAt) {
			c.expireAt, expire = now.Add(time.Hour), true
		}
	})
	if cuts {
		cut()
	}
	if leave {
		c.leave()
	}
	if expire {
		c.expire()
	}
}

// ping closes the connection if the client does not answer. A client that has sent
// something since the last ping is not asked: its answer would wait behind the events
// it sends.
func (c *conn) ping(ctx context.Context) {
	c.mu.Lock()
	l := c.link
	c.mu.Unlock()
	if l == nil || l.alive.Swap(false) {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, c.o.WriteTimeout)
	defer cancel()
	if l.t.Ping(ctx) != nil && !l.alive.Load() {
		l.t.Close(closeAway, "the client is gone")
	}
}

// expire ends a conversation that has reached its maximum duration.
func (c *conn) expire() {
	minutes := int(c.o.Lifetime.Minutes())
	c.tell(wire.ErrorEvent{Error: *wire.Invalid(
		wire.CodeSessionExpired, "", "Your session hit the maximum duration of %d minutes.", minutes)})
	c.conclude(closeAway, "session_expired")
}

// locked runs f while holding mu.
func (c *conn) locked(f func()) {
	c.mu.Lock()
	defer c.mu.Unlock()
	f()
}

// step projects an input, queues the resulting events and performs the effects. ctx
// bounds the wait for a full queue.
func (c *conn) step(ctx context.Context, in projection.Input) *projection.Question {
	return c.stepBy(ctx, in, func(facts ...conv.Event) {
		_ = c.s.Post(facts...) // ErrEnded: the conversation is over
	})
}

// stepBy is like step, but posts the resulting machine events with post.
func (c *conn) stepBy(ctx context.Context, in projection.Input, post func(...conv.Event)) *projection.Question {
	c.mu.Lock()
	out := c.project(in)
	ready := c.p.Running() && !c.listens
	c.listens = c.listens || ready
	c.mu.Unlock()
	c.perform(ctx, out.Effects, post)
	if ready {
		close(c.ready) // the configuration was posted before
	}
	return out.Question
}

// project steps the projection and queues its events. The caller must hold mu, which
// keeps the events in order.
func (c *conn) project(in projection.Input) projection.Output {
	out := c.p.Step(projection.Instant{Now: time.Now(), Heard: c.leg.heard()}, in)
	for _, e := range out.Events {
		switch e := e.(type) {
		case projection.Sound:
			if b := c.encode(&e); len(b) > 0 {
				c.send(wire.AudioDelta{Place: e.Place, Delta: b})
			}
			continue
		case wire.ResponseEvent:
			if e.Name == "done" {
				delete(c.encoders, e.Response.ID)
			}
		}
		c.send(e)
	}
	switch measuring := c.p.Measuring(); {
	case measuring && c.measure == nil:
		c.measure = make(chan struct{})
	case !measuring && c.measure != nil:
		close(c.measure)
		c.measure = nil
	}
	if at := c.p.Deadline(); !at.Equal(c.idleAt) {
		c.idleAt = at
		signal(c.wakec)
	}
	return out
}

// encode encodes the samples of a response. The result is valid until the next call.
func (c *conn) encode(s *projection.Sound) []byte {
	enc := c.encoders[s.ResponseID]
	if enc == nil {
		var err error
		if enc, err = newEncoder(s.Format); err != nil {
			panic("realtime: " + err.Error()) // cannot happen: all formats are supported
		}
		c.encoders[s.ResponseID] = enc
	}
	if s.Rest {
		return enc.rest()
	}
	return enc.encode(s.PCM)
}

// tell sends an event that does not come from the projection.
func (c *conn) tell(e wire.Event) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.send(e)
}

// send queues an event for the client, if it is connected. The caller must hold mu.
func (c *conn) send(e wire.Event) {
	if c.link == nil {
		return
	}
	marshal := wire.Marshal
	if c.link.beta {
		marshal = wire.MarshalBeta
	}
	b, err := marshal(c.ids.next(), e)
	if err != nil {
		panic(fmt.Sprintf("realtime: marshal an event: %v", err))
	}
	if b == nil {
		return // the beta dialect does not have this event
	}
	out := c.link.out
	c.s.WhenKept(func() { out.put(b) })
}

// noteHeard passes on the uplink's events at the frame in which they occur.
func (c *conn) noteHeard(ev conv.Event) {
	switch e := ev.(type) {
	case conv.SpeechStarted:
		c.step(context.Background(), projection.VoiceNoted{Utterance: e.Utterance}) // has no effects
	case conv.TurnEnded:
		c.step(context.Background(), projection.VoiceNoted{Utterance: e.Utterance, Ended: true})
	default:
	}
}

// writeSpeech passes the agent's speech to the projection.
func (c *conn) writeSpeech(turn int, pcm []int16) {
	c.step(context.Background(), projection.Spoken{Turn: turn, PCM: pcm}) // has no effects
}
