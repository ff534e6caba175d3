//go:build flite && cgo

package flite

import (
	"context"
	"encoding/binary"
	"errors"
	"hash/fnv"
	"os"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/hocketvoice/hocket/audio"
	"github.com/hocketvoice/hocket/port"
)

func newSynthesizer(tb testing.TB, o Options) *Synthesizer {
	tb.Helper()
	s, err := New(o)
	if err != nil {
		tb.Fatal(err)
	}
	return s
}

// speech is everything that one Speak emitted.
type speech struct {
	pcm    []int16
	marks  []port.Mark
	pieces []int // samples of each piece
}

func (s speech) hash() uint64 {
	h := fnv.New64a()
	var b [2]byte
	for _, v := range s.pcm {
		binary.LittleEndian.PutUint16(b[:], uint16(v))
		h.Write(b[:])
	}
	return h.Sum64()
}

func say(s *Synthesizer, u port.Utterance) (speech, error) {
	var out speech
	err := s.Speak(context.Background(), u, func(p port.Speech) error {
		out.pcm = append(out.pcm, p.PCM...)
		out.marks = append(out.marks, p.Marks...)
		if len(p.PCM) > 0 {
			out.pieces = append(out.pieces, len(p.PCM))
		}
		return nil
	})
	return out, err
}

func mustSay(tb testing.TB, s *Synthesizer, u port.Utterance) speech {
	tb.Helper()
	out, err := say(s, u)
	if err != nil {
		tb.Fatal(err)
	}
	return out
}

const sentence = "Your flight from Berlin to London leaves at 10:45, and has one stop in Amsterdam."

func TestSpeakStreamsEveryVoice(t *testing.T) {
	seen := map[uint64]string{}
	for _, voice := range Voices() {
		out := mustSay(t, newSynthesizer(t, Options{Voice: voice}), port.Utterance{Text: sentence})
		if d := audio.Pos(len(out.pcm)).Duration(Rate); d < 3*time.Second || d > 9*time.Second {
			t.Errorf("%s speaks for %v", voice, d)
		}
		if out.pieces[0] > 3*pieceSamples || len(out.pieces) < 50 {
			t.Errorf("%s does not stream: first piece %d samples, %d pieces", voice, out.pieces[0], len(out.pieces))
		}
		var energy float64
		for _, v := range out.pcm {
			energy += float64(v) * float64(v)
		}
		if energy/float64(len(out.pcm)) < 200*200 {
			t.Errorf("%s is nearly silent", voice)
		}
		if other, ok := seen[out.hash()]; ok {
			t.Errorf("%s sounds like %s", voice, other)
		}
		seen[out.hash()] = voice
	}
}

func TestSpeechStartsWithoutFlitesPause(t *testing.T) {
	out := mustSay(t, newSynthesizer(t, Options{}), port.Utterance{Text: sentence})
	for i, v := range out.pcm {
		if v > 500 || v < -500 {
			if d := audio.Pos(i).Duration(Rate); d > 150*time.Millisecond {
				t.Errorf("the first sound comes after %v of silence", d)
			}
			return
		}
	}
	t.Error("no sound at all")
}

func TestMarksFollowTheWords(t *testing.T) {
	text := "“Hello, Zoë!” It’s 10:45 — your café is open. 👍 Bye"
	for _, voice := range Voices() {
		out := mustSay(t, newSynthesizer(t, Options{Voice: voice}), port.Utterance{Text: text})
		at, offset := audio.Pos(0), 0
		words := map[string]bool{}
		for _, m := range out.marks {
			if m.At < at || m.Text < offset {
				t.Fatalf("%s: mark %+v after (%d, %d)", voice, m, at, offset)
			}
			at, offset = m.At, m.Text
			if m.Text < len(text) {
				words[strings.Fields(text[m.Text:])[0]] = true
			}
		}
		for _, w := range []string{"“Hello,", "Zoë!”", "It’s", "10:45", "your", "café", "is", "open.", "Bye"} {
			if !words[w] {
				t.Errorf("%s: no mark on %q", voice, w)
			}
		}
		last := out.marks[len(out.marks)-1]
		if last.Text != len(text) || last.At != audio.Pos(len(out.pcm)) {
			t.Errorf("%s: last mark %+v, want (%d, %d)", voice, last, len(out.pcm), len(text))
		}
		if out.marks[0].At > Rate/50 {
			t.Errorf("%s: the first word begins at sample %d", voice, out.marks[0].At)
		}
	}
}

func TestMarksComeNoLaterThanTheirSound(t *testing.T) {
	s := newSynthesizer(t, Options{})
	var at audio.Pos
	err := s.Speak(context.Background(), port.Utterance{Text: sentence}, func(p port.Speech) error {
		end := at + audio.Pos(len(p.PCM))
		for _, m := range p.Marks {
			if m.At < at || m.At > end {
				t.Errorf("mark at %d in the piece [%d, %d)", m.At, at, end)
			}
		}
		at = end
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

// The vocoder's noise comes from the process-wide rand of libc unless the
// package replaces it; see shim.c.
func TestSamplesAreTheSameAlwaysAndUnderLoad(t *testing.T) {
	s := newSynthesizer(t, Options{})
	us := []port.Utterance{
		{Text: sentence},
		{Text: "Yes.", Voice: "rms"},
		{Text: "Could you tell me your name, please?", Voice: "rms", Rate: 1.25},
		{Text: "One moment.", Voice: "kal16"},
	}
	want := make([]uint64, len(us))
	for i, u := range us {
		want[i] = mustSay(t, s, u).hash()
	}
	var wg sync.WaitGroup
	for g := range 16 {
		wg.Go(func() {
			for k := range 3 {
				i := (g + k) % len(us)
				out, err := say(s, us[i])
				if err != nil || out.hash() != want[i] {
					t.Errorf("goroutine %d: %q differs under load (%v)", g, us[i].Text, err)
				}
			}
		})
	}
	wg.Wait()
}

func TestSpeakWithinEmit(t *testing.T) {
	s := newSynthesizer(t, Options{})
	want := mustSay(t, s, port.Utterance{Text: "Good morning."}).hash()
	var outer speech
	inner := false
	err := s.Speak(context.Background(), port.Utterance{Text: "Good morning."}, func(p port.Speech) error {
		outer.pcm = append(outer.pcm, p.PCM...)
		if !inner {
			inner = true
			out, err := say(s, port.Utterance{Text: "Good morning."})
			if err != nil || out.hash() != want {
				t.Errorf("speech within emit differs (%v)", err)
			}
		}
		return nil
	})
	if err != nil || outer.hash() != want {
		t.Errorf("speech around another differs (%v)", err)
	}
}

func TestCancellationStopsWithinOnePiece(t *testing.T) {
	s := newSynthesizer(t, Options{})
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	calls := 0
	err := s.Speak(ctx, port.Utterance{Text: sentence}, func(port.Speech) error {
		calls++
		if calls == 3 {
			cancel()
		}
		return nil
	})
	if !errors.Is(err, context.Canceled) || calls != 3 {
		t.Errorf("after cancel: %v, %d pieces, want context.Canceled and 3", err, calls)
	}
	if err := s.Speak(ctx, port.Utterance{Text: "No."}, func(port.Speech) error {
		t.Error("emit after the end of ctx")
		return nil
	}); !errors.Is(err, context.Canceled) {
		t.Errorf("with an ended ctx: %v", err)
	}
}

func TestEmitErrorIsReturned(t *testing.T) {
	s := newSynthesizer(t, Options{})
	unwanted := errors.New("unwanted")
	for stop := 1; stop <= 300; stop += 37 {
		calls := 0
		err := s.Speak(context.Background(), port.Utterance{Text: sentence}, func(port.Speech) error {
			calls++
			if calls == stop {
				return unwanted
			}
			return nil
		})
		if !errors.Is(err, unwanted) || calls != stop {
			t.Errorf("Speak = %v after %d pieces, want the error of emit after %d", err, calls, stop)
		}
	}
}

func TestPace(t *testing.T) {
	s := newSynthesizer(t, Options{})
	for _, voice := range Voices() {
		one := len(mustSay(t, s, port.Utterance{Text: sentence, Voice: voice}).pcm)
		fast := mustSay(t, s, port.Utterance{Text: sentence, Voice: voice, Rate: 2})
		slow := mustSay(t, s, port.Utterance{Text: sentence, Voice: voice, Rate: 0.5})
		if r := float64(len(fast.pcm)) / float64(one); r < 0.4 || r > 0.62 {
			t.Errorf("%s at rate 2 takes %.2f of the time", voice, r)
		}
		if r := float64(len(slow.pcm)) / float64(one); r < 1.7 || r > 2.3 {
			t.Errorf("%s at rate 0.5 takes %.2f of the time", voice, r)
		}
	}
}

func TestBadUtterancesAreRefused(t *testing.T) {
	s := newSynthesizer(t, Options{})
	for _, u := range []port.Utterance{
		{Text: "x", Voice: "nobody"},
		{Text: "x", Language: "de-DE"},
		{Text: "x", Rate: -1},
		{Text: "x", Rate: 100},
	} {
		if _, err := say(s, u); err == nil || !strings.Contains(err.Error(), "expected") {
			t.Errorf("%+v: error %v does not say what was expected", u, err)
		}
	}
	if _, err := say(s, port.Utterance{Text: "x", Language: "en-GB"}); err != nil {
		t.Errorf("en-GB: %v", err)
	}
}

func TestNothingSpeakableEmitsNothing(t *testing.T) {
	s := newSynthesizer(t, Options{})
	for _, text := range []string{"", "  \n ", "👍", "...", "привет"} {
		if out, err := say(s, port.Utterance{Text: text}); err != nil || len(out.pcm)+len(out.marks) > 0 {
			t.Errorf("%q: %v, %d samples, %d marks", text, err, len(out.pcm), len(out.marks))
		}
	}
}

var oddTexts = []string{
	"a", "A1b2C3", "1234567890123456789012345678901234567890", "$1,234,567.89 million", "10:45:33pm", "http://example.com/a?b=c&d=e",
	"...a", "a...", "'", "''a''", "e.g.", "U.S.A.", "I.", "-5", "+49 30 1234567", "#1", "50%", "3/4", "1/2/2026", "2026-11-20", "IIII", "XIV", "Henry VIII",
	"0", "00", "007", "1e10", "a-b-c-d", "rock'n'roll", "O'Neill's", "&", "a&b", "@home", "me@example.com", "zzzzxxxxqqqq", "St. St. Dr. Dr.", "12th 21st 33rd", "$", "$.", "$5.5", "1.", "1.2.3", "a.b.c.d", ":", "a:b", "?!?!",
}

func TestOddTexts(t *testing.T) {
	s := newSynthesizer(t, Options{})
	for _, voice := range []string{"kal16", "slt"} {
		for _, text := range oddTexts {
			if _, err := say(s, port.Utterance{Text: text, Voice: voice}); err != nil {
				t.Errorf("%q: %v", text, err)
			}
		}
	}
}

func FuzzSpeak(f *testing.F) {
	for _, s := range oddTexts {
		f.Add(s)
	}
	s := newSynthesizer(f, Options{Voice: "kal16"})
	f.Fuzz(func(t *testing.T, text string) {
		out, err := say(s, port.Utterance{Text: text[:min(len(text), 400)]})
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range out.marks {
			if m.At > audio.Pos(len(out.pcm)) || m.Text > len(text) {
				t.Fatalf("mark %+v beyond the end", m)
			}
		}
	})
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
	s := newSynthesizer(t, Options{Voice: "kal16"})
	unwanted := errors.New("unwanted")
	round := func(n int) {
		for i := range n {
			u := port.Utterance{Text: sentence}
			if i%20 == 0 {
				u.Voice = "slt"
			}
			calls := 0
			err := s.Speak(context.Background(), u, func(port.Speech) error {
				if calls++; i%3 == 0 && calls == 5 {
					return unwanted
				}
				return nil
			})
			if err != nil && !errors.Is(err, unwanted) {
				t.Fatal(err)
			}
		}
	}
	round(60)
	before := residentBytes(t)
	round(200)
	if grown := residentBytes(t) - before; grown > 4<<20 {
		t.Errorf("200 utterances left %d KB behind", grown>>10)
	}
}

// BenchmarkSpeak measures one sentence of about five seconds. Goals: first sound within
// 50 ms, real-time factor below 0.05.
func BenchmarkSpeak(b *testing.B) {
	for _, voice := range Voices() {
		b.Run(voice, func(b *testing.B) {
			s := newSynthesizer(b, Options{Voice: voice})
			var first, total time.Duration
			samples := 0
			b.ReportAllocs()
			for b.Loop() {
				start := time.Now()
				begun := false
				err := s.Speak(context.Background(), port.Utterance{Text: sentence}, func(p port.Speech) error {
					if !begun {
						begun = true
						first += time.Since(start)
					}
					samples += len(p.PCM)
					return nil
				})
				if err != nil {
					b.Fatal(err)
				}
				total += time.Since(start)
			}
			b.ReportMetric(float64(first.Microseconds())/1000/float64(b.N), "first-ms")
			b.ReportMetric(total.Seconds()/audio.Pos(samples).Duration(Rate).Seconds(), "rtf")
		})
	}
}

// BenchmarkSoak measures how much memory each utterance keeps. Goal: 0. Run it with
// -benchtime 2000x.
func BenchmarkSoak(b *testing.B) {
	s := newSynthesizer(b, Options{})
	us := []port.Utterance{{Text: sentence}, {Text: sentence, Voice: "rms"}, {Text: sentence, Voice: "kal16"}}
	for range 30 {
		for _, u := range us {
			mustSay(b, s, u)
		}
	}
	before := residentBytes(b)
	n := 0
	for b.Loop() {
		if err := s.Speak(context.Background(), us[n%len(us)], func(port.Speech) error { return nil }); err != nil {
			b.Fatal(err)
		}
		n++
	}
	b.ReportMetric(float64(residentBytes(b)-before)/float64(b.N), "leaked-B/op")
}
