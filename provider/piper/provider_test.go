package piper

import (
	"context"
	"errors"
	"io/fs"
	"math"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/hocketvoice/hocket/internal/onnx"
	"github.com/hocketvoice/hocket/port"
	"github.com/hocketvoice/hocket/porttest"
)

func options() Options {
	models := filepath.Join("..", "..", "third_party", "models")
	return Options{Library: filepath.Join(models, onnx.Library()), Network: filepath.Join(models, Network)}
}

// shared is the synthesizer of all tests: it takes seconds to read on a busy machine.
var shared = sync.OnceValues(func() (*Synthesizer, error) { return New(options()) })

// installed returns the synthesizer, or skips the test.
func installed(t testing.TB) *Synthesizer {
	t.Helper()
	s, err := shared()
	switch {
	case errors.Is(err, onnx.ErrMissing) || errors.Is(err, fs.ErrNotExist) || errors.Is(err, ErrNoPhonemes):
		t.Skip(err)
	case err != nil:
		t.Fatal(err)
	}
	return s
}

func TestSynthesizer(t *testing.T) {
	porttest.TestSynthesizer(t, func(t *testing.T) port.Synthesizer { return installed(t) },
		porttest.SynthesizerCapabilities{Marks: true})
}

// TestPhonemes: a sentence keeps its punctuation, which the voice speaks.
func TestPhonemes(t *testing.T) {
	s := installed(t)
	for text, want := range map[string]string{
		"Hello there, how are you?": "həlˈoʊ ðˈɛɹ, hˈaʊ ɑːɹ juː?",
		"Yes":                       "jˈɛs.",
		"It is 10:45; really!":      "ɪɾ ɪz tˈɛn fˈoːɹɾi fˈaɪv; ɹˈiəli!",
	} {
		if got, err := s.phonemes(t.Context(), text); err != nil || got != want {
			t.Errorf("%q: %q, %v, expected %q", text, got, err, want)
		}
	}
	if got, err := s.phonemes(t.Context(), "Dr. Smith pays 5.50 dollars."); err != nil || strings.Count(got, ".") != 1 {
		t.Errorf("%q, %v, expected one full stop", got, err)
	}
}

// TestTextIsNoFlag: a text that looks like a flag of espeak-ng is spoken.
func TestTextIsNoFlag(t *testing.T) {
	s := installed(t)
	if got, err := s.espeak(t.Context(), "--version"); err != nil || strings.Contains(got, "eSpeak") || got == "" {
		t.Errorf("%q, %v", got, err)
	}
}

// TestCancelInASentence: the end of the context ends a computation of seconds.
func TestCancelInASentence(t *testing.T) {
	s := installed(t)
	in := s.inputs(t, strings.TrimSpace(strings.Repeat("this is a very long sentence without any mark ", 8)))
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() {
		_, err := s.session.Run(ctx, "output", in...)
		ended <- err
	}()
	cancel()
	if err := <-ended; !errors.Is(err, context.Canceled) {
		t.Errorf("%v, expected the context's error", err)
	}
}

// inputs are those of the network for a text.
func (s *Synthesizer) inputs(t *testing.T, text string) []onnx.Tensor {
	t.Helper()
	p, err := s.phonemes(t.Context(), text)
	if err != nil {
		t.Fatal(err)
	}
	return s.tensors(p, 1)
}

func TestSpeakRefuses(t *testing.T) {
	s := installed(t)
	for name, u := range map[string]port.Utterance{
		"language":  {Text: "hallo", Language: "de"},
		"voice":     {Text: "hello", Voice: "slt"},
		"slow pace": {Text: "hello", Rate: 0.1},
		"no number": {Text: "hello", Rate: math.NaN()},
	} {
		if err := s.Speak(t.Context(), u, func(port.Speech) error { return nil }); err == nil || !strings.Contains(err.Error(), "piper: ") {
			t.Errorf("%s: %v, expected an error", name, err)
		}
	}
}

func TestNewRefuses(t *testing.T) {
	if _, err := New(Options{}); err == nil {
		t.Error("no files")
	}
	if _, err := New(Options{Library: "x", Network: "y", ClauseWords: 1000}); err == nil {
		t.Error("clauses of 1000 words")
	}
	_, err := New(Options{Library: "x", Network: "y", Program: "no-such-program"})
	if !errors.Is(err, onnx.ErrMissing) && !errors.Is(err, ErrNoPhonemes) {
		t.Errorf("%v, expected what is missing", err)
	}
	_, err = New(Options{Library: "x", Network: filepath.Join(t.TempDir(), "y"), Program: "sh"})
	if !errors.Is(err, onnx.ErrMissing) && !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("%v, expected what is missing", err)
	}
}

func BenchmarkFirstAudio(b *testing.B) {
	s := installed(b)
	stop := errors.New("enough")
	for b.Loop() {
		_ = s.Speak(b.Context(), port.Utterance{Text: "I can book a flight for you. Where do you want to go?"}, func(port.Speech) error { return stop })
	}
}

func BenchmarkSentence(b *testing.B) {
	s := installed(b)
	spoken := 0
	for b.Loop() {
		err := s.Speak(b.Context(), port.Utterance{Text: "Your flight from Boston to Denver leaves on Friday at half past nine in the morning."}, func(p port.Speech) error {
			spoken += len(p.PCM)
			return nil
		})
		if err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(b.Elapsed().Seconds()/(float64(spoken)/float64(s.Rate())), "real-time-factor")
}
