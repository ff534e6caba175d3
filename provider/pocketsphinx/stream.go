//go:build pocketsphinx && cgo

package pocketsphinx

import (
	"fmt"
	"strings"
	"time"

	"github.com/hocketvoice/hocket/audio"
	"github.com/hocketvoice/hocket/port"
)

const (
	frameSamples = Rate / 100 // of a feature frame
	// lookahead is how many feature frames the engine needs beyond one before
	// that one is searched.
	lookahead = 4
	// pauseFrames of silence behind the words make the stream conclude early.
	pauseFrames = 20
	// maxPauses bounds how often that is done in one utterance.
	maxPauses = 4
	// backlogSamples is the sound decoded by one Write while the stream catches
	// up after a restart: five times real time, some 8 ms of work.
	backlogSamples = Rate / 10

	grammarSearch = "expected"
	checkSearch   = "check"
)

// Stream recognizes one caller. It implements port.RecognizerStream; one
// goroutine uses it, and results are handed to the sink within its methods.
type Stream struct {
	r    *Recognizer
	d    *decoder
	sink func(port.Transcript)

	// What holds from one utterance to the next.
	channel cepstralMean // of this caller so far
	next    *graph       // expected from the next Begin on
	loaded  *graph       // in the decoder
	dropped []Dropped

	// The open utterance.
	open     bool
	expected *graph
	pcm      []int16   // conditioned samples since Begin
	base     audio.Pos // position of pcm[0] in the stream
	fed      int       // samples that the decoder has
	noise    dither
	mean     cepstralMean // that is subtracted
	settled  bool         // the mean needs no more attention
	times    timeline
	due      int // len(pcm) at which the next partial is due
	last     port.Transcript
	path     []segment // scratch

	// A conclusion that was drawn in a pause.
	paused bool
	pauses int          // so far in this utterance
	heard  cepstralMean // of the speech that the conclusion rests on
	hush   hush
}

var _ port.RecognizerStream = (*Stream)(nil)

func newStream(r *Recognizer, d *decoder, sink func(port.Transcript)) *Stream {
	return &Stream{r: r, d: d, sink: sink}
}

// Expect sets what is listened for from the next Begin on. Parts that are
// malformed or need words outside the dictionary are left out; Dropped tells
// them. The expectation's Kind alone changes nothing.
func (s *Stream) Expect(e port.Expectation) {
	s.next, s.dropped = nil, nil
	if s.d == nil || len(e.Phrases) == 0 {
		return
	}
	s.next, s.dropped = compile(e.Phrases, s.d.has)
}

// Dropped tells what of the last Expect is not listened for, and why.
func (s *Stream) Dropped() []Dropped { return s.dropped }

// Begin opens an utterance. During an open one it does nothing.
func (s *Stream) Begin() error {
	if s.d == nil {
		return ErrClosed
	}
	if s.open {
		return nil
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

// start opens the engine's utterance at sample 0 with the current mean.
func (s *Stream) start() error {
	if err := s.d.use(lmSearch); err != nil {
		return err
	}
	s.fed = 0
	s.times.reset()
	return s.d.begin(&s.mean)
}

// Write decodes the frame and hands on a partial result when one is due. One
// Write decodes at most 100 ms of sound, except for the one that notices a pause
// and concludes: it takes some 50 ms a second of utterance. Outside an utterance
// Write does nothing.
func (s *Stream) Write(f audio.Frame) error {
	switch {
	case s.d == nil:
		return ErrClosed
	case f.Rate != Rate:
		return fmt.Errorf("pocketsphinx: a frame at %d Hz, expected %d: resample before the recognizer", f.Rate, Rate)
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

// feed gives the decoder at most n of the samples that it does not have yet.
func (s *Stream) feed(n int) error {
	end := min(len(s.pcm), s.fed+n)
	if err := s.d.write(s.pcm[s.fed:end]); err != nil {
		return err
	}
	s.fed = end
	s.times.add(s.d.frames(), s.base+audio.Pos(end))
	return nil
}

// maybeRestart begins the utterance anew, once, when enough of an unknown
// caller has been heard to know the channel. The following Writes catch up.
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

// maybePartial hands on what is known when a partial is due.
func (s *Stream) maybePartial() error {
	if len(s.pcm) < s.due {
		return nil
	}
	s.due += int(audio.PosOf(s.r.opts.Partial, Rate))
	// While catching up, what the decoder knows is older than the last partial.
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

// maybePause concludes the utterance when silence follows the words, before
// anybody has asked: the partial then has the quality of a final, and Finalize,
// which usually comes next, has nothing left to do. Should the speaker go on,
// the utterance is decoded anew (resume).
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

// resume undoes a conclusion.
func (s *Stream) resume() error {
	s.paused = false
	return s.start()
}

// short says that the utterance may be decoded more than once.
func (s *Stream) short() bool {
	return audio.Pos(len(s.pcm)).Duration(Rate) <= s.r.opts.MaxSecondPass
}

// transcript makes a result of a path, without a confidence.
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

// at is the time of a search frame since the start of the stream.
func (s *Stream) at(frame int) time.Duration {
	return max(s.times.at(frame), s.base, 0).Duration(Rate)
}

// Finalize closes the utterance and hands on its final transcript.
func (s *Stream) Finalize() error {
	if s.d == nil {
		return ErrClosed
	}
	if !s.open {
		return nil
	}
	s.open = false
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

// conclude ends the engine's utterance and works out the transcript.
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
	s.d.prob() // makes the lattice that the posteriors come from
	s.path = s.d.path(s.path[:0])
	return s.judge(s.transcript(s.path))
}

// finish decodes what is left and ends the engine's utterance. It returns the
// mean of what was heard.
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

// Discard closes the utterance without a result. What was heard of the channel
// is forgotten too: it may not have been the caller.
func (s *Stream) Discard() error {
	if s.d == nil {
		return ErrClosed
	}
	if !s.open {
		return nil
	}
	s.open = false
	if s.paused {
		return nil // the engine's utterance has ended
	}
	return s.d.end()
}

// Close discards an open utterance and gives the decoder back. A second Close
// does nothing.
func (s *Stream) Close() error {
	if s.d == nil {
		return nil
	}
	err := s.Discard()
	if s.loaded != nil {
		s.d.drop(grammarSearch)
	}
	s.r.give(s.d)
	s.d, s.pcm = nil, nil
	return err
}

// timeline maps frames of the search to the stream: the engine leaves silence
// out, so frames and time do not advance together.
type timeline struct{ points []point }

// point says that so many frames had been searched when the decoder had the
// sound up to pos.
type point struct {
	frames int
	pos    audio.Pos
}

func (l *timeline) reset() { l.points = l.points[:0] }

func (l *timeline) add(frames int, pos audio.Pos) {
	if n := len(l.points); n > 0 && l.points[n-1].frames >= frames {
		return
	}
	if frames > 0 {
		l.points = append(l.points, point{frames, pos})
	}
}

func (l *timeline) at(frame int) audio.Pos {
	for _, p := range l.points {
		if frame < p.frames {
			return p.pos - audio.Pos((p.frames-frame+lookahead)*frameSamples)
		}
	}
	if n := len(l.points); n > 0 {
		return l.points[n-1].pos
	}
	return 0
}
