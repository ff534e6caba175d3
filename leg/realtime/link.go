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

// This file implements the connections of a client, of which a conversation has one at
// a time.

// transport carries the events of one connection.
type transport interface {
	// Read returns the client's next event. It returns errDone if the client has closed
	// the connection on purpose, and another error if ctx or the connection has ended.
	Read(ctx context.Context) ([]byte, error)
	// Write sends one event.
	Write(ctx context.Context, b []byte) error
	// Ping returns an error if the client does not answer.
	Ping(ctx context.Context) error
	// Close closes the connection with a code and a reason.
	Close(code int, reason string)
}

// errDone reports that the client has closed the connection on purpose and will not
// return.
var errDone = errors.New("the client is done")

// The codes with which connections are closed.
const (
	closeNormal  = 1000
	closeAway    = 1001 // the client may return
	closePolicy  = 1008
	closeError   = 1011
	closeRestart = 1012 // the client may return
	closeBusy    = 1013 // the client may return later
	closeKey     = 3000 // the key is invalid
	closeRefused = 4000 // the request is invalid
	closeTaken   = 4409 // another connection has taken over the conversation
	closeSilent  = 0    // do not close: somebody else does
)

// link is one connection of a client. A conversation has one at a time, or none while
// its client is disconnected.
type link struct {
	t       transport
	beta    bool
	out     *outbox
	decoder decoder     // used by the reader
	alive   atomic.Bool // something was received since the last ping
	heard   bool        // something was received, so the client has its token; used by the reader
}

func newLink(t transport, beta bool) *link { return &link{t: t, beta: beta, out: newOutbox()} }

// attach makes l the client's connection and closes the previous one. It sends a
// returning client the current state. It returns false if the conversation is over.
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
	c.project(projection.Connected{}) // has no effects
	c.leg.setLine(port.LineUp)
	return true
}

// measureTime limits how long a returning client waits until it is known how much it
// has heard of an interrupted response.
const measureTime = time.Second

// awaitMeasure waits until it is known how much of the last response was heard, so that
// the items sent to the client are those of the machine.
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

// carry serves a connection until it ends, and returns the reason.
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

// detach removes a connection that has ended. If the client may return, the
// conversation waits for it; otherwise detach ends the conversation and waits for its
// end.
func (c *conn) detach(l *link, how error) {
	stays := false
	c.locked(func() {
		if c.link != l {
			stays = !c.over // another connection has replaced it
			return
		}
		c.link = nil
		c.project(projection.Disconnected{}) // has no effects
		stays = !c.over && c.known && c.o.Linger > 0 && !errors.Is(how, errDone)
		if stays {
			c.leaveAt = time.Now().Add(c.o.Linger)
			c.leg.setLine(port.LineLost)
		}
	})
	signal(c.wakec)
	if stays {
		return
	}
	c.leave()
	<-c.ended
}

// endPatience limits how long a conversation may take to end after its client has left.
// Then it is cancelled.
const endPatience = 3 * time.Second

// leave ends the leg, because the client has left for good.
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

// conclude ends the conversation. A connected client is told the reason, after all
// events queued for it.
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
			finish() // events that are not yet sent are dropped
		} else {
			c.s.WhenKept(finish)
		}
	})
	if alone {
		c.leave()
	}
}

// read handles the client's events until the connection ends. It does not read while
// too many events wait to be sent to the client.
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
			<-ctx.Done() // the writer closes the connection
			return ctx.Err()
		}
	}
}

// noteArrived records that the client has sent something over this connection, and
// therefore has received the token in the handshake's answer.
func (c *conn) noteArrived(ctx context.Context, l *link) {
	current := false
	c.locked(func() { current = c.link == l })
	if current {
		c.heard(ctx)
	}
}

// write sends the queued events and closes the connection after the last.
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

// outbox is the queue of events for the client.
type outbox struct {
	ready chan struct{} // contains a token when there may be an event
	light chan struct{} // contains a token when the queue may be less than half full

	mu     sync.Mutex // guards the fields below
	queue  [][]byte
	size   int
	closed bool
	code   int
	reason string
}

// maxOutbox limits the bytes queued for a client that does not read, about two minutes
// of sound. The connection is closed when it is exceeded.
const maxOutbox = 8 << 20

func newOutbox() *outbox {
	return &outbox{ready: make(chan struct{}, 1), light: make(chan struct{}, 1)}
}

// put adds an event. If there is no room, it closes the queue, and the connection is
// closed.
func (o *outbox) put(b []byte) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.closed {
		return // the connection has ended
	}
	if o.size += len(b); o.size > maxOutbox {
		o.closed, o.queue, o.code, o.reason = true, nil, closePolicy, "the client does not read"
		signal(o.light)
	} else {
		o.queue = append(o.queue, b)
	}
	signal(o.ready)
}

// next waits for an event. It returns false if the queue is closed and empty, or ctx
// ends.
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

// close closes the queue after the events in it. The first code and reason count.
func (o *outbox) close(code int, reason string) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if !o.closed {
		o.closed, o.code, o.reason = true, code, reason
	}
	signal(o.light)
	signal(o.ready)
}

// why returns the code and reason given to close. It returns closeSilent if the queue
// is not closed: then the context has ended, and its owner closes the connection or
// continues to use it.
func (o *outbox) why() (code int, reason string) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if !o.closed {
		return closeSilent, ""
	}
	return o.code, o.reason
}
