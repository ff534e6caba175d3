package webrtc

import (
	"context"
	"errors"
	"fmt"
	"io"
	"sync"

	pion "github.com/pion/webrtc/v4"
)

// This file: text messages, over the data channel that the client opens.

const (
	maxWaiting = 256       // messages that wait, each way
	maxBytes   = 1 << 20   // of those that wait to be sent
	highWater  = 256 << 10 // bytes that the connection holds before it is given more
)

// ErrBacklog says that the client does not take its messages.
var ErrBacklog = errors.New("webrtc: too many messages wait for the client")

// outbox holds messages for the client.
type outbox struct {
	ready chan struct{} // holds a token when there may be something to do

	fresh chan struct{} // holds a token when another connection has taken over

	mu      sync.Mutex // guards all below
	queue   []string
	bytes   int
	guarded bool // somebody waits for Fresh
	shut    bool // what is pushed is dropped
}

func newOutbox() *outbox {
	return &outbox{ready: make(chan struct{}, 1), fresh: make(chan struct{}, 1)}
}

// renew has the writer look again: there is another channel, or it has room.
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

// replaced drops what was for the client of another connection, if somebody tells
// the new one what there is.
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

// Fresh waits until a new connection has taken the place of the one before, whose
// client knows nothing of what was sent. What was sent and has not arrived is
// dropped then, and so is what is sent until [Leg.Reopen] is called. It is called
// by one goroutine; without it messages wait for whichever connection there is.
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

// Reopen lets messages be sent again, behind [Leg.Fresh].
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

// Send queues a text message for the client. It does not wait: it fails with
// [ErrBacklog] when the client does not keep up, and with [ErrClosed] behind the
// leg's end. Messages wait for the client to open its channel. What a connection
// had taken when it was lost is lost.
func (l *Leg) Send(text string) error {
	if l.ended() {
		return ErrClosed
	}
	if len(text) > maxMessage {
		return fmt.Errorf("webrtc: send a message of %d bytes, expected at most %d", len(text), maxMessage)
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
				break // the channel says when there is one, and when it has room
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

// channel is the open one of the connection in use, or nil.
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

// Receive returns the client's next text message. It waits for one; io.EOF says
// that the leg has ended. While nobody receives, the client is held back.
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

// OnMessage has f called with each message of the client, in order, on a
// goroutine of the leg, in place of [Leg.Receive]. f may take its time: the client
// is held back meanwhile. ctx ends it, and is f's.
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

// open takes the first channel that the client opens. Others it closes.
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
			return // nobody has agreed on what it would mean
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
