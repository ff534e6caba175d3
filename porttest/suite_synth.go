package porttest

import (
	"context"
	"errors"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/hocketvoice/hocket/audio"
	"github.com/hocketvoice/hocket/port"
)

// SynthesizerCapabilities describes a synthesizer under test.
type SynthesizerCapabilities struct {
	Language, Voice string
	Text            string // long enough for several pieces; an English default if empty
	Marks           bool   // it reports where words begin
	Repeatable      bool   // the same text gives the same samples
}

// TestSynthesizer is the conformance suite of port.Synthesizer. open must return a
// fresh synthesizer for each rule.
func TestSynthesizer(t *testing.T, open func(*testing.T) port.Synthesizer, c SynthesizerCapabilities) {
	if c.Text == "" {
		c.Text = "Good morning. I can book a flight from Boston to Denver for you."
	}
	for _, rule := range []struct {
		name string
		test func(*testing.T, port.Synthesizer, SynthesizerCapabilities)
	}{
		{"speech comes in pieces", speechInPieces},
		{"the same text sounds the same", speechRepeats},
		{"the error of emit ends the speech and is returned", emitFails},
		{"the end of the context ends the speech", contextEnds},
		{"an ended context gives no speech", contextEnded},
		{"a text without words is not an error", nothingToSay},
		{"voices do not know each other", voicesAtOnce},
	} {
		t.Run(rule.name, func(t *testing.T) { rule.test(t, open(t), c) })
	}
}

// take is the result of one Speak.
type take struct {
	pcm    []int16
	marks  []port.Mark
	pieces int // pieces with samples
	inside atomic.Int32
	over   atomic.Bool
}

// speak synthesizes a text and checks the rules that apply to every Speak. stop,
// which may be nil, is called after each piece.
func (k *take) speak(ctx context.Context, t *testing.T, s port.Synthesizer, c SynthesizerCapabilities, text string, stop func() error) error {
	t.Helper()
	u := port.Utterance{Text: text, Voice: c.Voice, Language: c.Language}
	err := s.Speak(ctx, u, func(p port.Speech) error {
		if k.over.Load() {
			t.Error("emit was called after Speak had returned")
		}
		if k.inside.Add(1) != 1 {
			t.Error("emit was called concurrently")
		}
		defer k.inside.Add(-1)
		k.pcm = append(k.pcm, p.PCM...)
		k.marks = append(k.marks, p.Marks...)
		if len(p.PCM) > 0 {
			k.pieces++
		}
		if stop != nil {
			return stop()
		}
		return nil
	})
	k.over.Store(true)
	return err
}

func speechInPieces(t *testing.T, s port.Synthesizer, c SynthesizerCapabilities) {
	if s.Rate() < audio.MinRate || s.Rate() > audio.MaxRate {
		t.Fatalf("rate %d", s.Rate())
	}
	var k take
	if err := k.speak(t.Context(), t, s, c, c.Text, nil); err != nil {
		t.Fatal(err)
	}
	if k.pieces < 2 {
		t.Errorf("%d pieces, want several: the first must not wait for the last", k.pieces)
	}
	if audio.Peak(k.pcm) == 0 {
		t.Errorf("%v of speech without any sound", audio.Pos(len(k.pcm)).Duration(s.Rate()))
	}
	if c.Marks && len(k.marks) == 0 {
		t.Error("no marks")
	}
	for i, m := range k.marks {
		if m.At < 0 || m.At > audio.Pos(len(k.pcm)) || m.Text < 0 || m.Text > len(c.Text) {
			t.Errorf("mark %+v: want a place in %d samples and %d bytes", m, len(k.pcm), len(c.Text))
		}
		if i > 0 && (m.At < k.marks[i-1].At || m.Text < k.marks[i-1].Text) {
			t.Errorf("mark %+v follows %+v, want ascending marks", m, k.marks[i-1])
		}
	}
}

func speechRepeats(t *testing.T, s port.Synthesizer, c SynthesizerCapabilities) {
	if !c.Repeatable {
		t.Skip("the voice is not repeatable")
	}
	var first, second take
	if err := errors.Join(first.speak(t.Context(), t, s, c, c.Text, nil), second.speak(t.Context(), t, s, c, c.Text, nil)); err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(first.pcm, second.pcm) || !slices.Equal(first.marks, second.marks) {
		t.Error("samples or marks differ")
	}
}

func emitFails(t *testing.T, s port.Synthesizer, c SynthesizerCapabilities) {
	unwanted := errors.New("no longer wanted")
	var k take
	calls := 0
	err := k.speak(t.Context(), t, s, c, c.Text, func() error { calls++; return unwanted })
	if !errors.Is(err, unwanted) {
		t.Errorf("Speak returned %v, want the error of emit", err)
	}
	if calls != 1 {
		t.Errorf("emit was called %d times, want no call after its error", calls)
	}
}

func contextEnds(t *testing.T, s port.Synthesizer, c SynthesizerCapabilities) {
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	var k take
	err := k.speak(ctx, t, s, c, strings.Repeat(c.Text+" ", 20), func() error { cancel(); return nil })
	if !errors.Is(err, context.Canceled) {
		t.Errorf("Speak returned %v, want the context's error", err)
	}
	if k.pieces > 3 {
		t.Errorf("%d pieces after the context had ended", k.pieces-1)
	}
}

func contextEnded(t *testing.T, s port.Synthesizer, c SynthesizerCapabilities) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	var k take
	if err := k.speak(ctx, t, s, c, c.Text, nil); !errors.Is(err, context.Canceled) {
		t.Errorf("Speak returned %v, want the context's error", err)
	}
	if len(k.pcm) > 0 {
		t.Errorf("%d samples", len(k.pcm))
	}
}

func nothingToSay(t *testing.T, s port.Synthesizer, c SynthesizerCapabilities) {
	for _, text := range []string{"", " ", "\n\t "} {
		var k take
		if err := k.speak(t.Context(), t, s, c, text, nil); err != nil {
			t.Errorf("text %q: %v", text, err)
		}
	}
}

func voicesAtOnce(t *testing.T, s port.Synthesizer, c SynthesizerCapabilities) {
	var voices sync.WaitGroup
	takes := make([]take, 4)
	for i := range takes {
		voices.Go(func() {
			if err := takes[i].speak(t.Context(), t, s, c, c.Text, nil); err != nil {
				t.Error(err)
			}
		})
	}
	voices.Wait()
	for i := range takes {
		if c.Repeatable && !slices.Equal(takes[i].pcm, takes[0].pcm) {
			t.Error("voices that speak at the same time sound different")
		}
	}
}
