package eval

import (
	"context"
	"time"

	"github.com/hocketvoice/hocket/audio"
	"github.com/hocketvoice/hocket/port"
)

// timed is a recognizer whose results come as late as in real time: virtual time waits for an
// engine, so that its work would cost nothing. A result is held until the sound has advanced
// by the time that the engine was busy.
type timed struct{ port.Recognizer }

// Open implements [port.Recognizer].
func (t timed) Open(ctx context.Context, cfg port.RecognizerConfig, sink func(port.Transcript)) (port.RecognizerStream, error) {
	s := &timedStream{sink: sink}
	inner, err := t.Recognizer.Open(ctx, cfg, func(r port.Transcript) { s.held = append(s.held, late{result: r}) })
	if err != nil {
		return nil, err
	}
	s.RecognizerStream = inner
	return s, nil
}

// late is a result and when it comes, in time of the stream.
type late struct {
	result port.Transcript
	at     time.Duration
	known  bool
}

// timedStream is a stream of a timed recognizer.
type timedStream struct {
	port.RecognizerStream

	sink func(port.Transcript)
	now  time.Duration // of the sound
	busy time.Duration // the engine is busy until then
	held []late
}

// run runs a piece of the engine's work.
func (s *timedStream) run(work func() error) error {
	began := time.Now()
	err := work()
	s.busy = max(s.busy, s.now) + time.Since(began)
	for i := range s.held {
		if !s.held[i].known {
			s.held[i].at, s.held[i].known = s.busy, true
		}
	}
	return err
}

// Begin implements [port.RecognizerStream].
func (s *timedStream) Begin() error { return s.run(s.RecognizerStream.Begin) }

// Write implements [port.RecognizerStream].
func (s *timedStream) Write(f audio.Frame) error {
	s.now = (f.Pos + audio.Pos(len(f.PCM))).Duration(f.Rate)
	err := s.run(func() error { return s.RecognizerStream.Write(f) })
	for len(s.held) > 0 && s.held[0].at <= s.now+audio.FrameDuration {
		s.sink(s.held[0].result)
		s.held = s.held[1:]
	}
	return err
}

// Finalize implements [port.RecognizerStream]. The caller waits for the final result, which
// therefore comes at once.
func (s *timedStream) Finalize() error {
	err := s.run(s.RecognizerStream.Finalize)
	for _, l := range s.held {
		s.sink(l.result)
	}
	s.held = nil
	return err
}

// Discard implements [port.RecognizerStream].
func (s *timedStream) Discard() error {
	s.held = nil
	return s.RecognizerStream.Discard()
}
