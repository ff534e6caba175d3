//go:build pocketsphinx && cgo

package pocketsphinx

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/hocketvoice/hocket/audio"
	"github.com/hocketvoice/hocket/internal/edits"
	"github.com/hocketvoice/hocket/port"
)

const frame = Rate / 50

func newRecognizer(tb testing.TB, o Options) *Recognizer {
	tb.Helper()
	r, err := New(o)
	if err != nil {
		if _, missing := os.Stat(modelDir); missing != nil && o.AcousticModel == "" {
			tb.Skip("the English model (Debian's pocketsphinx-en-us) is not installed")
		}
		tb.Fatal(err)
	}
	tb.Cleanup(func() {
		if err := r.Close(); err != nil {
			tb.Error(err)
		}
	})
	return r
}

// caller writes to a stream and records each result with its position.
type caller struct {
	tb     testing.TB
	s      *Stream
	pos    audio.Pos
	place  string
	log    []string
	got    []port.Transcript
	finals int
}

func newCaller(tb testing.TB, r *Recognizer) *caller {
	tb.Helper()
	c := &caller{tb: tb}
	s, err := r.Open(context.Background(), port.RecognizerConfig{Rate: Rate, Language: "en-US"}, func(t port.Transcript) {
		c.log = append(c.log, fmt.Sprintf("%s: %+v", c.place, t))
		c.got = append(c.got, t)
		if t.Final {
			c.finals++
		}
	})
	if err != nil {
		tb.Fatal(err)
	}
	c.s = s.(*Stream)
	return c
}

func (c *caller) must(err error) {
	c.tb.Helper()
	if err != nil {
		c.tb.Fatal(err)
	}
}

// write passes the sound in frames of 20 ms.
func (c *caller) write(pcm []int16) {
	c.tb.Helper()
	for len(pcm) > 0 {
		n := min(frame, len(pcm))
		c.place = strconv.Itoa(int(c.pos))
		c.must(c.s.Write(audio.Frame{Pos: c.pos, Rate: Rate, PCM: pcm[:n]}))
		c.pos += audio.Pos(n)
		pcm = pcm[n:]
	}
}

// say speaks one utterance and returns its final transcript.
func (c *caller) say(pcm []int16) port.Transcript {
	c.tb.Helper()
	c.must(c.s.Begin())
	c.write(pcm)
	c.place = "final"
	before := c.finals
	c.must(c.s.Finalize())
	if c.finals != before+1 {
		c.tb.Fatalf("Finalize gave %d finals, want 1", c.finals-before)
	}
	return c.got[len(c.got)-1]
}

func (c *caller) close() {
	c.tb.Helper()
	c.must(c.s.Close())
}

func phrase(tb testing.TB, name string) []int16 {
	return recording(tb, filepath.Join(dataDir(tb), "vap-phrases", "audio", name+".wav"), 400*time.Millisecond, 600*time.Millisecond)
}

func tau2(tb testing.TB, name string) []int16 {
	return recording(tb, filepath.Join(dataDir(tb), "tau2-voice", name+".wav"), 300*time.Millisecond, 500*time.Millisecond)
}

func noise(tb testing.TB, name string) []int16 {
	pcm := recording(tb, filepath.Join(dataDir(tb), "esc10-noise", name+".wav"), 0, 0)
	return pcm[:min(len(pcm), 2*Rate)]
}

func TestPhrasesAreUnderstood(t *testing.T) {
	c := newCaller(t, newRecognizer(t, Options{}))
	defer c.close()
	wrong, words := 0, 0
	for _, p := range []struct{ file, text string }{
		{"student_long_female_en-US-Wavenet-E", "are you a student here at this university"},
		{"basketball_long_male_en-US-Wavenet-B", "so do you play basketball on thursdays"},
		{"first_year_short_male_en-US-Wavenet-B", "are you a first year student"},
	} {
		f := c.say(phrase(t, p.file))
		e, n := edits.WordErrors(p.text, f.Text)
		wrong, words = wrong+e, words+n
		if f.Confidence < 0.6 {
			t.Errorf("%s: confidence %.2f of %q, clear speech is expected to have 0.6 at least", p.file, f.Confidence, f.Text)
		}
		if f.Text != strings.ToLower(f.Text) || strings.ContainsAny(f.Text, "(<[,.?") {
			t.Errorf("%q is not plain lower-case text", f.Text)
		}
	}
	if wrong > 2 {
		t.Errorf("%d of %d words are wrong", wrong, words)
	}
}

func TestPartialsComeEvery100ms(t *testing.T) {
	c := newCaller(t, newRecognizer(t, Options{}))
	defer c.close()
	pcm := phrase(t, "student_long_female_en-US-Wavenet-E")
	final := c.say(pcm)
	var places []int
	for i, g := range c.got[:len(c.got)-1] {
		if g.Final || g.Text == "" || g.Confidence < 0 || g.Confidence > 1 {
			t.Errorf("partial %+v", g)
		}
		at, _ := strconv.Atoi(c.log[i][:strings.IndexByte(c.log[i], ':')])
		places = append(places, at)
	}
	if len(places) < 10 {
		t.Fatalf("%d partials of %v of sound", len(places), audio.Pos(len(pcm)).Duration(Rate))
	}
	for i := 1; i < len(places); i++ {
		if d := places[i] - places[i-1]; d != Rate/10 {
			t.Errorf("partials %d samples apart, want %d", d, Rate/10)
		}
	}
	// The first word begins at 0.4 s.
	if first := audio.Pos(places[0]).Duration(Rate); first > 1100*time.Millisecond {
		t.Errorf("the first partial comes at %v", first)
	}
	if last := c.got[len(c.got)-2]; last.Text != final.Text {
		t.Logf("last partial %q, final %q", last.Text, final.Text)
	}
}

func TestTimesAreThoseOfTheStream(t *testing.T) {
	c := newCaller(t, newRecognizer(t, Options{}))
	defer c.close()
	pcm := phrase(t, "student_long_female_en-US-Wavenet-E")
	c.write(make([]int16, 10*Rate)) // nobody speaks for ten seconds
	f := c.say(pcm)
	// The alignment of the recording: words from 0 to 2.13 s, after 0.4 s of silence.
	for _, tc := range []struct {
		what      string
		got, want time.Duration
	}{
		{"start", f.Start, 10400 * time.Millisecond},
		{"end", f.End, 12530 * time.Millisecond},
	} {
		if d := (tc.got - tc.want).Abs(); d > 120*time.Millisecond {
			t.Errorf("%s %v, want %v", tc.what, tc.got, tc.want)
		}
	}
}

func TestTheSameSoundGivesTheSameResults(t *testing.T) {
	r := newRecognizer(t, Options{MaxStreams: 1})
	script := func(c *caller) []string {
		c.say(phrase(t, "bike_short_male_en-US-Wavenet-B"))
		c.s.Expect(port.Expectation{Phrases: []string{"yes", "no"}})
		c.say(tau2(t, "yes"))
		c.s.Expect(port.Expectation{})
		c.say(tau2(t, "thank_you"))
		c.close()
		return c.log
	}
	fresh := script(newCaller(t, r))
	// Another caller, loud and noisy, now uses the only decoder and is interrupted.
	other := newCaller(t, r)
	other.s.Expect(port.Expectation{Phrases: []string{"one | two | three"}})
	other.say(noise(t, "chainsaw/1-116765-A"))
	other.must(other.s.Begin())
	other.write(phrase(t, "work_short_female_en-US-Wavenet-C")[:Rate])
	other.must(other.s.Discard())
	other.must(other.s.Begin())
	other.write(phrase(t, "work_short_female_en-US-Wavenet-C")[:Rate])
	other.close()
	recycled := script(newCaller(t, r))
	if !slices.Equal(fresh, recycled) {
		t.Errorf("a recycled decoder gives\n%s\na fresh one\n%s", strings.Join(recycled, "\n"), strings.Join(fresh, "\n"))
	}
}

func TestStreamsDoNotDisturbEachOther(t *testing.T) {
	r := newRecognizer(t, Options{})
	pcm := tau2(t, "order_status")
	alone := newCaller(t, r)
	alone.s.Expect(port.Expectation{Phrases: []string{"[my] order status"}})
	alone.say(pcm)
	alone.close()
	var wg sync.WaitGroup
	logs := make([][]string, 3)
	for i := range logs {
		c := newCaller(t, r)
		wg.Go(func() {
			c.s.Expect(port.Expectation{Phrases: []string{"[my] order status"}})
			c.say(pcm)
			c.close()
			logs[i] = c.log
		})
	}
	wg.Wait()
	for i, l := range logs {
		if !slices.Equal(l, alone.log) {
			t.Errorf("stream %d differs from one that runs alone:\n%s\n%s", i, strings.Join(l, "\n"), strings.Join(alone.log, "\n"))
		}
	}
}

func TestExpectedPhrasesArePreferred(t *testing.T) {
	c := newCaller(t, newRecognizer(t, Options{}))
	defer c.close()
	for _, tc := range []struct {
		file    string
		phrases []string
		want    string
		least   float64
	}{
		{"yes", []string{"yes", "no"}, "yes", 0.6},
		{"no", []string{"yes", "no"}, "no", 0.1}, // in telephone quality, close to "now"
		{"hello", []string{"hello", "good morning", "good bye"}, "hello", 0.5},
		{"thank_you", []string{"thank you [very much]", "good bye"}, "thank you very much", 0.6},
	} {
		c.s.Expect(port.Expectation{Phrases: tc.phrases})
		f := c.say(tau2(t, tc.file))
		if !f.Expected || f.Text != tc.want || f.Confidence < tc.least {
			t.Errorf("%s with %q: %+v, want %q, expected, confidence %.1f at least", tc.file, tc.phrases, f, tc.want, tc.least)
		}
	}
}

func TestOtherSpeechIsNotForcedIntoTheGrammar(t *testing.T) {
	c := newCaller(t, newRecognizer(t, Options{}))
	defer c.close()
	c.s.Expect(port.Expectation{Kind: "city", Phrases: []string{"[i want to (fly | go) to] (london | paris | berlin | new york)", "yes", "no"}})
	for _, p := range []struct{ file, text string }{
		{"student_long_female_en-US-Wavenet-E", "are you a student here at this university"},
		{"bike_long_male_en-US-Wavenet-B", "did you come here by bike this morning"},
	} {
		f := c.say(phrase(t, p.file))
		if e, n := edits.WordErrors(p.text, f.Text); f.Expected || e*2 > n {
			t.Errorf("%s: %+v, want the words that were said", p.file, f)
		}
	}
}

func TestExpectationHoldsFromTheNextBegin(t *testing.T) {
	c := newCaller(t, newRecognizer(t, Options{}))
	defer c.close()
	c.must(c.s.Begin())
	c.s.Expect(port.Expectation{Phrases: []string{"yes", "no"}})
	if f := c.say(tau2(t, "yes")); f.Expected {
		t.Errorf("the expectation changed an open utterance: %+v", f)
	}
	if f := c.say(tau2(t, "yes")); !f.Expected {
		t.Errorf("the expectation does not hold at the next Begin: %+v", f)
	}
}

func TestUnknownWordsAreReported(t *testing.T) {
	c := newCaller(t, newRecognizer(t, Options{}))
	defer c.close()
	c.s.Expect(port.Expectation{Phrases: []string{"yes", "no | qwrtzy", "<sil>", "((", "hello(2)"}})
	report := fmt.Sprint(c.s.Dropped())
	for _, w := range []string{"qwrtzy", "rule reference", "not closed"} {
		if !strings.Contains(report, w) {
			t.Errorf("Dropped() = %s, does not mention %q", report, w)
		}
	}
	if f := c.say(tau2(t, "no")); f.Text != "no" || !f.Expected {
		t.Errorf("what is left of the expectation does not work: %+v", f)
	}
}

func TestNoiseIsNotBelieved(t *testing.T) {
	c := newCaller(t, newRecognizer(t, Options{}))
	defer c.close()
	for _, n := range []string{"rain/1-17367-A", "chainsaw/1-116765-A", "sea_waves/1-28135-A"} {
		if f := c.say(noise(t, n)); f.Text != "" && f.Confidence >= 0.6 {
			t.Errorf("%s is %q with confidence %.2f", n, f.Text, f.Confidence)
		}
	}
}

func TestUtterances(t *testing.T) {
	c := newCaller(t, newRecognizer(t, Options{}))
	yes := tau2(t, "yes")
	if f := c.say(nil); f.Text != "" || !f.Final {
		t.Errorf("an utterance without sound: %+v", f)
	}
	if f := c.say(make([]int16, Rate)); f.Text != "" {
		t.Errorf("a second of silence: %+v", f)
	}
	if f := c.say(yes[:7]); f.Text != "" {
		t.Errorf("seven samples: %+v", f)
	}
	c.must(c.s.Finalize())
	c.must(c.s.Discard())
	c.write(yes)
	n := len(c.got)
	if n != 3 {
		t.Errorf("results outside utterances: %v", c.log)
	}
	c.must(c.s.Begin())
	c.write(yes[:len(yes)/2])
	c.must(c.s.Begin()) // continues the utterance
	c.write(yes[len(yes)/2:])
	c.must(c.s.Finalize())
	if f := c.got[len(c.got)-1]; f.Text == "" || !f.Final {
		t.Errorf("Begin within an utterance broke it: %+v", f)
	}
	finals := c.finals
	c.must(c.s.Begin())
	c.write(yes)
	c.must(c.s.Discard())
	if c.finals != finals {
		t.Error("Discard gave a final")
	}
	c.close()
	c.close()
	for what, err := range map[string]error{"Begin": c.s.Begin(), "Write": c.s.Write(audio.Frame{Rate: Rate}), "Finalize": c.s.Finalize(), "Discard": c.s.Discard()} {
		if !errors.Is(err, ErrClosed) {
			t.Errorf("%s after Close: %v, want ErrClosed", what, err)
		}
	}
	c.s.Expect(port.Expectation{Phrases: []string{"yes"}})
}

func TestAnEndlessUtteranceIsBounded(t *testing.T) {
	c := newCaller(t, newRecognizer(t, Options{MaxUtterance: time.Second, MaxSecondPass: -1}))
	defer c.close()
	c.must(c.s.Begin())
	c.write(make([]int16, 3*Rate))
	if n := len(c.s.pcm); n != Rate {
		t.Errorf("%d samples are kept, want %d", n, Rate)
	}
	c.must(c.s.Finalize())
}

func TestOpenIsBounded(t *testing.T) {
	r := newRecognizer(t, Options{MaxStreams: 1})
	open := func() (port.RecognizerStream, error) {
		return r.Open(context.Background(), port.RecognizerConfig{Rate: Rate}, func(port.Transcript) {})
	}
	s, err := open()
	if err != nil {
		t.Fatal(err)
	}
	if _, err := open(); !errors.Is(err, ErrBusy) {
		t.Errorf("a second stream: %v, want ErrBusy", err)
	}
	if err := s.Close(); err != nil {
		t.Error(err)
	}
	s, err = open()
	if err != nil {
		t.Fatalf("after Close: %v", err)
	}
	if err := r.Close(); err != nil {
		t.Error(err)
	}
	if _, err := open(); !errors.Is(err, ErrClosed) {
		t.Errorf("after the recognizer's Close: %v, want ErrClosed", err)
	}
	if err := s.Close(); err != nil {
		t.Error(err)
	}
}

// TestSilentCallersLendTheirDecoders checks that callers who are away do not keep others out: a
// stream in use keeps its decoder, a silent one gets it back when it has something to hear.
func TestSilentCallersLendTheirDecoders(t *testing.T) {
	r := newRecognizer(t, Options{MaxStreams: 2})
	synctest.Test(t, func(t *testing.T) {
		open := func() *Stream {
			t.Helper()
			s, err := r.Open(t.Context(), port.RecognizerConfig{Rate: Rate}, func(port.Transcript) {})
			if err != nil {
				t.Fatal(err)
			}
			return s.(*Stream)
		}
		busy := func(when string) {
			t.Helper()
			if s, err := r.Open(t.Context(), port.RecognizerConfig{Rate: Rate}, func(port.Transcript) {}); !errors.Is(err, ErrBusy) {
				t.Errorf("%s: a third stream: %v, %v, want ErrBusy", when, s, err)
			}
		}
		must := func(err error) {
			t.Helper()
			if err != nil {
				t.Error(err)
			}
		}
		speaking, away := open(), open()
		must(speaking.Begin())
		busy("both are new")
		time.Sleep(lendAfter - time.Millisecond)
		busy("before the time")
		time.Sleep(time.Millisecond)
		third := open()
		busy("one speaks, one is new")

		away.Expect(port.Expectation{Phrases: []string{"yes", "qqzxy"}})
		if err := away.Begin(); !errors.Is(err, ErrBusy) {
			t.Errorf("Begin while all decoders are in use: %v, want ErrBusy", err)
		}
		must(third.Begin())
		must(third.Discard())
		must(third.Close())
		must(away.Begin())
		if d := away.Dropped(); len(d) != 1 || d[0].Phrase != "qqzxy" {
			t.Errorf("of what was expected meanwhile, %v is dropped: want the word that is not in the dictionary", d)
		}
		must(away.Write(audio.Frame{Rate: Rate, PCM: make([]int16, frame)}))
		must(away.Finalize())

		time.Sleep(2 * lendAfter)
		must(speaking.Write(audio.Frame{Rate: Rate, PCM: make([]int16, frame)}))
		third = open() // away's; speaking is in an utterance
		must(speaking.Finalize())
		must(away.Close())
		busy("after a stream without a decoder was closed")
		must(speaking.Close())
		must(third.Close())
		if err := away.Begin(); !errors.Is(err, ErrClosed) {
			t.Errorf("Begin after Close: %v, want ErrClosed", err)
		}
		if len(r.holders) != 0 || r.used != 0 || len(r.idle) != 2 {
			t.Errorf("%d holders, %d decoders in use, %d idle: want 0, 0, 2", len(r.holders), r.used, len(r.idle))
		}
	})
}

func TestBadInputIsRefused(t *testing.T) {
	r := newRecognizer(t, Options{})
	sink := func(port.Transcript) {}
	ended, cancel := context.WithCancel(context.Background())
	cancel()
	for _, tc := range []struct {
		ctx  context.Context
		cfg  port.RecognizerConfig
		sink func(port.Transcript)
		want string
	}{
		{context.Background(), port.RecognizerConfig{Rate: 8000}, sink, "expected 16000"},
		{context.Background(), port.RecognizerConfig{Rate: Rate, Language: "de"}, sink, "expected en"},
		{context.Background(), port.RecognizerConfig{Rate: Rate}, nil, "sink"},
		{ended, port.RecognizerConfig{Rate: Rate}, sink, "canceled"},
	} {
		if _, err := r.Open(tc.ctx, tc.cfg, tc.sink); err == nil || !strings.Contains(err.Error(), tc.want) {
			t.Errorf("Open(%+v) = %v, want an error with %q", tc.cfg, err, tc.want)
		}
	}
	c := newCaller(t, r)
	defer c.close()
	if err := c.s.Write(audio.Frame{Rate: 8000, PCM: make([]int16, 160)}); err == nil || !strings.Contains(err.Error(), "expected 16000") {
		t.Errorf("a frame at 8 kHz: %v", err)
	}
	for _, o := range []Options{{AcousticModel: "/nowhere"}, {LanguageModel: "/nowhere/lm"}, {Dictionary: t.TempDir()}} {
		if _, err := New(o); err == nil || !strings.HasPrefix(err.Error(), "pocketsphinx: ") {
			t.Errorf("New(%+v) = %v", o, err)
		}
	}
	empty := filepath.Join(t.TempDir(), "lm.bin")
	if err := os.WriteFile(empty, []byte("no language model"), 0o644); err != nil {
		t.Fatal(err)
	}
	if _, err := New(Options{LanguageModel: empty}); err == nil {
		t.Error("a broken language model is accepted")
	} else {
		t.Log(err)
	}
}

func TestWriteAllocatesNothing(t *testing.T) {
	c := newCaller(t, newRecognizer(t, Options{Partial: time.Hour}))
	defer c.close()
	pcm := phrase(t, "bike_short_male_en-US-Wavenet-B")
	c.must(c.s.Begin())
	f := audio.Frame{Rate: Rate}
	at := 0
	write := func() {
		f.PCM = pcm[at : at+frame]
		if err := c.s.Write(f); err != nil {
			t.Fatal(err)
		}
		at += frame
	}
	// Measure without partial results, which allocate strings.
	if n := testing.AllocsPerRun(50, write); n != 0 {
		t.Errorf("Write allocates %.1f times", n)
	}
	c.must(c.s.Discard())
}

// residentBytes returns the resident memory of the process.
func residentBytes(tb testing.TB) int {
	b, err := os.ReadFile("/proc/self/statm")
	if err != nil {
		tb.Skip("memory cannot be measured here: there is no /proc/self/statm")
	}
	pages, err := strconv.Atoi(strings.Fields(string(b))[1])
	if err != nil {
		tb.Fatal(err)
	}
	return pages * os.Getpagesize()
}

func TestMemoryStaysFlat(t *testing.T) {
	r := newRecognizer(t, Options{MaxStreams: 1, MaxSecondPass: -1})
	yes := tau2(t, "yes")[Rate/10 : 9*Rate/10]
	round := func(n int) {
		c := newCaller(t, r)
		for i := range n {
			c.s.Expect(port.Expectation{Phrases: []string{"yes", "no", strings.Repeat("maybe ", 1+i%3)}})
			c.say(yes)
			c.log, c.got = nil, nil
		}
		c.close()
	}
	round(30)
	before := residentBytes(t)
	round(60)
	if grown := residentBytes(t) - before; grown > 3<<20 {
		t.Errorf("60 utterances left %d KB behind", grown>>10)
	}
}
