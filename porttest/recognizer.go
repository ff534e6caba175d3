package porttest

import (
	"context"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/hocketvoice/hocket/audio"
	"github.com/hocketvoice/hocket/port"
)

var _ port.Recognizer = (*Recognizer)(nil)

// Recognizer is a fake that returns given texts: the n-th utterance that contains
// sound yields the n-th text. Words appear one by one while the sound lasts. It is
// safe for concurrent use; its streams share the texts.
type Recognizer struct {
	// Texts are the texts of the utterances. Utterances after the last text yield
	// an empty one.
	Texts []string
	// PerWord is the length of sound for each word of an interim result; 200 ms if
	// zero.
	PerWord time.Duration
	// Confidence is the confidence of all results; 0.9 if zero.
	Confidence float64
	// Late delays each final result, and the results after it, by a number of calls
	// of Tick. It simulates a remote engine.
	Late int
	// Silent never answers a Finalize, in violation of the port's rule.
	Silent bool
	// Endpoint ends an utterance with a final result after so many frames of
	// silence that follow sound; 0 means never.
	Endpoint int
	// Fail, if not nil, may return an error for the n-th call of "open", "begin",
	// "write", "finalize", "discard" or "close". Calls are counted from 1 for each
	// name over all streams.
	Fail func(call string, n int) error
	// Heard, if not nil, is called for every method call of a stream, with the
	// frame for "write".
	Heard func(call string, f audio.Frame)

	mu    sync.Mutex // guards the fields below
	next  int
	calls map[string]int
	open  int
	late  []lateResult
}

// lateResult is a result that is delayed by a number of ticks.
type lateResult struct {
	t     port.Transcript
	of    *recognizerStream
	ticks int
}

// Tick advances delayed results by 20 ms.
func (r *Recognizer) Tick() {
	r.mu.Lock()
	var due []lateResult
	kept := r.late[:0]
	waits := make(map[*recognizerStream]bool)
	for _, l := range r.late {
		if l.ticks--; l.ticks <= 0 && !waits[l.of] {
			due = append(due, l)
			continue
		}
		waits[l.of] = true
		kept = append(kept, l)
	}
	r.late = kept
	r.mu.Unlock()
	for _, l := range due {
		l.of.sink(l.t)
	}
}

// give passes a result to the sink, or delays it.
func (s *recognizerStream) give(t port.Transcript) {
	ticks := 0
	if t.Final && !t.Endpoint {
		ticks = s.r.Late
	}
	s.r.mu.Lock()
	behind := slices.ContainsFunc(s.r.late, func(l lateResult) bool { return l.of == s })
	if ticks > 0 || behind {
		s.r.late = append(s.r.late, lateResult{t, s, ticks})
		s.r.mu.Unlock()
		return
	}
	s.r.mu.Unlock()
	s.sink(t)
}

// note counts a call and returns its error.
func (r *Recognizer) note(call string, f audio.Frame) error {
	r.mu.Lock()
	if r.calls == nil {
		r.calls = make(map[string]int)
	}
	r.calls[call]++
	n := r.calls[call]
	r.mu.Unlock()
	if r.Heard != nil {
		r.Heard(call, f)
	}
	if r.Fail == nil {
		return nil
	}
	return r.Fail(call, n)
}

// Calls returns the number of calls by name over all streams.
func (r *Recognizer) Calls(call string) int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.calls[call]
}

// OpenStreams returns the number of streams that are open.
func (r *Recognizer) OpenStreams() int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.open
}

// Open starts a stream.
func (r *Recognizer) Open(_ context.Context, cfg port.RecognizerConfig, sink func(port.Transcript)) (port.RecognizerStream, error) {
	if err := r.note("open", audio.Frame{}); err != nil {
		return nil, err
	}
	r.mu.Lock()
	r.open++
	r.mu.Unlock()
	perWord := r.PerWord
	if perWord == 0 {
		perWord = 200 * time.Millisecond
	}
	confidence := r.Confidence
	if confidence == 0 {
		confidence = 0.9
	}
	return &recognizerStream{
		r: r, sink: sink, perWord: audio.PosOf(perWord, cfg.Rate), rate: cfg.Rate, confidence: confidence,
	}, nil
}

type recognizerStream struct {
	r          *Recognizer
	sink       func(port.Transcript)
	perWord    audio.Pos
	rate       int
	confidence float64
	closed     bool

	open  bool
	words []string
	taken bool // words belong to the current utterance
	sound audio.Pos
	shown int
	quiet int // frames of silence after sound
}

func (s *recognizerStream) Begin() error {
	if err := s.r.note("begin", audio.Frame{}); err != nil {
		return err
	}
	if !s.open {
		s.open, s.taken, s.words, s.sound, s.shown, s.quiet = true, false, nil, 0, 0, 0
	}
	return nil
}

func (s *recognizerStream) Write(f audio.Frame) error {
	if err := s.r.note("write", f); err != nil {
		return err
	}
	if !s.open {
		return nil
	}
	if audio.Peak(f.PCM) == 0 {
		s.pause()
		return nil
	}
	s.quiet = 0
	s.take()
	s.sound += audio.Pos(len(f.PCM))
	if n := min(int(s.sound/s.perWord), len(s.words)); n > s.shown {
		s.shown = n
		s.give(port.Transcript{Text: strings.Join(s.words[:n], " "), Confidence: s.confidence})
	}
	return nil
}

// take assigns the words to the utterance at the first sound.
func (s *recognizerStream) take() {
	if s.taken {
		return
	}
	s.taken = true
	s.r.mu.Lock()
	defer s.r.mu.Unlock()
	if s.r.next < len(s.r.Texts) {
		s.words = strings.Fields(s.r.Texts[s.r.next])
		s.r.next++
	}
}

// pause counts silence after sound and ends the utterance if Endpoint is reached.
func (s *recognizerStream) pause() {
	if !s.taken || s.r.Endpoint == 0 {
		return
	}
	if s.quiet++; s.quiet == s.r.Endpoint {
		t := s.final()
		t.Endpoint = true
		s.taken, s.words, s.sound, s.shown, s.quiet = false, nil, 0, 0, 0
		s.give(t)
	}
}

func (s *recognizerStream) final() port.Transcript {
	return port.Transcript{Text: strings.Join(s.words, " "), Confidence: s.confidence, Final: true}
}

func (s *recognizerStream) Expect(port.Expectation) { _ = s.r.note("expect", audio.Frame{}) }

func (s *recognizerStream) Finalize() error {
	if err := s.r.note("finalize", audio.Frame{}); err != nil {
		return err
	}
	if !s.open {
		return nil
	}
	s.open = false
	if !s.r.Silent {
		s.give(s.final())
	}
	return nil
}

func (s *recognizerStream) Discard() error {
	s.open = false
	return s.r.note("discard", audio.Frame{})
}

func (s *recognizerStream) Close() error {
	if !s.closed {
		s.closed = true
		s.r.mu.Lock()
		s.r.open--
		s.r.late = slices.DeleteFunc(s.r.late, func(l lateResult) bool { return l.of == s })
		s.r.mu.Unlock()
	}
	return s.r.note("close", audio.Frame{})
}
