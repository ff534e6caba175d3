package realtime

import (
	"context"

	"github.com/hocketvoice/hocket/conv"
	wire "github.com/hocketvoice/hocket/internal/wire/realtime"
	"github.com/hocketvoice/hocket/leg/realtime/projection"
)

// This file handles the client's events and sound.

// take handles one event from the client. The reader calls it; it blocks while the
// queue of sound is full.
func (c *conn) take(ctx context.Context, l *link, b []byte) {
	if l.beta {
		b = wire.FromBeta(b)
	}
	e, bad := wire.Parse(b)
	if bad != nil {
		c.tell(wire.ErrorEvent{Error: *bad})
		return
	}
	c.locked(func() { c.known = true })
	if e.Type == wire.AudioAppend && c.call == nil {
		c.append(ctx, l, e.Audio)
		return
	}
	c.step(ctx, projection.Requested{Event: e})
}

// append takes sound from the client. It blocks while the queue is full.
func (c *conn) append(ctx context.Context, l *link, b []byte) {
	c.mu.Lock()
	format, detects, begins := c.p.Session().Input.Format, c.p.Detects(), !c.p.Started()
	c.mu.Unlock()
	pcm, err := l.decoder.decode(format, b)
	if err != nil {
		c.tell(wire.ErrorEvent{Error: *wire.Invalid(wire.CodeInvalidValue, "audio", "The audio cannot be read.")})
		return
	}
	c.step(ctx, projection.Appended{Samples: len(pcm)})
	if !detects {
		c.hear(ctx, earJob{pcm: pcm})
		_ = c.leg.push(ctx, chunk{skip: len(pcm)}) // fails only when ctx ends, which the reader notices
		return
	}
	if begins {
		select { // the client's configuration must be in effect before the first sound is heard
		case <-c.ready:
		case <-c.ended:
		case <-ctx.Done():
		}
	}
	_ = c.leg.push(ctx, chunk{pcm: pcm})
}

// perform carries out effects. post sends events to the machine. ctx bounds the wait
// for a full queue.
func (c *conn) perform(ctx context.Context, effects []projection.Effect, post func(...conv.Event)) {
	for _, e := range effects {
		switch e := e.(type) {
		case projection.Post:
			post(e.Events...)
		case projection.Configure:
			c.configure()
		case projection.ReachCommit:
			_ = c.leg.push(ctx, chunk{then: func() { c.step(ctx, projection.CommitReached{}) }})
		case projection.RecognizeBuffer:
			c.hear(ctx, earJob{item: e.Item})
		case projection.RecognizeSound:
			var d decoder
			if pcm, err := d.decode(e.Format, e.Sound); err != nil {
				c.step(ctx, projection.Transcribed{Item: e.Item, Failure: err.Error()})
			} else {
				c.hear(ctx, earJob{pcm: pcm, item: e.Item, alone: true})
			}
		case projection.DropBuffer:
			c.ear.clear()
		case projection.DropSound:
			c.leg.drop()
		case projection.DiscardInput:
			c.s.DiscardInput()
		case projection.AnswerBeside:
			c.work <- func(ctx context.Context) { c.answerBeside(ctx, e) } // never blocks: the number of responses is limited
		default:
			panic(e)
		}
	}
}

// configure sets the uplink's options from the session's configuration. It reads the
// configuration under the lock, so that the last caller sets the latest one.
func (c *conn) configure() {
	c.mu.Lock()
	defer c.mu.Unlock()
	t, onset := turnOptions(c.p.Session(), &c.parts)
	_ = c.s.Configure(t, onset) // the values were validated
}

// detects reports whether turn detection is on.
func (c *conn) detects() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.p.Detects()
}
