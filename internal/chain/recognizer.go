package chain

import (
	"context"
	"errors"
	"slices"
	"sync"
	"time"

	"github.com/hocketvoice/hocket/audio"
	"github.com/hocketvoice/hocket/port"
)

// Ear is a recognizer with its name.
type Ear struct {
	Name string
	port.Recognizer
}

// Recognizer is a recognizer that falls back. It is safe for concurrent use.
type Recognizer struct {
	ears   []Ear
	health *health
}

// NewRecognizer returns a recognizer that uses the first of the ears that works. report, which
// may be nil, must not block.
func NewRecognizer(ears []Ear, report func(Switch)) *Recognizer {
	names := make([]string, len(ears))
	for i, e := range ears {
		names[i] = e.Name
	}
	return &Recognizer{ears: ears, health: newHealth("recognizer", names, report)}
}

// Open implements [port.Recognizer]. It opens a stream of the first ear that works.
func (r *Recognizer) Open(ctx context.Context, cfg port.RecognizerConfig, sink func(port.Transcript)) (port.RecognizerStream, error) {
	s := &stream{r: r, cfg: cfg, results: results{sink: sink}}
	if err := s.use(ctx, 0); err != nil {
		return nil, err
	}
	run, cancel := context.WithCancel(context.WithoutCancel(ctx))
	s.end = cancel
	s.start = func(number int) { s.workers.Go(func() { s.change(run, number) }) }
	return s, nil
}

// maxKept is the length of the end of an utterance that another ear hears again.
const maxKept = 30 * time.Second

var errClosed = errors.New("the stream is closed")

// stream is a stream of one ear after the other. While another ear is being opened, what is
// asked of the stream is remembered.
type stream struct {
	r       *Recognizer
	cfg     port.RecognizerConfig
	end     context.CancelFunc
	start   func(number int) // starts a worker that changes to another ear
	workers sync.WaitGroup
	results results

	mu       sync.Mutex // guards the fields below, and serializes the use of inner
	inner    port.RecognizerStream
	ear      int
	number   int  // of changes
	changes  int  // since the utterance began
	changing bool // another ear is being opened
	err      error
	open     bool // an utterance is open
	expect   port.Expectation
	kept     []audio.Frame // the sound of the last utterance
	samples  int
}

// use opens a stream of the first ear that works.
func (s *stream) use(ctx context.Context, number int) error {
	order := s.r.health.order(time.Now())
	var err error
	for n, i := range order {
		var inner port.RecognizerStream
		sink := func(t port.Transcript) {
			if s.results.take(number, t) && t.Text != "" {
				s.r.health.worked(i)
			}
		}
		if inner, err = s.r.ears[i].Open(ctx, s.cfg, sink); err == nil {
			s.inner, s.ear = inner, i
			return nil
		}
		if ctx.Err() != nil {
			return ctx.Err()
		}
		next := -1
		if n+1 < len(order) {
			next = order[n+1]
		}
		s.r.health.failed(i, next, err, time.Now())
	}
	return err
}

// call calls a method of the ear, and changes to another ear if that fails.
func (s *stream) call(f func(port.RecognizerStream) error) error {
	if s.err != nil || s.changing {
		return s.err
	}
	err := f(s.inner)
	if err == nil {
		return nil
	}
	if s.changes++; s.changes > len(s.r.ears) {
		s.err = err
		return err
	}
	s.number++
	s.changing = true
	s.results.change(s.number, s.open)
	next := -1
	for _, i := range s.r.health.order(time.Now()) {
		if i != s.ear {
			next = i
			break
		}
	}
	s.r.health.failed(s.ear, next, err, time.Now())
	s.start(s.number)
	return nil
}

// change opens another ear, which hears the utterance from its beginning.
func (s *stream) change(ctx context.Context, number int) {
	s.mu.Lock()
	old := s.inner
	s.mu.Unlock()
	_ = old.Close() // it has failed
	err := s.use(ctx, number)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.changing = false
	if err != nil {
		s.err, s.inner = err, nil
		return
	}
	s.inner.Expect(s.expect)
	if !s.open && !s.results.awaited() {
		return
	}
	kept, open := s.kept, s.open
	_ = s.call(func(r port.RecognizerStream) error { // call keeps the error
		if err := r.Begin(); err != nil {
			return err
		}
		for _, f := range kept {
			if err := r.Write(f); err != nil {
				return err
			}
		}
		if open {
			return nil
		}
		return r.Finalize()
	})
}

// Begin implements [port.RecognizerStream].
func (s *stream) Begin() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.open {
		s.open, s.kept, s.samples, s.changes = true, nil, 0, 0
	}
	return s.call(port.RecognizerStream.Begin)
}

// Write implements [port.RecognizerStream].
func (s *stream) Write(f audio.Frame) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.results.cut() {
		s.kept, s.samples = nil, 0
	}
	if s.open {
		kept := f
		kept.PCM = slices.Clone(f.PCM)
		s.kept = append(s.kept, kept)
		s.samples += len(f.PCM)
		for audio.Pos(s.samples).Duration(s.cfg.Rate) > maxKept {
			s.samples -= len(s.kept[0].PCM)
			s.kept = s.kept[1:]
		}
	}
	return s.call(func(r port.RecognizerStream) error { return r.Write(f) })
}

// Expect implements [port.RecognizerStream].
func (s *stream) Expect(e port.Expectation) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.expect = e
	if s.err == nil && !s.changing {
		s.inner.Expect(e)
	}
}

// Finalize implements [port.RecognizerStream].
func (s *stream) Finalize() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.open {
		s.open = false
		s.results.ask()
	}
	return s.call(port.RecognizerStream.Finalize)
}

// Discard implements [port.RecognizerStream].
func (s *stream) Discard() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.open, s.kept, s.samples = false, nil, 0
	return s.call(port.RecognizerStream.Discard)
}

// Close implements [port.RecognizerStream].
func (s *stream) Close() error {
	s.end()
	s.workers.Wait()
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.inner == nil || errors.Is(s.err, errClosed) {
		s.err = errClosed
		return nil
	}
	s.err = errClosed
	return s.inner.Close()
}

// results passes the results of the present ear on. It is safe for concurrent use; ears call
// it within their methods or at any time.
type results struct {
	sink func(port.Transcript)

	mu     sync.Mutex // guards the fields below
	number int        // of the ear whose results count
	asked  int        // requests for final words that were not answered
	ended  bool       // an endpoint has ended what was said
}

// take passes on a result of the ear with a number. It returns false if that does not count
// any more.
func (r *results) take(number int, t port.Transcript) bool {
	r.mu.Lock()
	if number != r.number {
		r.mu.Unlock()
		return false
	}
	switch {
	case t.Final && t.Endpoint:
		r.ended = true
	case t.Final && r.asked > 0:
		r.asked--
	}
	r.mu.Unlock()
	r.sink(t)
	return true
}

// ask records a request for final words.
func (r *results) ask() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.asked++
}

// awaited reports whether final words are awaited.
func (r *results) awaited() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.asked > 0
}

// cut reports, once, whether an endpoint has come since the last call.
func (r *results) cut() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	ended := r.ended
	r.ended = false
	return ended
}

// change drops the results of the ears before a number. Requests for the final words of
// utterances whose sound is not kept any more are answered with nothing: with an open
// utterance, all.
func (r *results) change(number int, open bool) {
	r.mu.Lock()
	r.number = number
	lost := r.asked
	if !open && lost > 0 {
		lost--
	}
	r.asked -= lost
	r.mu.Unlock()
	for range lost {
		r.sink(port.Transcript{Final: true})
	}
}
