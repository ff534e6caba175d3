package realtime

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"time"

	wire "github.com/hocketvoice/hocket/internal/wire/realtime"
	"github.com/hocketvoice/hocket/leg/realtime/projection"
	"github.com/hocketvoice/hocket/port"
)

// This file: the connections of a conversation's client, one after the other.

// transport carries the events of one connection.
type transport interface {
	// Read returns the next event of the client's. It ends with ctx or with the
	// connection; errDone says that the client has ended it on purpose.
	Read(ctx context.Context) ([]byte, error)
	// Write sends one event.
	Write(ctx context.Context, b []byte) error
	// Ping finds out whether the client is there.
	Ping(ctx context.Context) error
	// Close says why, and ends the connection.
	Close(code int, reason string)
}

// errDone is the end of a connection whose client wants nothing any more.
var errDone = errors.New("the client is done")

// The codes with which a connection is closed.
const (
	closeNormal  = 1000
	closeAway    = 1001 // come back
	closePolicy  = 1008
	closeError   = 1011
	closeRestart = 1012 // come back
	closeBusy    = 1013 // come back later
	closeKey     = 3000 // the key is no good
	closeRefused = 4000 // the request is no good
	closeTaken   = 4409 // another connection has the conversation
	closeSilent  = 0    // whoever ends the connection says why
)

// link is one connection of a client: the events on their way to it, and what is
// known of those that come. A conversation has one at a time, or none while its
// client is away.
type link struct {
	t       transport
	beta    bool
	out     *outbox
	decoder decoder     // of the reader
	alive   atomic.Bool // something has come since it was looked at last
	heard   bool        // something has come at all: the answer with the client's token has arrived; of the reader
}

func newLink(t transport, beta bool) *link { return &link{t: t, beta: beta, out: newOutbox()} }

// attach gives the conversation to a connection, and ends the one that had it. A
// client that comes back is told what there is. false: the conversation is over.
func (c *conn) attach(l *link) bool {
	c.awaitMeasure()
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.over {
		return false
	}
	if c.link != nil {
		c.link.out.close(closeTaken, "another connection has the conversation")
	}
	c.link, c.leaveAt = l, time.Time{}
	c.project(projection.Connected{}) // it has no effects
	c.leg.is(port.LineUp)
	return true
}

// measureTime bounds how long a client that has come back waits for the measure of what
// it has heard of an answer that was cut off.
const measureTime = time.Second

// awaitMeasure waits for it. The items that the client is told are those of the machine
// then.
func (c *conn) awaitMeasure() {
	c.mu.Lock()
	measure := c.measure
	c.mu.Unlock()
	if measure == nil {
		return
	}
	limit := time.NewTimer(measureTime)
	defer limit.Stop()
	select {
	case <-measure:
	case <-c.ended:
	case <-limit.C:
	}
}

// carry serves a connection until it has ended, and says how.
func (c *conn) carry(ctx context.Context, l *link) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	var writer sync.WaitGroup
	writer.Go(func() {
		defer cancel()
		c.write(ctx, l)
	})
	err := c.read(ctx, l)
	l.out.close(closeSilent, "")
	cancel()
	writer.Wait()
	return err
}

// detach takes a connection away that has ended. The conversation waits for its
// client where it may come back, and else ends, which is waited for.
func (c *conn) detach(l *link, how error) {
	stays := false
	c.locked(func() {
		if c.link != l {
			stays = !c.over // another has taken its place
			return
		}
		c.link = nil
		c.project(projection.Disconnected{}) // it has no effects
		stays = !c.over && c.known && c.o.Linger > 0 && !errors.Is(how, errDone)
		if stays {
			c.leaveAt = time.Now().Add(c.o.Linger)
			c.leg.is(port.LineLost)
		}
	})
	signal(c.wakec)
	if stays {
		return
	}
	c.leave()
	<-c.ended
}

// endPatience bounds how long a conversation takes to end when its client has
// gone; then it is cut off.
const endPatience = 3 * time.Second

// leave has the conversation learn that its client has gone for good.
func (c *conn) leave() {
	c.leg.end()
	c.locked(func() {
		c.over = true
		if c.cutAt.IsZero() {
			c.cutAt = time.Now().Add(endPatience)
		}
	})
	signal(c.wakec)
}

// conclude ends the conversation: its client, if it is there, is told why, behind all
// that it is told.
func (c *conn) conclude(code int, reason string) {
	alone := false
	c.locked(func() {
		alone, c.over = c.link == nil, true
		if alone {
			return
		}
		out := c.link.out
		finish := func() { out.close(code, reason) } // detach does the rest
		if c.done {
			finish() // what was not told is not told any more
		} else {
			c.s.WhenKept(finish)
		}
	})
	if alone {
		c.leave()
	}
}

// read takes the client's events until there are no more. A client that does not
// read the answers to them is not listened to meanwhile.
func (c *conn) read(ctx context.Context, l *link) error {
	for p := (pace{}); ; {
		b, err := l.t.Read(ctx)
		if err != nil {
			return err
		}
		l.alive.Store(true)
		if !l.heard {
			l.heard = true
			c.noteArrived(ctx, l)
		}
		c.take(ctx, l, b)
		l.out.drain(ctx)
		if err := p.wait(ctx, eventTime, eventBurst); err != nil {
			return err
		}
		if p.tooFast(eventPatience) {
			c.tell(wire.ErrorEvent{Error: *wire.Invalid(wire.CodeRateLimit, "", "There are too many events: expected at most a thousand a second.")})
			l.out.close(closePolicy, "too many events")
			<-ctx.Done() // the writer says so, and ends the connection
			return ctx.Err()
		}
	}
}

// noteArrived tells that the client has said something over the connection that it came
// back by: it has the token that the connection's answer gave it.
func (c *conn) noteArrived(ctx context.Context, l *link) {
	current := false
	c.locked(func() { current = c.link == l })
	if current {
		c.heard(ctx)
	}
}

// write sends what is to be sent. It ends with the connection.
func (c *conn) write(ctx context.Context, l *link) {
	for {
		b, ok := l.out.next(ctx)
		if !ok {
			break
		}
		ctx, cancel := context.WithTimeout(ctx, c.o.WriteTimeout)
		err := l.t.Write(ctx, b)
		cancel()
		if err != nil {
			l.t.Close(closePolicy, "the client does not read")
			return
		}
	}
	if code, reason := l.out.why(); code != closeSilent {
		l.t.Close(code, reason)
	}
}

// outbox are the events on their way to the client.
type outbox struct {
	ready chan struct{} // holds a token when there may be something
	light chan struct{} // holds a token when there may be less than half of what there may be

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

func newOutbox() *outbox {
	return &outbox{ready: make(chan struct{}, 1), light: make(chan struct{}, 1)}
}

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
		signal(o.light)
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
			o.queue[0] = nil
			o.queue = o.queue[1:]
			if o.size -= len(b); o.size <= maxOutbox/2 {
				signal(o.light)
			}
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

// drain waits while the queue is more than half full, or until ctx ends.
func (o *outbox) drain(ctx context.Context) {
	for {
		o.mu.Lock()
		light := o.closed || o.size <= maxOutbox/2
		o.mu.Unlock()
		if light {
			return
		}
		select {
		case <-o.light:
		case <-ctx.Done():
			return
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
	signal(o.light)
	signal(o.ready)
}

// why is the reason that is told. Who ends the context of a connection ends the
// connection, or has another use for it.
func (o *outbox) why() (code int, reason string) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if !o.closed {
		return closeSilent, ""
	}
	return o.code, o.reason
}
