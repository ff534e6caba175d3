package session

import (
	"context"
	"errors"
	"fmt"
	"io"
	"sync"

	"github.com/hocketvoice/hocket/audio"
	"github.com/hocketvoice/hocket/conv"
	"github.com/hocketvoice/hocket/port"
)

// Run holds the call in real time. It returns nil when the conversation has
// ended, and the cause when it could not go on. Nothing of it runs any more
// when it returns: it waits for the leg's Read and Write and the synthesizer's
// Speak, which end with their context.
func (s *Session) Run(ctx context.Context) (err error) {
	if err := s.claim(nil); err != nil {
		return fmt.Errorf("session: %w", err)
	}
	defer func() { err = errors.Join(err, s.close()) }()
	defer s.end()
	post := func(events ...conv.Event) { _ = s.Post(events...) } // ErrEnded: nobody listens any more
	if err := s.open(ctx, s.now(), post); err != nil {
		return err
	}
	if s.o.Restore == nil && !s.o.Idle {
		if err := s.StartConversation(); err != nil {
			return err
		}
	}

	ctx, cancel := context.WithCancelCause(ctx)
	var workers sync.WaitGroup
	// All of this also where an observer panics, and somebody recovers.
	defer workers.Wait()
	defer cancel(nil)
	defer s.end() // who posts must not wait for a loop that is gone
	s.spawn = s.spawner(ctx, &workers)
	fail := func(err error) {
		if err != nil && ctx.Err() == nil {
			cancel(err)
		}
	}
	s.medium.run(ctx, &workers, fail)
	if s.keeper != nil {
		workers.Go(func() { fail(s.keeper.run(ctx)) })
	}
	if w, ok := s.o.Leg.(port.Watcher); ok {
		workers.Go(func() { s.watch(ctx, w) })
	}

	if err = s.goOn(s.now()); err == nil {
		err = s.run(ctx)
	}
	if cause := context.Cause(ctx); errors.Is(err, context.Canceled) && cause != nil {
		return cause
	}
	return err
}

// readTo takes the person's frames from the leg and gives them on. It ends when
// the person has gone, which the conversation is told, or when ctx ends.
func (s *Session) readTo(ctx context.Context, give func(context.Context, audio.Frame)) error {
	for {
		f, err := s.o.Leg.Read(ctx)
		switch {
		case err == nil:
			if err := s.fits(f); err != nil {
				return err
			}
			give(ctx, f)
			select {
			case <-ctx.Done():
				return nil // the frame may still be heard: the next Read would change it
			default:
				continue
			}
		case errors.Is(err, io.EOF):
			_ = s.Post(conv.UserStop{Reason: left(err)}) // ErrEnded: it is over anyway
		case ctx.Err() == nil:
			return fmt.Errorf("read from the leg: %w", err)
		}
		return nil
	}
}

// left is the reason of the end of a leg.
func left(err error) string {
	if errors.Is(err, port.ErrNeverConnected) {
		return NeverConnected
	}
	return "hung_up"
}

// NeverConnected is the reason of a [conv.UserStop] for a person whose connection was
// never made.
const NeverConnected = "never_connected"

// fits reports a frame of the leg's that cannot be heard as it is.
func (s *Session) fits(f audio.Frame) error {
	rate := s.o.Leg.Rate()
	if most := audio.FrameSamples(rate); len(f.PCM) > most || f.Rate != 0 && f.Rate != rate {
		return fmt.Errorf("read from the leg: a frame of %d samples at %d Hz: expected at most %d (20 ms) at %d Hz", len(f.PCM), f.Rate, most, rate)
	}
	return nil
}

// watch tells the conversation what becomes of the line. It ends with the leg or
// with ctx.
func (s *Session) watch(ctx context.Context, w port.Watcher) {
	line := port.LineUp
	for {
		next, err := w.Watch(ctx, line)
		if err != nil {
			return // Read tells that the leg has ended
		}
		line = next
		switch line {
		case port.LineUp:
			s.postFact(conv.ConnectionRestored{})
		case port.LineShaky:
			s.postFact(conv.ConnectionLost{Retryable: true})
		case port.LineLost:
			s.postFact(conv.ConnectionLost{})
		}
	}
}
