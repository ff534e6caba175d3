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

// RunVirtual holds the call in virtual time: each frame of the leg moves the
// clock by 20 ms, from start on, and a call of a minute takes as long as its
// speech takes to make and to recognize. The same leg gives the same steps, bit
// for bit, as long as nobody else posts. It returns when the conversation has
// ended.
//
// The clock stands while the synthesizer works: one that blocks for ever holds
// the call up until ctx ends.
func (s *Session) RunVirtual(ctx context.Context, start time.Time) (err error) {
	if s.o.Text {
		return errors.New("session: a conversation by text has no frames to be its clock: expected Run, or package session's Text")
	}
	if s.o.Delegation.Tasks != nil {
		return errors.New("session: tasks that outlive it run by the clock, not in virtual time")
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
	s.sound.runVirtual(ctx, &workers)
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

// runVirtual lets the frames drive the clock until the conversation is over.
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
		if err := s.sound.clearLeg(ctx); err != nil {
			return err
		}
		if err := s.o.Leg.Write(ctx, audio.Frame{Pos: pos, Rate: s.sound.rate, PCM: out}); err != nil {
			return fmt.Errorf("write to the leg: %w", err)
		}
		pos += audio.Pos(len(out))
		s.sound.echo()
		if err := s.drain(); err != nil {
			return err
		}
	}
	return nil
}

// frame takes the person's next 20 ms. When the person has gone, the
// conversation is told.
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
	if err := s.sound.up.Frame(f); err != nil {
		s.postFact(recognizerFailed(err))
	}
	return false, s.drain()
}

// advance moves the clock to now; deadlines on the way fire at their own time.
func (s *Session) advance(now time.Time) error {
	for {
		next := s.conv.NextDeadline()
		if next.IsZero() || next.After(now) {
			s.set(now)
			return nil
		}
		if next.After(s.virtualNow) { // one that was due already fires now
			s.set(next)
		}
		s.postFact(conv.DeadlinePassed{})
		if err := s.drain(); err != nil {
			return err
		}
	}
}

// drain steps what was posted, until nobody posts any more. Work that a step
// has started comes to rest before the next one: the order of what it finds
// does not depend on how fast it is.
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
		msg, ok := s.poll() // from outside the call
		if !ok {
			return nil
		}
		if err := s.take(msg); err != nil {
			return err
		}
	}
}

// postFacts is how facts reach the loop in virtual time.
func (s *Session) postFacts(events ...conv.Event) {
	s.mu.Lock()
	s.posted = append(s.posted, events...)
	s.mu.Unlock()
}

// postFact hands one fact to the loop from any goroutine but the loop's. When
// the loop has ended nobody needs it.
func (s *Session) postFact(ev conv.Event) {
	if s.work != nil {
		s.postFacts(ev)
		return
	}
	_ = s.Post(ev) // ErrEnded: the conversation is over
}
