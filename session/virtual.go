package session

import (
	"context"
	"errors"
	"fmt"
	"io"
	"sync"
	"time"

	"github.com/hocketvoice/hocket/audio"
	"github.com/hocketvoice/hocket/conv"
)

// RunVirtual holds the call in virtual time: the clock begins at start, and each frame of the leg
// moves it by 20 ms. So a call takes only as long as its speech takes to synthesize and to
// recognize. The same leg gives the same steps, bit for bit, as long as no other goroutine posts.
// RunVirtual returns nil when the conversation has ended, and an error if the call could not begin
// or continue, or if ctx ends. It does not support [Options.Text] or tasks that outlive the
// session.
//
// The clock stands while services work: a synthesizer that never returns blocks the call until ctx
// ends.
func (s *Session) RunVirtual(ctx context.Context, start time.Time) (err error) {
	if s.o.Text {
		return errors.New("session: a conversation by text has no frames to drive the clock: expected Run or session.Text")
	}
	if s.o.Delegation.Tasks != nil {
		return errors.New("session: tasks that outlive the session cannot run in virtual time")
	}
	if err := s.claim(func() { s.begin(start) }); err != nil {
		return fmt.Errorf("session: %w", err)
	}
	defer func() { err = errors.Join(err, s.close()) }()
	defer s.end()
	start = s.virtualNow
	if err := s.open(ctx, start, s.postFacts); err != nil {
		return err
	}
	if s.o.Restore == nil {
		if err := s.StartConversation(); err != nil {
			return err
		}
	}

	ctx, cancel := context.WithCancelCause(ctx)
	defer context.AfterFunc(ctx, s.work.end)()
	var workers sync.WaitGroup
	s.spawn = s.spawner(ctx, &workers)
	s.sound.runVirtual(ctx, &workers, cancel)
	if s.keeper != nil {
		workers.Go(func() {
			if err := s.keeper.run(ctx); err != nil {
				cancel(err)
			}
		})
	}
	defer workers.Wait()
	defer cancel(nil)
	if err = s.goOn(start); err == nil {
		err = s.runVirtual(ctx)
	}
	if errors.Is(err, context.Canceled) {
		return context.Cause(ctx)
	}
	return err
}

// runVirtual reads and writes frames, each at its own virtual time, until the conversation is
// over.
func (s *Session) runVirtual(ctx context.Context) (err error) {
	if err := s.drain(); err != nil {
		return err
	}
	out := make([]int16, audio.FrameSamples(s.sound.rate))
	var pos audio.Pos
	for hungUp := false; !s.over(); {
		if err := ctx.Err(); err != nil {
			return err
		}
		if err := s.advance(s.virtualNow.Add(audio.FrameDuration)); err != nil {
			return err
		}
		if !hungUp {
			if hungUp, err = s.frame(ctx); err != nil {
				return err
			}
		}
		s.sound.down.Frame(out)
		s.sound.beep.mix(out, s.sound.rate)
		if err := s.sound.clearLeg(ctx); err != nil {
			return err
		}
		if err := s.o.Leg.Write(ctx, audio.Frame{Pos: pos, Rate: s.sound.rate, PCM: out}); err != nil {
			return fmt.Errorf("write to the leg: %w", err)
		}
		pos += audio.Pos(len(out))
		if err := s.drain(); err != nil {
			return err
		}
	}
	return nil
}

// frame reads the person's next frame. hungUp is true when the person has left; frame has then
// told the conversation.
func (s *Session) frame(ctx context.Context) (hungUp bool, err error) {
	f, err := s.o.Leg.Read(ctx)
	switch {
	case errors.Is(err, io.EOF):
		s.postFact(conv.UserStop{Reason: left(err)})
		return true, s.drain()
	case err != nil:
		return true, fmt.Errorf("read from the leg: %w", err)
	}
	if err := s.fits(f); err != nil {
		return true, err
	}
	if err := s.sound.up.Frame(f, s.sound.down.Level()); err != nil {
		s.postFact(recognizerFailed(err))
	}
	return false, s.drain()
}

// advance moves the clock to now. Deadlines before now fire at their own time.
func (s *Session) advance(now time.Time) error {
	for {
		next := s.conv.NextDeadline()
		if next.IsZero() || next.After(now) {
			s.set(now)
			return nil
		}
		if next.After(s.virtualNow) { // a deadline that was due before fires now
			s.set(next)
		}
		s.postFact(conv.DeadlinePassed{})
		if err := s.drain(); err != nil {
			return err
		}
	}
}

// drain steps all events that were posted, until no more come. Before each round it waits for the
// work that was started, so that the order of the events does not depend on the speed of the work.
func (s *Session) drain() error {
	for {
		s.work.settle()
		s.mu.Lock()
		events := s.posted
		s.posted = nil
		s.mu.Unlock()
		for _, ev := range events {
			if err := s.step(s.virtualNow, ev); err != nil {
				return err
			}
		}
		if len(events) > 0 {
			continue
		}
		msg, ok := s.poll() // a post from outside the call
		if !ok {
			return nil
		}
		if err := s.take(msg); err != nil {
			return err
		}
	}
}

// postFacts posts events to the loop in virtual time.
func (s *Session) postFacts(events ...conv.Event) {
	s.mu.Lock()
	s.posted = append(s.posted, events...)
	s.mu.Unlock()
}

// postFact posts one event to the loop. Any goroutine but the loop's may call it. After the end of
// the loop it does nothing.
func (s *Session) postFact(ev conv.Event) {
	if s.work != nil {
		s.postFacts(ev)
		return
	}
	_ = s.Post(ev) // after ErrEnded the conversation is over
}
