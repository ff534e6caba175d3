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

// Recognizer is a fake that understands what it is told: the n-th utterance
// that holds sound has the n-th text. Words come one by one while the sound
// lasts. It is safe for concurrent use; the texts are shared by its streams.
type Recognizer struct {
	// Texts are what the utterances say. Beyond the last one nothing is
	// understood.
	Texts []string
	// PerWord is how much sound a word takes before it is shown; 200 ms if zero.
	PerWord time.Duration
	// Confidence of all results; 0.9 if zero.
	Confidence float64
	// Late holds each final back for so many calls of Tick, and what follows it
	// stays behind it: a fake of a remote engine's delay.
	Late int
	// Silent never answers a Finalize, against the port's rule.
	Silent bool
	// Endpoint ends an utterance with a final of its own after so many frames
	// without sound behind some; 0: never.
	Endpoint int
	// Fail, if set, may return an error for the n-th call of "open", "begin",
	// "write", "finalize", "discard" or "close", counted for each from 1 over all
	// streams.
	Fail func(call string, n int) error
	// Heard, if set, sees every call of a stream, and every frame with "write".
	Heard func(call string, f audio.Frame)

	mu    sync.Mutex // guards all below
	next  int
	calls map[string]int
	open  int
	late  []lateResult
}

// lateResult is a result that comes after so many ticks.
type lateResult struct {
	t     port.Transcript
	of    *recognizerStream
	ticks int
}

// Tick lets 20 ms pass for results that come late.
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

// give hands a result on, or keeps it until its time has come.
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

// Calls is how often a call was made, over all streams.
func (r *Recognizer) Calls(call string) int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.calls[call]
}

// OpenStreams is how many streams were opened and not closed.
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
	taken bool // words are the utterance's
	sound audio.Pos
	shown int
	quiet int // frames without sound behind some
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

// take gives the utterance its words when the first sound comes.
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

// pause counts silence behind sound and ends the words there, if it is to.
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
