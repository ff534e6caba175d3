package porttest

import (
	"math"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/hocketvoice/hocket/audio"
	"github.com/hocketvoice/hocket/port"
)

// RecognizerCapabilities describes a recognizer under test.
type RecognizerCapabilities struct {
	Rate     int    // of the frames, in hertz; 16000 if zero
	Language string // of the streams
	// Speech is an utterance surrounded by silence, and Text its words. If Speech
	// is nil, the suite uses a tone and expects no particular text.
	Speech []int16
	Text   string
	// Wait lets time pass for delayed final results. If it is nil, the suite writes
	// silence and then waits for the engine.
	Wait func()
}

// finalWithin bounds the wait for an engine's answer, in real time.
const finalWithin = 10 * time.Second

// TestRecognizer is the conformance suite of port.Recognizer. open must return a
// fresh recognizer for each rule.
func TestRecognizer(t *testing.T, open func(*testing.T) port.Recognizer, c RecognizerCapabilities) {
	if c.Rate == 0 {
		c.Rate = 16000
	}
	if c.Speech == nil {
		c.Speech = Tone(c.Rate, time.Second)
	}
	for _, rule := range []struct {
		name string
		test func(*speaker)
	}{
		{"each finalize of an open utterance has one final", finalsInOrder},
		{"begin during an utterance continues it", beginTwice},
		{"finalize outside an utterance gives nothing", finalizeOutside},
		{"a discarded utterance has no result", discard},
		{"silence is understood as nothing", silence},
		{"sound outside an utterance gives nothing", soundOutside},
		{"any expectation may come at any time", expectations},
		{"frames are lent", lentFrames},
		{"nothing comes after close", afterClose},
	} {
		t.Run(rule.name, func(t *testing.T) { rule.test(newSpeaker(t, open(t), c)) })
	}
	t.Run("streams do not know each other", func(t *testing.T) {
		r := open(t)
		var streams sync.WaitGroup
		for range 4 {
			streams.Go(func() { finalsInOrder(newSpeaker(t, r, c)) })
		}
		streams.Wait()
	})
}

// Tone returns a loud sound that is not speech, for fakes. None of its samples is
// zero.
func Tone(rate int, d time.Duration) []int16 {
	pcm := make([]int16, audio.PosOf(d, rate))
	for i := range pcm {
		pcm[i] = int16(8000*math.Sin(2*math.Pi*220*float64(i)/float64(rate))) | 1
	}
	return pcm
}

// speaker writes to one stream and collects its results.
type speaker struct {
	t   *testing.T
	c   RecognizerCapabilities
	s   port.RecognizerStream
	pos audio.Pos
	pcm []int16 // the frame passed to the stream

	mu     sync.Mutex // guards the fields below
	got    []port.Transcript
	closed bool
	inside bool
	news   chan struct{} // contains a token if there are new results
}

func newSpeaker(t *testing.T, r port.Recognizer, c RecognizerCapabilities) *speaker {
	t.Helper()
	p := &speaker{t: t, c: c, pcm: make([]int16, audio.FrameSamples(c.Rate)), news: make(chan struct{}, 1)}
	s, err := r.Open(t.Context(), port.RecognizerConfig{Rate: c.Rate, Language: c.Language}, p.take)
	if err != nil {
		t.Errorf("Open: %v", err)
		t.FailNow()
	}
	p.s = s
	t.Cleanup(p.close)
	return p
}

func (p *speaker) close() {
	p.mu.Lock()
	closed := p.closed
	p.mu.Unlock()
	if closed {
		return
	}
	if err := p.s.Close(); err != nil {
		p.t.Errorf("Close: %v", err)
	}
	p.mu.Lock()
	p.closed = true
	p.mu.Unlock()
}

// take is the sink of the stream.
func (p *speaker) take(r port.Transcript) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.closed {
		p.t.Errorf("the sink received %+v after Close had returned", r)
	}
	if p.inside {
		p.t.Errorf("the sink was called concurrently with %+v", r)
	}
	p.inside = true
	p.check(r)
	p.got = append(p.got, r)
	p.inside = false
	select {
	case p.news <- struct{}{}:
	default:
	}
}

func (p *speaker) check(r port.Transcript) {
	if r.Text != strings.Join(strings.Fields(r.Text), " ") {
		p.t.Errorf("text %q: want words separated by single spaces", r.Text)
	}
	if !(r.Confidence >= 0 && r.Confidence <= 1) {
		p.t.Errorf("confidence of %q is %v: want 0 to 1", r.Text, r.Confidence)
	}
	if r.Start < 0 || r.End < r.Start {
		p.t.Errorf("%q lies from %v to %v", r.Text, r.Start, r.End)
	}
}

func (p *speaker) must(what string, err error) {
	p.t.Helper()
	if err != nil {
		p.t.Errorf("%s: %v", what, err)
	}
}

// write passes sound in frames of 20 ms that share the same memory.
func (p *speaker) write(pcm []int16) {
	p.t.Helper()
	for len(pcm) > 0 {
		n := copy(p.pcm, pcm)
		clear(p.pcm[n:])
		pcm = pcm[n:]
		p.must("Write", p.s.Write(audio.Frame{Pos: p.pos, Rate: p.c.Rate, PCM: p.pcm}))
		p.pos += audio.Pos(len(p.pcm))
		for i := range p.pcm {
			p.pcm[i] = int16(i%2*20000 - 10000) // a stream that kept the frame hears this
		}
	}
}

func (p *speaker) silence(d time.Duration) { p.write(make([]int16, audio.PosOf(d, p.c.Rate))) }

// finals returns the final results so far.
func (p *speaker) finals() []port.Transcript {
	p.mu.Lock()
	defer p.mu.Unlock()
	var finals []port.Transcript
	for _, r := range p.got {
		if r.Final {
			finals = append(finals, r)
		}
	}
	return finals
}

// wantFinals waits for n final results, and a moment longer to detect more.
func (p *speaker) wantFinals(n int) []port.Transcript {
	p.t.Helper()
	for range 25 {
		if len(p.finals()) >= n {
			break
		}
		p.pass()
	}
	deadline := time.NewTimer(finalWithin)
	defer deadline.Stop()
	for len(p.finals()) < n {
		select {
		case <-p.news:
		case <-deadline.C:
			p.t.Errorf("%d finals within %v, want %d", len(p.finals()), finalWithin, n)
			return p.finals()
		}
	}
	for range 25 {
		p.pass()
	}
	if got := p.finals(); len(got) != n {
		p.t.Errorf("finals %+v, want %d", got, n)
	}
	return p.finals()
}

// pass lets 20 ms pass.
func (p *speaker) pass() {
	if p.c.Wait != nil {
		p.c.Wait()
		return
	}
	p.silence(audio.FrameDuration)
}

// say speaks one utterance from Begin to Finalize.
func (p *speaker) say(pcm []int16) {
	p.t.Helper()
	p.must("Begin", p.s.Begin())
	p.write(pcm)
	p.must("Finalize", p.s.Finalize())
}

func (p *speaker) wantText(r port.Transcript) {
	p.t.Helper()
	if p.c.Text != "" && r.Text != p.c.Text {
		p.t.Errorf("understood %q, want %q", r.Text, p.c.Text)
	}
}

func finalsInOrder(p *speaker) {
	for n := 1; n <= 3; n++ {
		p.say(p.c.Speech)
		if finals := p.wantFinals(n); len(finals) == n && n == 1 {
			p.wantText(finals[0])
		}
		p.silence(200 * time.Millisecond)
	}
}

func beginTwice(p *speaker) {
	p.must("Begin", p.s.Begin())
	half := len(p.c.Speech) / 2 / len(p.pcm) * len(p.pcm)
	p.write(p.c.Speech[:half])
	p.must("second Begin", p.s.Begin())
	p.write(p.c.Speech[half:])
	p.must("Finalize", p.s.Finalize())
	if finals := p.wantFinals(1); len(finals) == 1 {
		p.wantText(finals[0])
	}
}

func finalizeOutside(p *speaker) {
	p.must("Finalize", p.s.Finalize())
	p.wantFinals(0)
	p.say(p.c.Speech)
	p.wantFinals(1)
	p.must("second Finalize", p.s.Finalize())
	p.wantFinals(1)
}

func discard(p *speaker) {
	p.must("Begin", p.s.Begin())
	p.write(p.c.Speech)
	p.must("Discard", p.s.Discard())
	p.wantFinals(0)
	p.must("Finalize", p.s.Finalize())
	p.wantFinals(0)
	p.must("second Discard", p.s.Discard())
	p.say(p.c.Speech)
	p.wantFinals(1)
}

func silence(p *speaker) {
	p.say(make([]int16, p.c.Rate))
	if finals := p.wantFinals(1); len(finals) == 1 && finals[0].Text != "" {
		p.t.Errorf("recognized %q in silence", finals[0].Text)
	}
}

func soundOutside(p *speaker) {
	p.write(p.c.Speech)
	p.silence(time.Second)
	p.mu.Lock()
	defer p.mu.Unlock()
	if len(p.got) > 0 {
		p.t.Errorf("results %+v outside of utterances", p.got)
	}
}

func expectations(p *speaker) {
	p.s.Expect(port.Expectation{Kind: "city", Phrases: []string{"boston", "new york", "from <nothing>", "", "(", "\x00 \xff"}})
	p.must("Begin", p.s.Begin())
	p.s.Expect(port.Expectation{Kind: "yes_no", Phrases: []string{"yes", "no"}})
	p.write(p.c.Speech)
	p.s.Expect(port.Expectation{})
	p.must("Finalize", p.s.Finalize())
	p.wantFinals(1)
	p.s.Expect(port.Expectation{Kind: "no such kind"})
	p.say(p.c.Speech)
	p.wantFinals(2)
}

func lentFrames(p *speaker) {
	p.say(p.c.Speech) // write overwrites each frame after the call
	if finals := p.wantFinals(1); len(finals) == 1 {
		p.wantText(finals[0])
	}
}

func afterClose(p *speaker) {
	p.must("Begin", p.s.Begin())
	p.write(p.c.Speech)
	p.must("Finalize", p.s.Finalize())
	p.must("Begin", p.s.Begin())
	p.write(p.c.Speech[:len(p.c.Speech)/2])
	p.close()
	for range 25 {
		if p.c.Wait != nil {
			p.c.Wait()
		}
	}
}
