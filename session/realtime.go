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
	if err := s.open(ctx, time.Now(), post); err != nil {
		return err
	}
	if s.o.Restore == nil && !s.o.Idle {
		if err := s.StartConversation(); err != nil {
			return err
		}
	}

	ctx, cancel := context.WithCancelCause(ctx)
	var workers sync.WaitGroup
	s.spawn = s.spawner(ctx, &workers)
	fail := func(err error) {
		if err != nil && ctx.Err() == nil {
			cancel(err)
		}
	}
	workers.Go(func() { s.voice.run(ctx) })
	keeping, stopKeeping := context.WithCancel(context.WithoutCancel(ctx)) // the last step is kept too
	defer stopKeeping()
	if s.keeper != nil {
		workers.Go(func() { fail(s.keeper.run(keeping)) })
	}
	workers.Go(func() { s.restore(ctx) })
	if _, ok := s.o.Leg.(port.Clocked); ok {
		lent := newLending()
		workers.Go(func() { fail(s.readTo(ctx, lent.lend)) })
		workers.Go(func() { s.listenToClocked(ctx, lent) })
	} else {
		s.frames = newFrameQueue(s.rate)
		workers.Go(func() { fail(s.readTo(ctx, s.enqueue)) })
		workers.Go(func() { s.listenTo(ctx) })
	}
	workers.Go(func() { fail(s.pace(ctx)) })
	if w, ok := s.o.Leg.(port.Watcher); ok {
		workers.Go(func() { s.watch(ctx, w) })
	}

	if err = s.goOn(time.Now()); err == nil {
		err = s.run(ctx)
	}
	s.end() // who posts must not wait for a loop that is gone
	cause := context.Cause(ctx)
	cancel(nil)
	stopKeeping()
	workers.Wait()
	if errors.Is(err, context.Canceled) && cause != nil {
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
			give(ctx, f)
			select {
			case <-ctx.Done():
				return nil // the frame may still be heard: the next Read would change it
			default:
				continue
			}
		case errors.Is(err, io.EOF):
			_ = s.Post(conv.UserStop{Reason: "hung_up"}) // ErrEnded: it is over anyway
		case ctx.Err() == nil:
			return fmt.Errorf("read from the leg: %w", err)
		}
		return nil
	}
}

// enqueue never waits: what the uplink cannot keep up with is dropped.
func (s *Session) enqueue(_ context.Context, f audio.Frame) { s.frames.push(f) }

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

// silenceAfter is when a leg that sends nothing is taken to be silent: the turn
// controller counts silence in frames.
const silenceAfter = 3 * audio.FrameDuration

// listenTo steps the uplink for each frame, and with silence for those that a
// paused sender leaves out.
func (s *Session) listenTo(ctx context.Context) {
	timer := time.NewTimer(silenceAfter)
	defer timer.Stop()
	pcm := make([]int16, audio.FrameSamples(s.rate))
	silence := make([]int16, audio.FrameSamples(s.rate))
	for {
		timer.Reset(silenceAfter)
		select {
		case <-ctx.Done():
			return
		case <-s.frames.ready:
			for {
				n, ok := s.frames.pop(pcm)
				if !ok {
					break
				}
				s.hear(pcm[:n])
			}
		case <-timer.C:
			for range silenceAfter / audio.FrameDuration {
				s.hear(silence)
			}
		}
	}
}

// lending hands one frame at a time from the leg's reader to the uplink: it is
// lent until the uplink has heard it.
type lending struct {
	frames chan audio.Frame
	heard  chan struct{}
}

func newLending() *lending {
	return &lending{frames: make(chan audio.Frame), heard: make(chan struct{})}
}

// lend returns when the frame has been heard, or with ctx.
func (l *lending) lend(ctx context.Context, f audio.Frame) {
	select {
	case l.frames <- f:
	case <-ctx.Done():
		return
	}
	select {
	case <-l.heard:
	case <-ctx.Done():
	}
}

// listenToClocked steps the uplink for each frame of a leg whose frames are its
// clock. Between them it only takes what others ask for, and what is found.
func (s *Session) listenToClocked(ctx context.Context, lent *lending) {
	timer := time.NewTimer(audio.FrameDuration)
	defer timer.Stop()
	for {
		timer.Reset(audio.FrameDuration)
		select {
		case <-ctx.Done():
			return
		case f := <-lent.frames:
			s.hear(f.PCM)
			select {
			case lent.heard <- struct{}{}:
			case <-ctx.Done():
				return
			}
		case <-timer.C:
			if err := s.uplink.Idle(); err != nil {
				_ = s.Post(recognizerFailed(err)) // ErrEnded: it is over
			}
		}
	}
}

// hear hands one frame to the uplink.
func (s *Session) hear(pcm []int16) {
	s.echo()
	if err := s.uplink.Frame(audio.Frame{Rate: s.rate, PCM: pcm}); err != nil {
		_ = s.Post(recognizerFailed(err)) // ErrEnded: it is over
	}
}

// maxLag is how far behind the beat the pacer may fall before it lets beats go:
// a burst of old frames helps nobody.
const maxLag = 5 * audio.FrameDuration

// pace writes a frame every 20 ms, on absolute deadlines: the n-th is due at
// start + n * 20 ms, so that being late once does not make all others late.
func (s *Session) pace(ctx context.Context) error {
	out := make([]int16, audio.FrameSamples(s.rate))
	timer := time.NewTimer(0)
	defer timer.Stop()
	var pos audio.Pos
	due := time.Now()
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-timer.C:
		}
		if s.o.Late != nil {
			s.o.Late(max(0, time.Since(due)))
		}
		s.downlink.Frame(out)
		if err := s.clearLeg(ctx); err != nil && ctx.Err() == nil {
			return err
		}
		if err := s.o.Leg.Write(ctx, audio.Frame{Pos: pos, Rate: s.rate, PCM: out}); err != nil {
			if ctx.Err() != nil {
				return nil
			}
			return fmt.Errorf("write to the leg: %w", err)
		}
		pos += audio.Pos(len(out))
		due = due.Add(audio.FrameDuration)
		now := time.Now()
		if now.Sub(due) > maxLag {
			due = now
		}
		timer.Reset(due.Sub(now))
	}
}
