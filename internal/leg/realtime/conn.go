package realtime

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/hocketvoice/hocket/conv"
	wire "github.com/hocketvoice/hocket/internal/wire/realtime"
	"github.com/hocketvoice/hocket/port"
	"github.com/hocketvoice/hocket/session"
)

// transport carries the events of one connection.
type transport interface {
	// Read returns the next event of the client's. It ends with ctx or with the
	// connection.
	Read(ctx context.Context) ([]byte, error)
	// Write sends one event.
	Write(ctx context.Context, b []byte) error
	// Ping finds out whether the client is there.
	Ping(ctx context.Context) error
	// Close says why, and ends the connection.
	Close(code int, reason string)
}

// The codes with which a connection is closed.
const (
	closeNormal  = 1000
	closeAway    = 1001 // come back
	closePolicy  = 1008
	closeError   = 1011
	closeRestart = 1012 // come back
	closeKey     = 3000 // the key is no good
)

// conn is one connection: what the client sees of a conversation, and the way of
// its events to the machine and back. Its methods are called by the reader, the
// loop of the session (step), the pacer (speech), the ear, the clock and the
// answers beside the conversation; mu guards what they share.
//
// Nothing that may wait is done under mu: it is put into later and done by who
// unlocks.
type conn struct {
	o       *Options
	beta    bool
	t       transport
	out     *outbox
	ids     *eventIDs
	leg     line
	call    bool // the sound is the leg's own: no event carries any
	ear     *ear
	parts   session.Options // as they were opened
	openErr error           // ErrUnknownModel
	s       *session.Session
	wakec   chan struct{} // holds a token when the clock is to look again
	jobs    sync.WaitGroup
	decoder decoder // of the reader

	mu    sync.Mutex // guards all below
	later []func()

	session wire.Session
	id      string // of the conversation
	items   items
	limits  limits
	spoken  bool // the agent has been heard

	phase   conv.Phase
	running bool      // the machine listens, or has
	resp    *response // the one that is active
	last    *response // the one before, until another begins
	create  *create   // a response that is to begin
	beside  int       // responses beside the conversation

	speech      *speech   // the person's, not yet committed
	written     []*speech // committed, their words not all known
	starts      spots
	ends        spots
	uncommitted int       // samples of the leg's rate since the last commit
	idleAt      time.Time // when the silence behind a response is too long; zero: never
	idleFrom    int       // milliseconds of sound at its beginning
}

// line is the sound of a connection.
type line interface {
	port.Leg
	// heard is how much of the person's sound has been heard, in milliseconds.
	heard() int
	// push adds the client's sound, or a moment in it. It waits for room.
	push(ctx context.Context, c chunk) error
	// drop forgets what has not been heard.
	drop()
	// end is the client's going.
	end()
}

// newConn makes a connection's state and its session. call is its sound, nil where
// the events carry it.
func newConn(o *Options, t transport, call Call, beta bool, id string, start wire.Session, parts session.Options, openErr error) (*conn, error) {
	c := &conn{
		o: o, beta: beta, t: t, out: newOutbox(), ids: newEventIDs(), parts: parts, openErr: openErr,
		wakec: make(chan struct{}, 1), session: start, id: id,
		limits: limits{responses: o.Responses, tokens: o.Tokens, since: time.Now()},
	}
	c.leg = newLeg(c.writeSpeech)
	if call != nil {
		c.leg, c.call = &callLine{Call: call, c: c}, true
	}
	c.ear = newEar(parts.Recognizer, parts.Conv.Language)
	p := parts
	p.ID, p.Leg, p.Heard = id, c.leg, c.noteHeard
	p.Conv = machineOptions(parts.Conv)
	p.Turn, p.Onset = turnOptions(start, &parts)
	p.Model, p.Synthesizer = &mind{c}, &voice{c, parts.Synthesizer}
	s, err := session.New(p)
	if err != nil {
		return nil, fmt.Errorf("realtime: %w", err)
	}
	c.s = s
	return c, nil
}

var _ port.Model = (*mind)(nil)

// run serves the connection until the client goes, the conversation ends or ctx
// does. Nothing of it runs when it returns.
func (c *conn) run(ctx context.Context) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	defer c.s.OnStep(c.step)()
	c.locked(func() { c.send(wire.SessionEvent{Name: "created", Session: c.session}) })

	var workers sync.WaitGroup
	workers.Go(func() {
		defer cancel()
		c.write(ctx)
	})
	held, model := make(chan struct{}), c.session.Model
	workers.Go(func() {
		defer close(held)
		c.hold(ctx, model)
	})
	workers.Go(func() { c.listen(ctx) })
	workers.Go(func() { c.clock(ctx) })

	c.read(ctx)
	c.leg.end() // the conversation learns that the client has gone
	select {
	case <-held:
	case <-time.After(endPatience):
	}
	c.out.close(closeNormal, "")
	cancel()
	workers.Wait()
	c.jobs.Wait()
}

// endPatience bounds how long a conversation takes to end when the client has
// gone; then it is cut off.
const endPatience = 3 * time.Second

// hold runs the conversation; with it the connection ends.
func (c *conn) hold(ctx context.Context, model string) {
	err := c.o.Hold(ctx, c.id, model, c.s)
	if err == nil || ctx.Err() != nil {
		c.out.close(closeNormal, "the conversation is over")
		return
	}
	c.locked(func() {
		c.send(wire.ErrorEvent{Error: wire.Error{Type: wire.ServerError, Code: "session_failed", Message: "The conversation could not go on."}})
	})
	c.out.close(closeError, "the conversation could not go on")
}

// read takes the client's events until there are no more.
func (c *conn) read(ctx context.Context) {
	for {
		b, err := c.t.Read(ctx)
		if err != nil {
			return
		}
		c.take(ctx, b)
	}
}

// write sends what is to be sent. It ends with the connection.
func (c *conn) write(ctx context.Context) {
	for {
		b, ok := c.out.next(ctx)
		if !ok {
			break
		}
		ctx, cancel := context.WithTimeout(ctx, c.o.WriteTimeout)
		err := c.t.Write(ctx, b)
		cancel()
		if err != nil {
			c.t.Close(closePolicy, "the client does not read")
			return
		}
	}
	code, reason := c.out.why()
	c.t.Close(code, reason)
}

// pingEvery is how often the connection is tried.
const pingEvery = 30 * time.Second

// clock ends the connection when its time is over, finds out whether the client
// is there, and watches over silences.
func (c *conn) clock(ctx context.Context) {
	expiry := time.NewTimer(c.o.Lifetime)
	defer expiry.Stop()
	ping := time.NewTicker(pingEvery)
	defer ping.Stop()
	idle := time.NewTimer(time.Hour)
	defer idle.Stop()
	for {
		if at := c.idleDeadline(); at.IsZero() {
			idle.Stop()
		} else {
			idle.Reset(time.Until(at))
		}
		select {
		case <-ctx.Done():
			return
		case <-c.wakec:
		case <-idle.C:
			c.locked(c.idlePassed)
		case <-ping.C:
			ctx, cancel := context.WithTimeout(ctx, c.o.WriteTimeout)
			err := c.t.Ping(ctx)
			cancel()
			if err != nil {
				c.t.Close(closeAway, "the client is gone")
				return
			}
		case <-expiry.C:
			c.expire()
			return
		}
	}
}

// expire ends a connection that has lasted long enough.
func (c *conn) expire() {
	minutes := int(c.o.Lifetime.Minutes())
	c.locked(func() {
		c.send(wire.ErrorEvent{Error: *wire.Invalid(
			wire.CodeSessionExpired, "", "Your session hit the maximum duration of %d minutes.", minutes)})
	})
	c.out.close(closeAway, "session_expired")
}

// locked runs f under the lock, and then what f leaves to be done.
func (c *conn) locked(f func()) {
	c.mu.Lock()
	f()
	later := c.later
	c.later = nil
	c.mu.Unlock()
	for _, do := range later {
		do()
	}
}

// post hands facts to the machine when the lock is free again.
func (c *conn) post(events ...conv.Event) {
	c.later = append(c.later, func() { _ = c.s.Post(events...) }) // ErrEnded: the conversation is over
}

// send queues an event for the client. The caller holds the lock, which keeps the
// events in order.
func (c *conn) send(e wire.Event) {
	marshal := wire.Marshal
	if c.beta {
		marshal = wire.MarshalBeta
	}
	b, err := marshal(c.ids.next(), e)
	if err != nil {
		panic(fmt.Sprintf("realtime: an event of ours does not marshal: %v", err))
	}
	if b == nil {
		return // the dialect has no such event
	}
	c.out.put(b)
}

// refuse tells the client what is wrong with its event.
func (c *conn) refuse(err *wire.Error) { c.send(wire.ErrorEvent{Error: *err}) }

// step is the observer of the session.
func (c *conn) step(st session.Step) { c.locked(func() { c.observe(st) }) }

// writeSpeech takes the agent's sound from the leg.
func (c *conn) writeSpeech(turn int, pcm []int16) {
	c.locked(func() {
		if r := c.resp; r != nil && r.turn == turn && r.audio {
			c.speak(r, pcm)
		}
	})
}

// outbox are the events on their way to the client.
type outbox struct {
	ready chan struct{} // holds a token when there may be something

	mu     sync.Mutex // guards all below
	queue  [][]byte
	size   int
	closed bool
	code   int
	reason string
}

// maxOutbox bounds what waits for a client that does not read: two minutes of
// sound. Then the connection ends.
const maxOutbox = 8 << 20

func newOutbox() *outbox { return &outbox{ready: make(chan struct{}, 1)} }

// put adds an event. When there is no room the queue is closed, and the
// connection with it.
func (o *outbox) put(b []byte) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.closed {
		return // nobody reads it
	}
	if o.size += len(b); o.size > maxOutbox {
		o.closed, o.queue, o.code, o.reason = true, nil, closePolicy, "the client does not read"
	} else {
		o.queue = append(o.queue, b)
	}
	signal(o.ready)
}

// next waits for an event; false: there are no more.
func (o *outbox) next(ctx context.Context) ([]byte, bool) {
	for {
		o.mu.Lock()
		if len(o.queue) > 0 {
			b := o.queue[0]
			o.queue = o.queue[1:]
			o.size -= len(b)
			o.mu.Unlock()
			return b, true
		}
		closed := o.closed
		o.mu.Unlock()
		if closed {
			return nil, false
		}
		select {
		case <-o.ready:
		case <-ctx.Done():
			return nil, false
		}
	}
}

// close ends the queue behind what is in it, with the reason that is told first.
func (o *outbox) close(code int, reason string) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if !o.closed {
		o.closed, o.code, o.reason = true, code, reason
	}
	signal(o.ready)
}

func (o *outbox) why() (code int, reason string) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if !o.closed {
		return closeAway, ""
	}
	return o.code, o.reason
}

// asFailure is the class of an error of a service.
func asFailure(err error) *port.Failure {
	if f, ok := errors.AsType[*port.Failure](err); ok {
		return f
	}
	return &port.Failure{Code: conv.ClassUnknown, Message: err.Error()}
}
