package webrtc

import (
	"context"
	"errors"
	"fmt"
	"io"
	"sync"

	pion "github.com/pion/webrtc/v4"
)

// This file implements text messages over the data channel that the client opens.

const (
	maxWaiting = 256       // waiting messages in each direction
	maxBytes   = 1 << 20   // of the messages waiting to be sent
	highWater  = 256 << 10 // bytes buffered by the connection before it is given more
)

// ErrBacklog reports that the client does not receive its messages fast enough.
var ErrBacklog = errors.New("webrtc: too many messages are waiting for the client")

// outbox contains messages for the client.
type outbox struct {
	ready chan struct{} // contains a token when there may be something to send

	fresh chan struct{} // contains a token when a new connection has replaced the last one

	mu      sync.Mutex // guards the fields below
	queue   []string
	bytes   int
	guarded bool // Fresh is in use
	shut    bool // new messages are dropped
}

func newOutbox() *outbox {
	return &outbox{ready: make(chan struct{}, 1), fresh: make(chan struct{}, 1)}
}

// renew makes the writer check again: there is a new channel, or the channel has
// room.
func (b *outbox) renew() {
	select {
	case b.ready <- struct{}{}:
	default:
	}
}

func (b *outbox) push(text string) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.shut {
		return nil
	}
	if len(b.queue) >= maxWaiting || b.bytes+len(text) > maxBytes {
		return ErrBacklog
	}
	b.queue = append(b.queue, text)
	b.bytes += len(text)
	b.renew()
	return nil
}

// replaced drops messages for the client of the earlier connection if Fresh is in
// use.
func (b *outbox) replaced() {
	b.mu.Lock()
	defer b.mu.Unlock()
	if !b.guarded {
		return
	}
	b.queue, b.bytes, b.shut = nil, 0, true
	select {
	case b.fresh <- struct{}{}:
	default:
	}
}

// Fresh waits until a new connection has replaced the last one. The new client does
// not know the earlier messages: those not yet delivered are dropped, and so are
// new ones until [Leg.Reopen] is called. Fresh must be called by one goroutine. If
// it is never called, messages wait for any connection.
func (l *Leg) Fresh(ctx context.Context) error {
	l.box.mu.Lock()
	l.box.guarded = true
	l.box.mu.Unlock()
	select {
	case <-l.box.fresh:
		return nil
	case <-l.state.Ended():
		return io.EOF
	case <-ctx.Done():
		return ctx.Err()
	}
}

// Reopen allows messages to be sent again after [Leg.Fresh].
func (l *Leg) Reopen() {
	l.box.mu.Lock()
	l.box.shut = false
	l.box.mu.Unlock()
}

func (b *outbox) pop() (string, bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if len(b.queue) == 0 {
		return "", false
	}
	text := b.queue[0]
	b.queue[0] = ""
	b.queue = b.queue[1:]
	b.bytes -= len(text)
	return text, true
}

// Send queues a text message for the client without blocking. It returns
// [ErrBacklog] if the client does not keep up, and [ErrClosed] after the end of the
// leg. Messages wait until the client opens its channel. Messages that a lost
// connection had accepted are lost.
func (l *Leg) Send(text string) error {
	if l.ended() {
		return ErrClosed
	}
	if len(text) > maxMessage {
		return fmt.Errorf("webrtc: message has %d bytes: expected at most %d", len(text), maxMessage)
	}
	return l.box.push(text)
}

// deliver sends the messages until the leg ends.
func (l *Leg) deliver() {
	for {
		select {
		case <-l.box.ready:
		case <-l.state.Ended():
			return
		}
		for {
			channel := l.channel()
			if channel == nil || channel.BufferedAmount() > highWater {
				break // the channel signals when it is open or has room
			}
			text, ok := l.box.pop()
			if !ok {
				break
			}
			if err := channel.SendText(text); err != nil {
				l.s.o.Logger.Info("webrtc: send a message", "error", err)
			}
		}
	}
}

// channel returns the open channel of the connection in use, or nil.
func (l *Leg) channel() *pion.DataChannel {
	l.mu.Lock()
	p := l.current
	l.mu.Unlock()
	if p == nil {
		return nil
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.channel
}

// Receive waits for the client's next text message and returns it. It returns
// io.EOF when the leg has ended. If Receive is not called, the client is slowed
// down.
func (l *Leg) Receive(ctx context.Context) (string, error) {
	select {
	case text := <-l.inbox:
		return text, nil
	default:
	}
	select {
	case text := <-l.inbox:
		return text, nil
	case <-l.state.Ended():
		return "", io.EOF
	case <-ctx.Done():
		return "", ctx.Err()
	}
}

// OnMessage calls f for each message of the client, in order, on a goroutine of the
// leg, as an alternative to [Leg.Receive]. While f runs, the client is slowed down.
// ctx is passed to f; its end stops the calls.
func (l *Leg) OnMessage(ctx context.Context, f func(context.Context, string)) {
	l.workers.Go(func() {
		for {
			text, err := l.Receive(ctx)
			if err != nil {
				return
			}
			f(ctx, text)
		}
	})
}

// open accepts the first channel that the client opens and closes others.
func (p *peer) open(c *pion.DataChannel) {
	p.mu.Lock()
	taken := p.claimed || p.closed
	p.claimed = true
	p.mu.Unlock()
	if taken {
		if err := c.Close(); err != nil {
			p.l.s.o.Logger.Info("webrtc: close a channel", "error", err)
		}
		return
	}
	c.SetBufferedAmountLowThreshold(highWater / 2)
	c.OnBufferedAmountLow(p.l.box.renew)
	c.OnOpen(func() {
		p.mu.Lock()
		p.channel = c
		p.mu.Unlock()
		p.l.box.renew()
	})
	c.OnMessage(func(m pion.DataChannelMessage) {
		if !m.IsString {
			return // binary messages have no defined meaning
		}
		select {
		case p.l.inbox <- string(m.Data):
		case <-p.closec:
		}
	})
	c.OnClose(func() {
		p.mu.Lock()
		p.channel, p.claimed = nil, false // the client may open another
		p.mu.Unlock()
	})
}
