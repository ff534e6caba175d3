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
	if err := s.StartConversation(); err != nil {
		return err
	}

	ctx, cancel := context.WithCancelCause(ctx)
	var workers sync.WaitGroup
	s.spawn = s.spawner(ctx, &workers)
	fail := func(err error) {
		if err != nil && ctx.Err() == nil {
			cancel(err)
		}
	}
	s.frames = newFrameQueue()
	workers.Go(func() { s.voice.run(ctx) })
	workers.Go(func() { s.restore(ctx) })
	workers.Go(func() { fail(s.read(ctx)) })
	workers.Go(func() { s.listenTo(ctx) })
	workers.Go(func() { fail(s.pace(ctx)) })

	err = s.run(ctx)
	s.end() // who posts must not wait for a loop that is gone
	cause := context.Cause(ctx)
	cancel(nil)
	workers.Wait()
	if errors.Is(err, context.Canceled) && cause != nil {
		return cause
	}
	return err
}

// read takes the person's frames from the leg. It ends when the person has
// gone, which the conversation is told, or when ctx ends.
func (s *Session) read(ctx context.Context) error {
	for {
		f, err := s.o.Leg.Read(ctx)
		switch {
		case err == nil:
			s.frames.push(f)
			continue
		case errors.Is(err, io.EOF):
			_ = s.Post(conv.UserStop{Reason: "hung_up"}) // ErrEnded: it is over anyway
		case ctx.Err() == nil:
			return fmt.Errorf("read from the leg: %w", err)
		}
		return nil
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
	pcm := make([]int16, audio.FrameSamples(audio.MaxRate))
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
