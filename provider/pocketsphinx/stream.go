//go:build pocketsphinx && cgo

package pocketsphinx

import (
	"fmt"
	"strings"
	"sync"
	"time"

	"github.com/hocketvoice/hocket/audio"
	"github.com/hocketvoice/hocket/port"
)

const (
	frameSamples = Rate / 100 // of a feature frame
	// lookahead is the number of following feature frames that the engine needs to
	// search a frame.
	lookahead = 4
	// pauseFrames is the number of silent frames after words that makes the stream
	// conclude early.
	pauseFrames = 20
	// maxPauses limits the number of early conclusions in one utterance.
	maxPauses = 4
	// backlogSamples is the sound decoded by one Write while the stream catches up
	// after a restart: five times real time, about 8 ms of work.
	backlogSamples = Rate / 10

	grammarSearch = "expected"
	checkSearch   = "check"
)

// Stream recognizes one caller. It implements port.RecognizerStream. It must be
// used by one goroutine; results are passed to the sink within its methods. Between
// utterances it may lend its decoder to another stream. If it gets none at the next
// Begin, Begin returns [ErrBusy].
type Stream struct {
	r    *Recognizer
	sink func(port.Transcript)

	// mu is held by each method: while none runs, another stream may borrow d.
	mu     sync.Mutex
	d      *decoder  // nil if it was lent, or the stream is closed
	used   time.Time // end of the last utterance, or when d was taken
	closed bool

	// State that lasts from one utterance to the next.
	channel cepstralMean // of this caller so far
	phrases []string     // expected from the next Begin on, not compiled yet
	next    *graph       // expected from the next Begin on
	loaded  *graph       // in the decoder
	dropped []Dropped

	// The open utterance.
	open     bool
	expected *graph
	pcm      []int16   // dithered samples since Begin
	base     audio.Pos // position of pcm[0] in the stream
	fed      int       // samples passed to the decoder
	noise    dither
	mean     cepstralMean // the mean that is subtracted
	settled  bool         // the mean is final
	times    timeline
	due      int // value of len(pcm) at which the next partial is due
	last     port.Transcript
	path     []segment // scratch

	// An early conclusion in a pause.
	paused bool
	pauses int          // so far in this utterance
	heard  cepstralMean // mean of the speech that the conclusion is based on
	hush   hush
}

var _ port.RecognizerStream = (*Stream)(nil)

func newStream(r *Recognizer, sink func(port.Transcript)) *Stream {
	return &Stream{r: r, sink: sink}
}

// hold takes a decoder if the stream has none, and compiles what is expected.
func (s *Stream) hold() error {
	if s.closed {
		return ErrClosed
	}
	s.used = time.Now()
	if s.d == nil {
		d, err := s.r.take(s)
		if err != nil {
			return err
		}
		s.d = d
	}
	if s.phrases != nil {
		s.next, s.dropped = compile(s.phrases, s.d.has)
		s.phrases = nil
	}
	return nil
}

// release returns the decoder, which the stream then no longer has. It must be outside
// an utterance.
func (s *Stream) release() *decoder {
	d := s.d
	if s.loaded != nil {
		d.drop(grammarSearch)
	}
	s.d, s.loaded = nil, nil
	return d
}

// Expect sets the expected phrases from the next Begin on. Parts that are invalid
// or need words outside the dictionary are ignored; Dropped returns them. The
// expectation's Kind alone has no effect.
func (s *Stream) Expect(e port.Expectation) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.phrases, s.next, s.dropped = nil, nil, nil
	switch {
	case s.closed || len(e.Phrases) == 0:
	case s.d == nil:
		s.phrases = e.Phrases // hold compiles them
	default:
		s.next, s.dropped = compile(e.Phrases, s.d.has)
	}
}

// Dropped returns the ignored parts of the last Expect and the reasons. After the stream
// has lent its decoder, they are known from the next Begin on.
func (s *Stream) Dropped() []Dropped {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.dropped
}

// Begin starts an utterance. During an open one it does nothing.
func (s *Stream) Begin() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.open {
		return nil
	}
	if err := s.hold(); err != nil {
		return err
	}
	s.expected = s.next
	if s.pcm == nil {
		s.pcm = make([]int16, 0, audio.PosOf(s.r.opts.MaxUtterance, Rate))
	}
	s.pcm, s.fed, s.base = s.pcm[:0], 0, -1
	s.settled = false
	s.paused, s.pauses, s.hush = false, 0, hush{}
	s.noise = dither{}
	s.due = int(audio.PosOf(s.r.opts.Partial, Rate))
	s.last = port.Transcript{}
	s.mean = s.d.defaults
	if s.channel.frames >= knownFrames {
		s.mean = s.channel
	}
	if err := s.start(); err != nil {
		return err
	}
	s.open = true
	return nil
}

// start starts the engine's utterance at sample 0 with the current mean.
func (s *Stream) start() error {
	if err := s.d.use(lmSearch); err != nil {
		return err
	}
	s.fed = 0
	s.times.reset()
	return s.d.begin(&s.mean)
}

// Write decodes the frame and emits a partial result if one is due. A Write decodes
// at most 100 ms of sound, except for the one that detects a pause and concludes,
// which takes about 50 ms per second of utterance. Outside an utterance Write does
// nothing.
func (s *Stream) Write(f audio.Frame) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case s.closed:
		return ErrClosed
	case f.Rate != Rate:
		return fmt.Errorf("pocketsphinx: a frame at %d Hz: expected %d: resample before the recognizer", f.Rate, Rate)
	case !s.open:
		return nil
	}
	if s.base < 0 {
		s.base = f.Pos
	}
	room := int(audio.PosOf(s.r.opts.MaxUtterance, Rate)) - len(s.pcm)
	from := len(s.pcm)
	s.pcm = s.noise.appendTo(s.pcm, f.PCM[:min(len(f.PCM), max(0, room))])
	s.hush.add(s.pcm[from:])
	if s.paused {
		if !s.hush.broken() {
			return s.maybePartial()
		}
		if err := s.resume(); err != nil {
			return err
		}
	}
	if err := s.feed(backlogSamples); err != nil {
		return err
	}
	if err := s.maybeRestart(); err != nil {
		return err
	}
	return s.maybePartial()
}

// feed passes at most n more samples to the decoder.
func (s *Stream) feed(n int) error {
	end := min(len(s.pcm), s.fed+n)
	if err := s.d.write(s.pcm[s.fed:end]); err != nil {
		return err
	}
	s.fed = end
	s.times.add(s.d.frames(), s.base+audio.Pos(end))
	return nil
}

// maybeRestart restarts the utterance once, when enough of an unknown caller was
// heard to know the channel. The following Writes catch up.
func (s *Stream) maybeRestart() error {
	if s.settled || s.fed < settledFrames*frameSamples {
		return nil
	}
	seen := s.d.seen()
	if seen.frames < settledFrames {
		return nil
	}
	s.settled = true
	if seen.distance(&s.mean) < nearEarly {
		return nil
	}
	if err := s.d.end(); err != nil {
		return err
	}
	s.mean = seen
	return s.start()
}

// maybePartial emits a partial result if one is due.
func (s *Stream) maybePartial() error {
	if len(s.pcm) < s.due {
		return nil
	}
	s.due += int(audio.PosOf(s.r.opts.Partial, Rate))
	// While catching up, the decoder is behind the last partial.
	if !s.paused && s.fed == len(s.pcm) {
		s.path = s.d.path(s.path[:0])
		s.last = s.transcript(s.path)
		s.last.Confidence = evidenceOf(s.path, false).partialConfidence()
		if err := s.maybePause(); err != nil {
			return err
		}
	}
	if s.last.Text != "" {
		s.sink(s.last)
	}
	return nil
}

// maybePause concludes the utterance early when silence follows the words: the
// partial then has the quality of a final, and Finalize, which usually follows, has
// nothing left to do. If the speaker continues, the utterance is decoded again
// (resume).
func (s *Stream) maybePause() error {
	tail := 0
	for i := len(s.path) - 1; i >= 0 && s.path[i].silence(); i-- {
		tail += s.path[i].end - s.path[i].start + 1
	}
	if s.last.Text == "" || tail < pauseFrames || s.pauses == maxPauses || !s.short() || !s.hush.start(pauseFrames/2) {
		return nil
	}
	t, err := s.conclude()
	if err != nil {
		return err
	}
	s.paused, s.last = true, t
	s.pauses++
	return nil
}

// resume undoes an early conclusion.
func (s *Stream) resume() error {
	s.paused = false
	return s.start()
}

// short reports whether the utterance may be decoded more than once.
func (s *Stream) short() bool {
	return audio.Pos(len(s.pcm)).Duration(Rate) <= s.r.opts.MaxSecondPass
}

// transcript converts a path to a result without a confidence.
func (s *Stream) transcript(path []segment) port.Transcript {
	var t port.Transcript
	var b strings.Builder
	for _, g := range path {
		if g.filler() {
			continue
		}
		if b.Len() > 0 {
			b.WriteByte(' ')
		} else {
			t.Start = s.at(g.start)
		}
		b.WriteString(g.base())
		t.End = s.at(g.end + 1)
	}
	t.Text = b.String()
	return t
}

// at returns the time of a search frame since the start of the stream.
func (s *Stream) at(frame int) time.Duration {
	return max(s.times.at(frame), s.base, 0).Duration(Rate)
}

// Finalize ends the utterance and emits its final transcript.
func (s *Stream) Finalize() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return ErrClosed
	}
	if !s.open {
		return nil
	}
	s.open, s.used = false, time.Now()
	t, err := s.last, error(nil)
	if s.paused && s.hush.doubtful() {
		err = s.resume()
	}
	if err == nil && !s.paused {
		t, err = s.conclude()
	}
	if err != nil {
		t = port.Transcript{}
	}
	if t.Confidence >= believed {
		s.channel.add(&s.heard)
	}
	t.Final = true
	s.sink(t)
	return err
}

// conclude ends the engine's utterance and determines the transcript.
func (s *Stream) conclude() (t port.Transcript, err error) {
	s.heard = cepstralMean{}
	if s.heard, err = s.finish(); err != nil {
		return t, err
	}
	if s.heard.frames > 0 && s.heard.distance(&s.mean) >= near && s.short() {
		s.mean = s.heard
		if err := s.start(); err != nil {
			return t, err
		}
		if _, err := s.finish(); err != nil {
			return t, err
		}
	}
	s.d.prob() // creates the lattice for the posteriors
	s.path = s.d.path(s.path[:0])
	return s.judge(s.transcript(s.path))
}

// finish decodes the rest and ends the engine's utterance. It returns the mean of
// the speech.
func (s *Stream) finish() (cepstralMean, error) {
	if err := s.feed(len(s.pcm)); err != nil {
		return cepstralMean{}, err
	}
	if err := s.d.end(); err != nil {
		return cepstralMean{}, err
	}
	s.times.add(s.d.frames(), s.base+audio.Pos(len(s.pcm)))
	return s.d.seen(), nil
}

// again decodes the utterance with another search.
func (s *Stream) again(search string) error {
	if err := s.d.use(search); err != nil {
		return err
	}
	if err := s.d.begin(&s.mean); err != nil {
		return err
	}
	if err := s.d.write(s.pcm); err != nil {
		return err
	}
	return s.d.end()
}

// Discard ends the utterance without a result. It also discards what was learned
// about the channel, since the sound may not have been the caller.
func (s *Stream) Discard() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return ErrClosed
	}
	return s.discard()
}

func (s *Stream) discard() error {
	if !s.open {
		return nil
	}
	s.open, s.used = false, time.Now()
	if s.paused {
		return nil // the engine's utterance has ended
	}
	return s.d.end()
}

// Close discards an open utterance and returns the decoder to the pool. A second
// Close does nothing.
func (s *Stream) Close() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return nil
	}
	err := s.discard()
	if s.d != nil {
		s.r.give(s, s.release())
	}
	s.pcm, s.closed = nil, true
	return err
}
