package realtime

import (
	"context"

	"github.com/hocketvoice/hocket/conv"
	wire "github.com/hocketvoice/hocket/internal/wire/realtime"
	"github.com/hocketvoice/hocket/leg/realtime/projection"
)

// This file: the events of the client on their way to the projection, and its sound.

// take handles one event of the client's. It is called by the reader, which waits
// where there is no room for more sound.
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

// append takes sound. It waits while there is no room for it.
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
		_ = c.leg.push(ctx, chunk{skip: len(pcm)}) // it ends with ctx, as the reader does
		return
	}
	if begins {
		select { // what is heard is judged by what the client has configured
		case <-c.ready:
		case <-c.ended:
		case <-ctx.Done():
		}
	}
	_ = c.leg.push(ctx, chunk{pcm: pcm})
}

// perform carries out what follows from an input; post takes facts for the machine. ctx
// bounds the waiting for room.
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
			c.work <- func(ctx context.Context) { c.answerBeside(ctx, e) } // there is room: they are counted
		default:
			panic(e)
		}
	}
}

// configure brings the latest configuration to the uplink, whoever comes first.
func (c *conn) configure() {
	c.mu.Lock()
	defer c.mu.Unlock()
	t, onset := turnOptions(c.p.Session(), &c.parts)
	_ = c.s.Configure(t, onset) // the numbers were checked
}

// detects reports whether speech is looked for.
func (c *conn) detects() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.p.Detects()
}
