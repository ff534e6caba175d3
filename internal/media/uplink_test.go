package media

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/hocketvoice/hocket/audio"
	"github.com/hocketvoice/hocket/conv"
	"github.com/hocketvoice/hocket/dialog"
	"github.com/hocketvoice/hocket/port"
	"github.com/hocketvoice/hocket/porttest"
	"github.com/hocketvoice/hocket/turn"
)

// caller drives an uplink frame by frame and records what was said, what was passed to
// the recognizer, and the events.
type caller struct {
	t    testing.TB
	u    *Uplink
	rate int
	sent float64 // the level of the agent's frames
	rec  *porttest.Recognizer

	said []int16 // at the leg's rate
	log  []string
	errs []error
	lags []time.Duration // of each beginning of speech

	given  []int16     // passed to the recognizer, in order
	places []audio.Pos // the position of each sample of given
	begins []int       // len(given) at each Begin
}

func newCaller(t testing.TB, o UplinkOptions, rec *porttest.Recognizer) *caller {
	t.Helper()
	c := &caller{t: t, rate: o.Rate, rec: rec}
	if c.rate == 0 {
		c.rate = 16000
	}
	o.Rate = c.rate
	if o.Turn.Policy == "" {
		o.Turn.Policy = turn.PolicyEasyTurn // for its times
	}
	o.Post = func(events ...conv.Event) {
		for _, ev := range events {
			c.log = append(c.log, fact(ev))
			if e, ok := ev.(conv.SpeechStarted); ok {
				c.lags = append(c.lags, e.Lag)
			}
		}
	}
	if rec != nil {
		rec.Heard = c.hear
		o.Recognizer = rec
	}
	u, err := NewUplink(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	c.u = u
	t.Cleanup(func() {
		if err := u.Close(); err != nil {
			t.Error(err)
		}
		if rec != nil && rec.OpenStreams() != 0 {
			t.Errorf("%d recognizer streams were never closed", rec.OpenStreams())
		}
	})
	return c
}

// fact describes an event in a few words.
func fact(ev conv.Event) string {
	switch e := ev.(type) {
	case conv.SpeechStarted:
		return fmt.Sprintf("started %d %s", e.Utterance, e.Source)
	case conv.SpeechStopped:
		return fmt.Sprintf("stopped %d", e.Utterance)
	case conv.STTPartial:
		return fmt.Sprintf("partial %d %s", e.Utterance, e.Text)
	case conv.STTFinal:
		return strings.TrimRight(fmt.Sprintf("final %d %s", e.Utterance, e.Text), " ")
	case conv.TurnEnded:
		return fmt.Sprintf("ended %d %s", e.Utterance, e.Cause)
	default:
		return fmt.Sprintf("%T", ev)
	}
}

func (c *caller) hear(call string, f audio.Frame) {
	switch call {
	case "begin":
		c.begins = append(c.begins, len(c.given))
	case "write":
		for i, v := range f.PCM {
			c.given = append(c.given, v)
			c.places = append(c.places, f.Pos+audio.Pos(i))
		}
	}
}

// sample returns a sound in which each sample differs from its neighbours.
func sample(at int, loud bool) int16 {
	h := uint32(at)*2654435761 + 12345
	h ^= h >> 15
	if loud {
		return int16(int32(h%16000)-8000) | 1
	}
	return int16(int32(h%61) - 30)
}

func (c *caller) frames(n int, loud bool) {
	c.t.Helper()
	pcm := make([]int16, audio.FrameSamples(c.rate))
	for range n {
		for i := range pcm {
			pcm[i] = sample(len(c.said)+i, loud)
		}
		c.frame(pcm)
	}
}

func (c *caller) frame(pcm []int16) {
	c.said = append(c.said, pcm...)
	if err := c.u.Frame(audio.Frame{Rate: c.rate, PCM: pcm}, c.sent); err != nil {
		c.errs = append(c.errs, err)
	}
	if c.rec != nil {
		c.rec.Tick()
	}
}

func (c *caller) speaks(d time.Duration)  { c.frames(int(d/audio.FrameDuration), true) }
func (c *caller) isQuiet(d time.Duration) { c.frames(int(d/audio.FrameDuration), false) }

// want compares the events since the last call.
func (c *caller) want(facts ...string) {
	c.t.Helper()
	got := c.log
	c.log = nil
	if !slices.Equal(got, facts) {
		c.t.Errorf("facts\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(facts, "\n"))
	}
}

// wantSamples checks that the recognizer received the sound as it was said: each sample
// once, in order, and with its value.
func (c *caller) wantSamples() {
	c.t.Helper()
	heard, err := resamplerFor(c.rate, recognizerRate)
	if err != nil {
		c.t.Fatal(err)
	}
	want := c.said
	if heard != nil {
		want = heard.Append(nil, c.said)
	}
	for i, p := range c.places {
		if i > 0 && p <= c.places[i-1] {
			c.t.Fatalf("sample %d of the recognizer's has position %d, after %d", i, p, c.places[i-1])
		}
		if c.given[i] != want[p] {
			c.t.Fatalf("sample at %d is %d, want %d", p, c.given[i], want[p])
		}
	}
}

const ms = time.Millisecond

// legRates are the rates of telephones, recognizers, wideband telephony and browsers.
var legRates = []int{8000, 16000, 24000, 48000}

func TestUplinkGivesEverySampleOnceAndInOrder(t *testing.T) {
	for _, rate := range legRates {
		t.Run(fmt.Sprint(rate), func(t *testing.T) {
			c := newCaller(t, UplinkOptions{Rate: rate}, &porttest.Recognizer{Texts: []string{"one", "two", "three"}})
			c.isQuiet(1000 * ms)
			c.speaks(500 * ms)
			c.isQuiet(100 * ms)
			c.u.Finalize()
			c.isQuiet(140 * ms) // the next pre-roll reaches back beyond the final
			c.speaks(300 * ms)
			c.u.Finalize() // cut in the middle of speech
			c.speaks(300 * ms)
			c.isQuiet(1000 * ms)
			c.wantSamples()

			if len(c.begins) != 3 {
				t.Fatalf("%d utterances, want 3", len(c.begins))
			}
			// Speech is detected in its third frame; the 400 ms before are included.
			first := c.places[0]
			if want := audio.PosOf(1040*ms-400*ms, recognizerRate); first != want {
				t.Errorf("the pre-roll begins at %v, want %v", first.Duration(recognizerRate), want.Duration(recognizerRate))
			}
			for _, n := range c.begins[1:] {
				if gap := c.places[n] - c.places[n-1]; gap != 1 {
					t.Errorf("%d samples are missing between two utterances that are 240 ms apart", gap-1)
				}
			}
			// There are no gaps from there to the end of the third utterance.
			if got := c.places[len(c.places)-1] - first + 1; int(got) != len(c.places) {
				t.Errorf("%d samples over a stretch of %d", len(c.places), got)
			}
		})
	}
}

func TestUplinkPreRollAtTheStartOfTheCall(t *testing.T) {
	c := newCaller(t, UplinkOptions{}, &porttest.Recognizer{})
	c.speaks(100 * ms)
	if len(c.places) == 0 || c.places[0] != 0 || len(c.places) != len(c.said) {
		t.Errorf("%d samples from %v on, want all %d", len(c.places), c.places[:1], len(c.said))
	}
	c.wantSamples()
}

func TestUplinkFacts(t *testing.T) {
	c := newCaller(t, UplinkOptions{}, &porttest.Recognizer{Texts: []string{"hello there my friend"}})
	c.u.Listen()
	c.isQuiet(500 * ms)
	c.want()
	c.speaks(900 * ms)
	c.want("started 1 vad", "partial 1 hello", "partial 1 hello there", "partial 1 hello there my",
		"partial 1 hello there my friend")
	c.isQuiet(200 * ms)
	c.want("stopped 1")
	c.isQuiet(600 * ms)
	c.want("ended 1 easyturn")
	c.isQuiet(1000 * ms)
	c.want() // reported once
	c.u.Finalize()
	c.isQuiet(20 * ms)
	c.want("final 1 hello there my friend")
	c.u.Finalize() // again: there are no more words
	c.isQuiet(20 * ms)
	c.want("final 1")
}

func TestUplinkCountsUtterances(t *testing.T) {
	c := newCaller(t, UplinkOptions{}, nil)
	for n := 1; n <= 3; n++ {
		c.speaks(200 * ms)
		c.isQuiet(400 * ms)
		c.want(fmt.Sprintf("started %d vad", n), fmt.Sprintf("stopped %d", n))
	}
	// A voice is detected after 60 ms.
	if want := []time.Duration{60 * ms, 60 * ms, 60 * ms}; !slices.Equal(c.lags, want) {
		t.Errorf("the voices began %v before they were told, want %v", c.lags, want)
	}
}

// A voice without words must not hold the floor: a final transcript is requested.
func TestUplinkAsksForWordsThatDoNotCome(t *testing.T) {
	c := newCaller(t, UplinkOptions{}, &porttest.Recognizer{Texts: []string{""}})
	c.speaks(300 * ms)
	c.want("started 1 vad")
	c.isQuiet(680 * ms)
	c.want("stopped 1")
	c.isQuiet(20 * ms)
	c.want("final 1")
	c.isQuiet(3000 * ms)
	c.want()
	if got := c.rec.Calls("finalize"); got != 1 {
		t.Errorf("%d calls of Finalize, want 1", got)
	}
}

func TestUplinkAsksForWordsOverTheAgent(t *testing.T) {
	c := newCaller(t, UplinkOptions{}, &porttest.Recognizer{Texts: []string{"mhm"}})
	c.u.Audible(true)
	c.speaks(300 * ms)
	c.isQuiet(700 * ms)
	c.want("started 1 vad", "partial 1 mhm", "stopped 1", "final 1 mhm")
	c.isQuiet(3000 * ms)
	c.want() // no end of turn while the agent can be heard
}

func TestUplinkListenDropsEarlierWords(t *testing.T) {
	c := newCaller(t, UplinkOptions{}, &porttest.Recognizer{Texts: []string{"old words", "new ones then"}})
	c.u.Audible(true)
	c.speaks(400 * ms)
	c.isQuiet(300 * ms)
	c.u.Audible(false)
	c.u.Listen()
	c.isQuiet(3000 * ms)
	c.want("started 1 vad", "partial 1 old", "partial 1 old words", "stopped 1")
	if c.rec.Calls("discard") != 1 {
		t.Errorf("%d calls of Discard, want 1", c.rec.Calls("discard"))
	}
	c.speaks(800 * ms)
	c.isQuiet(800 * ms)
	c.want("started 2 vad", "partial 2 new", "partial 2 new ones", "partial 2 new ones then", "stopped 2", "ended 2 easyturn")
	c.wantSamples()
}

// If the user answers while the agent's last words fade, the answer counts.
func TestUplinkContinueKeepsTheWords(t *testing.T) {
	c := newCaller(t, UplinkOptions{}, &porttest.Recognizer{Texts: []string{"yes please"}})
	c.u.Audible(true)
	c.speaks(500 * ms)
	c.isQuiet(300 * ms)
	c.u.Audible(false)
	c.u.Continue()
	c.isQuiet(800 * ms)
	c.want("started 1 vad", "partial 1 yes", "partial 1 yes please", "stopped 1", "ended 1 easyturn")
	c.u.Finalize()
	c.isQuiet(20 * ms)
	c.want("final 1 yes please")
}

// TestUplinkTurnOverTheAgent checks that a turn ends, whatever the policy, that the user spoke over
// the agent's last words, and of which only silence is left.
func TestUplinkTurnOverTheAgent(t *testing.T) {
	for _, policy := range []turn.Policy{turn.PolicyAuto, turn.PolicySilence, turn.PolicyEasyTurn} {
		for name, begin := range map[string]func(*Uplink){"listen": (*Uplink).Listen, "continue": (*Uplink).Continue} {
			c := newCaller(t, UplinkOptions{Turn: turn.Options{Policy: policy}}, &porttest.Recognizer{Texts: []string{"yes please"}})
			c.u.Audible(true)
			c.speaks(500 * ms)
			c.isQuiet(60 * ms) // the onset detector does not know yet that this is the end
			c.u.Audible(false)
			begin(c.u)
			c.isQuiet(1500 * ms)
			if i := slices.IndexFunc(c.log, func(f string) bool { return strings.HasPrefix(f, "ended 1 ") }); i < 0 {
				t.Errorf("%s, %s: the turn does not end: %q", policy, name, c.log)
			}
		}
	}
}

// TestUplinkTurnFinalOverTheAgent checks that a turn ends at once whose final words have
// interrupted the agent, although no speech follows.
func TestUplinkTurnFinalOverTheAgent(t *testing.T) {
	for _, policy := range []turn.Policy{turn.PolicyAuto, turn.PolicySilence, turn.PolicyEasyTurn} {
		c := newCaller(t, UplinkOptions{Turn: turn.Options{Policy: policy}}, &porttest.Recognizer{Texts: []string{"nope"}})
		c.u.Audible(true)
		c.speaks(300 * ms)
		c.isQuiet(700 * ms)
		c.want("started 1 vad", "partial 1 nope", "stopped 1", "final 1 nope")
		c.u.Audible(false)
		c.isQuiet(700 * ms)
		c.want("ended 1 " + string(policy))
	}
}

func TestUplinkListenWhileTheUserSpeaks(t *testing.T) {
	c := newCaller(t, UplinkOptions{}, &porttest.Recognizer{Texts: []string{"i was first you know"}})
	c.u.Audible(true)
	c.speaks(400 * ms)
	c.u.Audible(false)
	c.u.Listen()
	c.speaks(700 * ms)
	c.isQuiet(800 * ms)
	c.want("started 1 vad", "partial 1 i", "partial 1 i was", "partial 1 i was first", "partial 1 i was first you",
		"partial 1 i was first you know", "stopped 1", "ended 1 easyturn")
}

// A late final transcript belongs to the utterance for which it was requested, and not
// to the current one.
func TestUplinkLateFinalBelongsToItsUtterance(t *testing.T) {
	c := newCaller(t, UplinkOptions{}, &porttest.Recognizer{Texts: []string{"the first one", "the second"}, Late: 40})
	c.speaks(700 * ms)
	c.isQuiet(200 * ms)
	c.u.Finalize()
	c.want("started 1 vad", "partial 1 the", "partial 1 the first", "partial 1 the first one", "stopped 1")
	c.isQuiet(100 * ms)
	c.u.Listen() // the turn was given up
	c.isQuiet(100 * ms)
	c.speaks(300 * ms)
	c.u.Finalize()
	c.speaks(20 * ms)
	c.want("started 2 vad")
	c.isQuiet(600 * ms)
	c.want("stopped 2", "final 1 the first one", "partial 2 the", "partial 2 the second")
	c.isQuiet(200 * ms)
	c.want("ended 2 easyturn", "final 2 the second")
	if c.u.text != "the second" {
		t.Errorf("words of the turn: %q", c.u.text)
	}
}

// If a final transcript is requested again while it is on its way, no empty one is
// reported.
func TestUplinkFinalIsAwaitedOnce(t *testing.T) {
	c := newCaller(t, UplinkOptions{}, &porttest.Recognizer{Texts: []string{"book it"}, Late: 20})
	c.u.Audible(true)
	c.speaks(500 * ms)
	c.isQuiet(700 * ms) // requested automatically
	c.u.Audible(false)
	c.u.Finalize()
	c.isQuiet(800 * ms)
	c.want("started 1 vad", "partial 1 book", "partial 1 book it", "stopped 1", "ended 1 easyturn", "final 1 book it")
	if got := c.rec.Calls("finalize"); got != 1 {
		t.Errorf("%d calls of Finalize, want 1", got)
	}
}

func TestUplinkRecognizerThatNeverAnswers(t *testing.T) {
	rec := &porttest.Recognizer{Texts: []string{"lost", "found"}, Silent: true}
	c := newCaller(t, UplinkOptions{}, rec)
	c.speaks(300 * ms)
	c.isQuiet(200 * ms)
	c.u.Finalize()
	c.isQuiet(time.Second)
	c.want("started 1 vad", "partial 1 lost", "stopped 1")
	c.isQuiet(finalPatience)
	c.u.Finalize()
	c.isQuiet(20 * ms)
	c.want("ended 1 easyturn", "final 1") // nothing is awaited any more
	rec.Silent = false
	c.speaks(300 * ms)
	c.isQuiet(200 * ms)
	c.u.Finalize()
	c.isQuiet(20 * ms)
	c.want("started 2 vad", "partial 2 found", "stopped 2", "final 2 found")

	rec.Silent = true
	for range 50 { // the number of stored requests is limited
		c.speaks(80 * ms)
		c.u.Finalize()
		c.isQuiet(220 * ms)
	}
	if len(c.u.asked) > maxAsked {
		t.Errorf("%d requests are remembered, want at most %d", len(c.u.asked), maxAsked)
	}
}

func TestUplinkRecognizerWithItsOwnEndpoint(t *testing.T) {
	c := newCaller(t, UplinkOptions{Turn: turn.Options{Policy: turn.PolicyRecognizer}},
		&porttest.Recognizer{Texts: []string{"one two", "three"}, Endpoint: 15})
	silent := func(n int) {
		for range n {
			c.frame(make([]int16, 320))
		}
	}
	c.speaks(500 * ms)
	silent(15)
	c.speaks(300 * ms)
	silent(15)
	c.want("started 1 vad", "partial 1 one", "partial 1 one two", "stopped 1", "final 1 one two",
		"started 2 vad", "partial 2 three", "stopped 2", "final 2 three")
	if c.u.text != "one two three" {
		t.Errorf("words of the turn: %q", c.u.text)
	}
}

func TestUplinkRecognizerFails(t *testing.T) {
	broken := errors.New("the line to the engine broke")
	for _, call := range []string{"begin", "write", "finalize", "discard"} {
		t.Run(call, func(t *testing.T) {
			rec := &porttest.Recognizer{Texts: []string{"one", "two"}}
			rec.Fail = func(name string, n int) error {
				if name == call && n == 1 {
					return broken
				}
				return nil
			}
			c := newCaller(t, UplinkOptions{}, rec)
			c.speaks(300 * ms)
			c.isQuiet(240 * ms)
			c.u.Finalize()
			c.isQuiet(40 * ms)
			c.speaks(300 * ms)
			c.isQuiet(240 * ms)
			c.u.Listen()
			c.isQuiet(40 * ms)
			if len(c.errs) != 1 || !errors.Is(c.errs[0], broken) {
				t.Fatalf("errors %v, want the recognizer's, once", c.errs)
			}
			if !c.u.Failed() {
				t.Error("the failure is not known")
			}
			// The uplink continues without recognition: speech is still detected, and
			// requests for a final transcript are answered.
			c.log = nil
			c.speaks(300 * ms)
			c.isQuiet(240 * ms)
			c.u.Finalize()
			c.isQuiet(40 * ms)
			c.want("started 3 vad", "stopped 3", "final 3")

			if err := c.u.Reopen(t.Context()); err != nil {
				t.Fatal(err)
			}
			if c.u.Failed() || rec.OpenStreams() != 1 {
				t.Errorf("failed: %v, with %d streams open", c.u.Failed(), rec.OpenStreams())
			}
			rec.Texts = append(rec.Texts, "three", "four")
			expected := rec.Calls("expect")
			c.speaks(300 * ms)
			c.isQuiet(240 * ms)
			c.u.Finalize()
			c.isQuiet(40 * ms)
			if len(c.log) != 4 || !strings.HasPrefix(c.log[3], "final 4 ") {
				t.Errorf("after the recognizer was replaced: %q", c.log)
			}
			if n := rec.Calls("expect") - expected; n != 1 {
				t.Errorf("the new stream was told %d times what is expected, want once", n)
			}
		})
	}
}

func TestUplinkReopenFails(t *testing.T) {
	rec := &porttest.Recognizer{Fail: func(call string, n int) error {
		if call == "write" || call == "open" && n == 2 {
			return errors.New("no")
		}
		return nil
	}}
	c := newCaller(t, UplinkOptions{}, rec)
	if err := c.u.Reopen(t.Context()); err != nil || rec.Calls("open") != 1 {
		t.Errorf("nothing had failed: error %v, %d calls of Open", err, rec.Calls("open"))
	}
	c.speaks(100 * ms)
	if err := c.u.Reopen(t.Context()); err == nil {
		t.Error("no error")
	}
	if !c.u.Failed() {
		t.Error("it is taken to work")
	}
	if err := c.u.Reopen(t.Context()); err != nil {
		t.Error(err)
	}
	// The stream is never used; Close must still close it, see newCaller.
}

func TestUplinkOpenFails(t *testing.T) {
	rec := &porttest.Recognizer{Fail: func(call string, _ int) error { return errors.New(call) }}
	if _, err := NewUplink(t.Context(), UplinkOptions{Rate: 16000, Recognizer: rec, Post: func(...conv.Event) {}}); err == nil {
		t.Error("no error")
	}
	for _, o := range []UplinkOptions{{}, {Rate: 16000, Turn: turn.Options{Policy: "no such"}}, {Rate: 16000, PreRoll: -1}} {
		if o.PreRoll < 0 {
			o.PreRoll = -time.Second
		}
		if _, err := NewUplink(t.Context(), o); err == nil {
			t.Errorf("options %+v: no error", o)
		}
	}
}

// probe is a detector that records its input.
type probe struct {
	porttest.Detector
	got []int16
}

func (p *probe) Open() (port.DetectorStream, error) { return p, nil }
func (p *probe) Reset()                             {}
func (p *probe) Write(pcm []int16) float64 {
	p.got = append(p.got, pcm...)
	if audio.RMS(pcm) > 0.05 {
		return 0.9
	}
	return 0.1
}

func TestUplinkDetectorHasItsOwnRate(t *testing.T) {
	for _, leg := range legRates {
		for _, rate := range []int{8000, 16000, 24000} {
			d := &probe{Detector: porttest.Detector{SampleRate: rate}}
			c := newCaller(t, UplinkOptions{Rate: leg, Detector: d, Onset: turn.OnsetOptions{
				Thresholds: turn.Thresholds{EnergyHigh: turn.Off, EnergyLow: turn.Off, InterruptEnergy: turn.Off},
			}}, nil)
			c.isQuiet(500 * ms)
			c.speaks(500 * ms)
			c.isQuiet(500 * ms)
			if want := rate * 3 / 2; len(d.got) != want {
				t.Errorf("leg at %d: a detector at %d Hz was given %d samples of 1.5 s, want %d", leg, rate, len(d.got), want)
			}
			c.want("started 1 vad", "stopped 1")
		}
	}
}

func TestUplinkManualPolicy(t *testing.T) {
	c := newCaller(t, UplinkOptions{Turn: turn.Options{Policy: turn.PolicyManual}},
		&porttest.Recognizer{Texts: []string{"one two three"}})
	c.u.Listen()
	c.speaks(700 * ms)
	c.isQuiet(5 * time.Second)
	c.want("started 1 vad", "partial 1 one", "partial 1 one two", "partial 1 one two three", "stopped 1")
	c.u.Release()
	c.isQuiet(20 * ms)
	c.want("ended 1 manual")
	c.isQuiet(time.Second)
	c.want()
	c.u.Listen() // the button is pressed again
	c.isQuiet(time.Second)
	c.want()
	c.u.Release()
	c.isQuiet(20 * ms)
	c.want("ended 1 manual")
}

func TestUplinkNamesTheCause(t *testing.T) {
	for policy, cause := range map[turn.Policy]string{
		turn.PolicyAuto: "auto", turn.PolicyEasyTurn: "easyturn", turn.PolicySilence: "silence", turn.PolicySemantic: "semantic",
	} {
		c := newCaller(t, UplinkOptions{Turn: turn.Options{Policy: policy}}, &porttest.Recognizer{Texts: []string{"one two"}})
		c.speaks(500 * ms)
		c.isQuiet(4 * time.Second)
		c.want("started 1 vad", "partial 1 one", "partial 1 one two", "stopped 1", "ended 1 "+cause)
	}
}

// With the policy energy, the first frame above the thresholds counts while the agent
// can be heard. At other times a click does not count.
func TestUplinkEnergyPolicy(t *testing.T) {
	c := newCaller(t, UplinkOptions{Energy: true}, nil)
	c.isQuiet(200 * ms)
	c.speaks(40 * ms)
	c.isQuiet(400 * ms)
	c.want()
	c.u.Audible(true)
	c.isQuiet(200 * ms)
	c.speaks(20 * ms)
	c.want("started 1 energy")
}

// The agent's own voice, when it comes back, is not the user, and a user who speaks over it is
// heard.
func TestUplinkEcho(t *testing.T) {
	pcm := porttest.Tone(16000, 20*ms)
	for _, o := range []struct {
		name  string
		echo  audio.EchoOptions
		sent  float64 // relative to what is heard
		heard bool
	}{
		{"nothing is sent", audio.EchoOptions{}, 0, true},
		{"an echo of a quarter of the level", audio.EchoOptions{}, 4, false},
		{"none is expected", audio.EchoOptions{Off: true}, 2, true},
		{"a known echo", audio.EchoOptions{Coupling: 0.5}, 2, false},
		{"louder than the known echo", audio.EchoOptions{Coupling: 0.02}, 2, true},
	} {
		c := newCaller(t, UplinkOptions{Echo: o.echo}, nil)
		c.u.Audible(true)
		c.sent = o.sent * audio.RMS(pcm)
		for range 50 {
			c.frame(pcm)
		}
		if heard := len(c.log) > 0; heard != o.heard {
			t.Errorf("%s: facts %q", o.name, c.log)
		}
	}
}

func TestUplinkPause(t *testing.T) {
	c := newCaller(t, UplinkOptions{}, &porttest.Recognizer{Texts: []string{"one two three"}})
	c.speaks(300 * ms)
	c.want("started 1 vad", "partial 1 one")
	c.u.Pause(true)
	before := len(c.places)
	for range 100 { // nothing of it is heard, and no time passes
		if err := c.u.Frame(audio.Frame{Rate: 16000, PCM: make([]int16, 320)}, 0); err != nil {
			t.Fatal(err)
		}
	}
	if len(c.places) != before {
		t.Error("the recognizer hears through the pause")
	}
	c.want()
	c.u.Pause(false)
	c.speaks(300 * ms)
	c.want("partial 1 one two", "partial 1 one two three")
	c.wantSamples()
}

func TestUplinkExpect(t *testing.T) {
	rec := &porttest.Recognizer{Texts: []string{"one two three four"}}
	c := newCaller(t, UplinkOptions{}, rec)
	c.u.Expect(dialog.Expectation{Kind: "digits", Phrases: []string{"one"}})
	c.speaks(900 * ms)
	if rec.Calls("expect") != 1 {
		t.Errorf("the recognizer was told %d times, want once", rec.Calls("expect"))
	}
	c.isQuiet(900 * ms)
	if slices.Contains(c.log, "ended 1 easyturn") {
		t.Error("digits are waited for longer than 900 ms")
	}
	c.isQuiet(3 * time.Second)
	if !slices.Contains(c.log, "ended 1 easyturn") {
		t.Errorf("facts %q, want an end of the turn", c.log)
	}
}

// What the dialogue makes of the words decides when the turn ends, until the turn is over.
func TestUplinkAnswer(t *testing.T) {
	for answer, want := range map[turn.Completeness]time.Duration{
		turn.Undecided: 600 * ms, turn.Complete: 260 * ms, turn.Incomplete: 1500 * ms,
	} {
		c := newCaller(t, UplinkOptions{Turn: turn.Options{Policy: turn.PolicyAuto}}, &porttest.Recognizer{Texts: []string{"one two", "three four"}})
		c.u.Expect(dialog.Expectation{Kind: "integer"})
		said := func() {
			c.speaks(500 * ms)
			c.u.Answer(1, answer)
			c.isQuiet(want - 20*ms)
		}
		said()
		c.want("started 1 vad", "partial 1 one", "partial 1 one two", "stopped 1")
		c.isQuiet(40 * ms)
		c.want("ended 1 auto")
		if answer != turn.Complete {
			continue
		}
		c.u.Finalize()
		c.isQuiet(20 * ms)
		c.want("final 1 one two")
		c.u.Listen() // for the next turn, for which the answer is old
		said()
		c.want("started 2 vad", "partial 2 three", "partial 2 three four", "stopped 2")
		c.isQuiet(200 * ms)
		c.want()
		c.isQuiet(200 * ms)
		c.want("ended 2 auto")
	}
}

// The facts say how late they are: an answer's latency counts from the last word.
func TestUplinkLag(t *testing.T) {
	var stopped, final time.Duration
	var u *Uplink
	at := time.Duration(0)
	rec := &late{end: 500 * ms}
	u, err := NewUplink(t.Context(), UplinkOptions{Rate: 16000, Recognizer: rec, Post: func(events ...conv.Event) {
		for _, ev := range events {
			switch e := ev.(type) {
			case conv.SpeechStopped:
				stopped = at - e.Lag
			case conv.STTFinal:
				final = at - e.Lag
			}
		}
	}})
	if err != nil {
		t.Fatal(err)
	}
	for i := range 60 { // 520 ms of speech, and silence
		pcm := make([]int16, 320)
		if i < 26 {
			pcm = porttest.Tone(16000, 20*ms)
		}
		if i == 50 {
			u.Finalize()
		}
		at += 20 * ms
		if err := u.Frame(audio.Frame{Rate: 16000, PCM: pcm}, 0); err != nil {
			t.Fatal(err)
		}
	}
	if stopped != 520*ms || final != 500*ms {
		t.Errorf("the voice stopped at %v and the last word at %v, expected 520ms and 500ms", stopped, final)
	}
}

// late is a recognizer whose only word ends at a time.
type late struct {
	end  time.Duration
	sink func(port.Transcript)
}

func (r *late) Open(_ context.Context, _ port.RecognizerConfig, sink func(port.Transcript)) (port.RecognizerStream, error) {
	r.sink = sink
	return r, nil
}
func (r *late) Begin() error            { return nil }
func (r *late) Write(audio.Frame) error { return nil }
func (r *late) Expect(port.Expectation) {}
func (r *late) Discard() error          { return nil }
func (r *late) Close() error            { return nil }
func (r *late) Finalize() error {
	r.sink(port.Transcript{Text: "yes", Final: true, End: r.end})
	return nil
}

// An engine's confidence is limited to the range from 0 to 1, as required by traces.
func TestUplinkConfidenceIsAShare(t *testing.T) {
	for given, want := range map[float64]float64{math.NaN(): 0, -1: 0, 0.4: 0.4, 7: 1, math.Inf(1): 1} {
		var got []float64
		rec := &porttest.Recognizer{Texts: []string{"one"}, Confidence: given}
		u, err := NewUplink(t.Context(), UplinkOptions{Rate: 16000, Recognizer: rec, Post: func(events ...conv.Event) {
			for _, ev := range events {
				switch e := ev.(type) {
				case conv.STTPartial:
					got = append(got, e.Confidence)
				case conv.STTFinal:
					got = append(got, e.Confidence)
				}
			}
		}})
		if err != nil {
			t.Fatal(err)
		}
		for i := range 30 {
			if i == 25 {
				u.Finalize()
			}
			if err := u.Frame(audio.Frame{Rate: 16000, PCM: porttest.Tone(16000, 20*ms)}, 0); err != nil {
				t.Fatal(err)
			}
		}
		if !slices.Equal(got, []float64{want, want}) {
			t.Errorf("confidence %v: events have %v, want %v twice", given, got, want)
		}
		if err := u.Close(); err != nil {
			t.Error(err)
		}
	}
}

func TestUplinkFeatures(t *testing.T) {
	var seen []Features
	c := newCaller(t, UplinkOptions{Features: func(f Features) { seen = append(seen, f) }, Detector: &porttest.Detector{}}, nil)
	c.speaks(100 * ms)
	c.isQuiet(100 * ms)
	if len(seen) != 10 {
		t.Fatalf("%d features of 10 frames", len(seen))
	}
	for i, f := range seen {
		if f.Acoustic.At != time.Duration(i+1)*20*ms {
			t.Errorf("frame %d ends at %v", i, f.Acoustic.At)
		}
		if loud := i < 5; (f.Acoustic.VAD > 0.5) != loud || (f.Acoustic.Energy > 0.02) != loud {
			t.Errorf("frame %d: %+v", i, f.Acoustic)
		}
	}
}

func TestUplinkFrameAllocatesNothing(t *testing.T) {
	if raceEnabled {
		t.Skip("the race detector allocates")
	}
	for _, rate := range legRates {
		for _, loud := range []bool{false, true} {
			rec := &porttest.Recognizer{}
			c := newCaller(t, UplinkOptions{Rate: rate, Detector: &porttest.Detector{SampleRate: 8000}}, rec)
			rec.Heard = nil
			c.u.Listen()
			c.frames(50, loud) // afterwards the events of the beginning were posted and all buffers have grown
			pcm := make([]int16, audio.FrameSamples(rate))
			for i := range pcm {
				pcm[i] = sample(i, loud)
			}
			f := audio.Frame{Rate: rate, PCM: pcm}
			if n := testing.AllocsPerRun(100, func() {
				if err := c.u.Frame(f, 0.01); err != nil {
					t.Fatal(err)
				}
			}); n != 0 {
				t.Errorf("%d Hz, speech %v: %v allocations a frame", rate, loud, n)
			}
		}
	}
}

// The policy may change during a call. The new policy ends the current turn and all
// later ones.
func TestUplinkConfigure(t *testing.T) {
	after := func(d time.Duration) turn.Options {
		return turn.Options{Policy: turn.PolicySilence, Silence: turn.SilenceOptions{After: d}}
	}
	c := newCaller(t, UplinkOptions{Turn: after(2 * time.Second)}, nil)
	c.isQuiet(200 * time.Millisecond)
	c.speaks(400 * time.Millisecond)
	if err := c.u.Configure(after(300*time.Millisecond), turn.OnsetOptions{}); err != nil {
		t.Fatal(err)
	}
	c.speaks(100 * time.Millisecond)
	c.isQuiet(500 * time.Millisecond)
	c.want("started 1 vad", "stopped 1", "ended 1 silence")
	if err := c.u.Configure(turn.Options{Policy: "telepathy"}, turn.OnsetOptions{}); err == nil {
		t.Error("a policy that does not exist is taken")
	}
	if err := c.u.Configure(turn.Options{}, turn.OnsetOptions{MaxBetween: -1}); err == nil {
		t.Error("an impossible number is taken")
	}
}

// Discard also drops speech that continues. What follows begins a new utterance.
func TestUplinkDiscard(t *testing.T) {
	rec := &porttest.Recognizer{Texts: []string{"first", "second"}}
	c := newCaller(t, UplinkOptions{Turn: turn.Options{Policy: turn.PolicySilence}}, rec)
	c.isQuiet(200 * time.Millisecond)
	c.speaks(400 * time.Millisecond)
	c.u.Discard()
	c.isQuiet(time.Second)
	for _, fact := range c.log {
		if strings.HasPrefix(fact, "ended") || strings.HasPrefix(fact, "final") || strings.HasPrefix(fact, "stopped") {
			t.Errorf("told of what was discarded: %s", fact)
		}
	}
	n := len(c.log)
	c.speaks(400 * time.Millisecond)
	c.isQuiet(time.Second)
	if rest := strings.Join(c.log[n:], ", "); !strings.HasPrefix(rest, "started 2 vad") || !strings.Contains(rest, "ended 2 silence") {
		t.Errorf("behind it: %s", rest)
	}
}

// Without a frame, requests are still handled and results reported, but no time passes.
func TestUplinkIdle(t *testing.T) {
	rec := &porttest.Recognizer{Texts: []string{"hello"}}
	c := newCaller(t, UplinkOptions{Turn: turn.Options{Policy: turn.PolicySilence}}, rec)
	c.isQuiet(200 * time.Millisecond)
	c.speaks(400 * time.Millisecond)
	c.u.Finalize()
	for range 100 {
		if err := c.u.Idle(); err != nil {
			t.Fatal(err)
		}
	}
	if last := c.log[len(c.log)-1]; last != "final 1 hello" {
		t.Errorf("the last fact is %q", last)
	}
}
