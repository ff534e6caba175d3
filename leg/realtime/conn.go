package realtime

import (
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/hocketvoice/hocket/conv"
	wire "github.com/hocketvoice/hocket/internal/wire/realtime"
	"github.com/hocketvoice/hocket/leg/realtime/projection"
	"github.com/hocketvoice/hocket/port"
	"github.com/hocketvoice/hocket/session"
)

// conn is one conversation: the loop around its [projection.Projection]. It owns the
// machine's session, the connection of the client, which may be gone for a while and come
// back by another one ([link]), and all that waits. Its methods are called by the reader
// of the connection, the loop of the session (observe), the pacer (speech), the ear, the
// clock and the answers beside the conversation; mu guards what they share.
//
// Under mu an input is projected and its events are queued. What follows from it is
// carried out without mu, by who brought the input.
type conn struct {
	o       *Options
	id      string // of the conversation
	owner   string
	ids     *eventIDs
	leg     sound
	call    Call // the sound, if it goes beside the events; nil: they carry it
	callID  string
	ear     *ear
	parts   session.Options // as they were opened
	openErr error           // ErrUnknownModel
	s       *session.Session
	hold    func(ctx context.Context, s *session.Session) error
	issued  func(ctx context.Context, digest, before []byte) error // nil: nobody wants to know
	issuing sync.Mutex                                             // orders the calls of issued
	resume  digest                                                 // of the token that its client got last; guarded by the server's mu
	before  digest                                                 // of the one that stays good until it is known to have that; guarded by the server's mu
	heard   func(context.Context)                                  // the client has the token that it got last
	gone    bool                                                   // it has ended; guarded by the server's mu
	wakec   chan struct{}                                          // holds a token when the clock is to look again
	work    chan func(context.Context)                             // jobs on their way to the clock: answers beside the conversation, the ear
	ready   chan struct{}                                          // closed when the machine listens for the first time
	ended   chan struct{}                                          // closed when nothing of the conversation runs any more

	mu sync.Mutex // guards all below

	p        *projection.Projection
	encoders map[string]*encoder // by response
	measure  chan struct{}       // closed when it is known what was heard of the last response; nil: it is
	listens  bool                // ready is closed, or about to be
	idleAt   time.Time           // the projection's deadline, as the clock knows it

	link     *link     // the client's connection; nil: it is away
	known    bool      // the client has said something that was understood
	over     bool      // nobody comes back any more
	done     bool      // the session has ended
	leaveAt  time.Time // when the client has been away for too long; zero: it is there
	cutAt    time.Time // when a conversation without a client has to be over; zero: not yet
	expireAt time.Time // when it has lasted long enough
}

// sound is that of a conversation.
type sound interface {
	port.Leg
	// heard is how much of the person's sound has been heard, in milliseconds.
	heard() int
	// push adds the client's sound, or a moment in it. It waits for room.
	push(ctx context.Context, c chunk) error
	// drop forgets what has not been heard.
	drop()
	// is tells what has become of the client's connection.
	is(line port.Line)
	// end is the client's going.
	end()
}

// begin is what a conversation begins with.
type begin struct {
	owner   string
	session wire.Session
	named   bool // the client has named the model
	parts   Parts
	openErr error // ErrUnknownModel
	call    Call  // the sound; nil where the events carry it
}

// newConn makes a conversation's state and its session.
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
	p.Model, p.Synthesizer = &mind{c}, &voice{c, parts.Synthesizer}
	s, err := session.New(p)
	if err != nil {
		return nil, fmt.Errorf("realtime: %w", err)
	}
	c.s = s
	return c, nil
}

// greets reports whether an agent has something to say first.
func greets(o *conv.Options) bool {
	if o.Greeting != "" || o.Agent == nil {
		return o.Greeting != ""
	}
	settings := o.Agent.Settings()
	return settings.Greeting != "" || settings.Start != ""
}

var _ port.Model = (*mind)(nil)

// run holds the conversation until it has ended or ctx has. Nothing of it runs
// when it returns, but a connection that learns of it.
func (c *conn) run(ctx context.Context) {
	defer close(c.ended)
	outer := ctx
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	defer c.s.OnStep(func(st session.Step) {
		// The loop waits for this: facts for it must not wait for the loop.
		c.stepBy(ctx, projection.Stepped{Event: st.Event, Output: st.Output, State: st.State}, st.Loop.Post)
	})()
	var workers sync.WaitGroup
	workers.Go(func() { c.clock(ctx, cancel) })
	if c.call != nil {
		workers.Go(func() { c.carryCall(outer) }) // it ends with the call, once all is told
	}
	c.held(c.hold(ctx, c.s), ctx.Err() != nil)
	cancel()
	workers.Wait()
}

// held tells the client that the conversation is over, and how.
func (c *conn) held(err error, cut bool) {
	c.locked(func() { c.done = true })
	switch {
	case err == nil || cut:
		c.conclude(closeNormal, "the conversation is over")
	case errors.Is(err, port.ErrFenced):
		c.conclude(closeRestart, "the conversation goes on elsewhere")
	case errors.Is(err, context.Canceled): // who holds it is going
		c.conclude(closeRestart, "the server restarts")
	case errors.Is(err, ErrBusy):
		c.tell(wire.ErrorEvent{Error: *errFull})
		c.conclude(closeBusy, "there are too many conversations")
	default:
		c.tell(wire.ErrorEvent{Error: wire.Error{Type: wire.ServerError, Code: "session_failed", Message: "The conversation could not go on."}})
		c.conclude(closeError, "the conversation could not go on")
	}
}

// clock ends the conversation when its time is over, or when its client has been
// away for too long; it finds out whether the client is there, and watches over
// silences. It starts the jobs beside the conversation. cut ends the conversation at
// once.
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
			jobs.Go(func() { c.ping(ctx) }) // it may take its time
		}
	}
}

// nextMoment is when the clock has something to do.
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

// moment does what is to be done by now.
func (c *conn) moment(now time.Time, cut func()) {
	passed := func(at time.Time) bool { return !at.IsZero() && !now.Before(at) }
	cuts, leave, expire := false, false, false
	c.locked(func() {
		if passed(c.cutAt) {
			c.cutAt, cuts = now.Add(time.Hour), true // it was said
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

// ping ends a connection whose client is silent and does not answer. One that sends
// is there, however long its answer takes behind what it has sent.
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

// expire ends a conversation that has lasted long enough.
func (c *conn) expire() {
	minutes := int(c.o.Lifetime.Minutes())
	c.tell(wire.ErrorEvent{Error: *wire.Invalid(
		wire.CodeSessionExpired, "", "Your session hit the maximum duration of %d minutes.", minutes)})
	c.conclude(closeAway, "session_expired")
}

// locked runs f under the lock.
func (c *conn) locked(f func()) {
	c.mu.Lock()
	defer c.mu.Unlock()
	f()
}

// step takes an input: the client is told, and what follows is carried out. ctx bounds
// the waiting for room.
func (c *conn) step(ctx context.Context, in projection.Input) *projection.Question {
	return c.stepBy(ctx, in, func(facts ...conv.Event) {
		_ = c.s.Post(facts...) // ErrEnded: the conversation is over
	})
}

// stepBy is step with another way for the facts that follow.
func (c *conn) stepBy(ctx context.Context, in projection.Input, post func(...conv.Event)) *projection.Question {
	c.mu.Lock()
	out := c.project(in)
	ready := c.p.Running() && !c.listens
	c.listens = c.listens || ready
	c.mu.Unlock()
	c.perform(ctx, out.Effects, post)
	if ready {
		close(c.ready) // the machine has its configuration
	}
	return out.Question
}

// project steps the projection and queues its events. The caller holds the lock, which
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

// encode turns a response's samples into bytes of its format, which are good until the
// next call.
func (c *conn) encode(s *projection.Sound) []byte {
	enc := c.encoders[s.ResponseID]
	if enc == nil {
		var err error
		if enc, err = newEncoder(s.Format); err != nil {
			panic("realtime: " + err.Error()) // the formats are three
		}
		c.encoders[s.ResponseID] = enc
	}
	if s.Rest {
		return enc.rest()
	}
	return enc.encode(s.PCM)
}

// tell sends an event that follows from nothing in the conversation.
func (c *conn) tell(e wire.Event) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.send(e)
}

// send queues an event for the client, if it is there. The caller holds the lock.
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
		panic(fmt.Sprintf("realtime: an event of ours does not marshal: %v", err))
	}
	if b == nil {
		return // the dialect has no such event
	}
	out := c.link.out
	c.s.WhenKept(func() { out.put(b) })
}

// noteHeard sees the facts of the uplink at the frame that shows them.
func (c *conn) noteHeard(ev conv.Event) {
	switch e := ev.(type) {
	case conv.SpeechStarted:
		c.step(context.Background(), projection.VoiceNoted{Utterance: e.Utterance}) // it has no effects
	case conv.TurnEnded:
		c.step(context.Background(), projection.VoiceNoted{Utterance: e.Utterance, Ended: true})
	default:
	}
}

// writeSpeech takes the agent's sound from the leg.
func (c *conn) writeSpeech(turn int, pcm []int16) {
	c.step(context.Background(), projection.Spoken{Turn: turn, PCM: pcm}) // it has no effects
}
