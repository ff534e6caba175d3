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

// Run holds the call in real time. It returns nil when the conversation has ended, and an error
// if the call could not begin or continue, or if ctx ends. When Run returns, none of its
// goroutines runs any more: it waits for Read and Write of the leg and Speak of the
// synthesizer, which must return when their context ends. A session can be run once.
func (s *Session) Run(ctx context.Context) (err error) {
	if err := s.claim(nil); err != nil {
		return fmt.Errorf("session: %w", err)
	}
	defer func() { err = errors.Join(err, s.close()) }()
	defer s.end()
	post := func(events ...conv.Event) { _ = s.Post(events...) } // after ErrEnded the events are not needed
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
	// These calls are deferred so that they also run if an observer panics.
	defer workers.Wait()
	defer cancel(nil)
	defer s.end() // before the workers end, because Post must not wait for a loop that has ended
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

// readTo reads the person's frames from the leg and passes each to give. It returns nil when the
// person has left, after it has told the conversation, or when ctx ends.
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
				return nil // give may still use the frame, which the next Read would change
			default:
				continue
			}
		case errors.Is(err, io.EOF):
			_ = s.Post(conv.UserStop{Reason: left(err)}) // after ErrEnded the conversation is over anyway
		case ctx.Err() == nil:
			return fmt.Errorf("read from the leg: %w", err)
		}
		return nil
	}
}

// left returns the reason of the [conv.UserStop] for the error with which a leg has ended.
func left(err error) string {
	if errors.Is(err, port.ErrNeverConnected) {
		return NeverConnected
	}
	return "hung_up"
}

// NeverConnected is the Reason of the [conv.UserStop] for a person who never connected.
const NeverConnected = "never_connected"

// fits returns an error for a frame of the leg that is too long or has another rate than the
// leg.
func (s *Session) fits(f audio.Frame) error {
	rate := s.o.Leg.Rate()
	if most := audio.FrameSamples(rate); len(f.PCM) > most || f.Rate != 0 && f.Rate != rate {
		return fmt.Errorf("read from the leg: a frame of %d samples at %d Hz: expected at most %d (20 ms) at %d Hz", len(f.PCM), f.Rate, most, rate)
	}
	return nil
}

// watch reports changes of the connection to the conversation. It returns when the leg or ctx
// ends.
func (s *Session) watch(ctx context.Context, w port.Watcher) {
	line := port.LineUp
	for {
		next, err := w.Watch(ctx, line)
		if err != nil {
			return // readTo reports that the leg has ended
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
