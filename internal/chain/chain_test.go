package chain

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/goleak"

	"github.com/hocketvoice/hocket/audio"
	"github.com/hocketvoice/hocket/port"
	"github.com/hocketvoice/hocket/port/errclass"
	"github.com/hocketvoice/hocket/porttest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

var errDown = &port.Failure{Code: errclass.ServerError, Message: "down", Retryable: true}

// log collects switches.
type log struct {
	mu  sync.Mutex
	all []string
}

func (l *log) add(s Switch) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.all = append(l.all, fmt.Sprintf("%s %s>%s %v", s.Kind, s.From, s.To, s.Pause))
}

func (l *log) want(t *testing.T, want ...string) {
	t.Helper()
	l.mu.Lock()
	defer l.mu.Unlock()
	if strings.Join(l.all, "; ") != strings.Join(want, "; ") {
		t.Errorf("switches %q, want %q", l.all, want)
	}
}

func TestChainKeepsThePortsRules(t *testing.T) {
	porttest.TestSynthesizer(t, func(*testing.T) port.Synthesizer {
		bad := &porttest.Synthesizer{SampleRate: 8000, Fail: func(string) error { return errDown }}
		return NewSynthesizer([]Voice{{"bad", bad}, {"good", &porttest.Synthesizer{}}}, nil)
	}, porttest.SynthesizerCapabilities{Marks: true, Repeatable: true})
	porttest.TestRecognizer(t, func(*testing.T) port.Recognizer {
		bad := &porttest.Recognizer{Fail: func(call string, _ int) error {
			if call == "finalize" {
				return errDown
			}
			return nil
		}}
		return NewRecognizer([]Ear{{"bad", bad}, {"good", &porttest.Recognizer{}}}, nil)
	}, porttest.RecognizerCapabilities{})
}

// TestNextVoiceSaysTheRest checks that a voice that dies in the middle of a text is followed
// by the next one from the last word on, at once.
func TestNextVoiceSaysTheRest(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var l log
		var said []string
		dies := &porttest.Synthesizer{Before: func(ctx context.Context, _ string, emit func(port.Speech) error) error {
			for i, at := range []int{0, 5, 9} {
				m := []port.Mark{{At: audio.Pos(i * 1600), Text: at}}
				if err := emit(port.Speech{PCM: make([]int16, 1600), Marks: m}); err != nil {
					return err
				}
			}
			return errDown
		}}
		next := &porttest.Synthesizer{SampleRate: 8000, Before: func(_ context.Context, text string, _ func(port.Speech) error) error {
			said = append(said, text)
			return nil
		}}
		s := NewSynthesizer([]Voice{{"a", dies}, {"b", next}}, l.add)
		var marks []port.Mark
		n := 0
		speak := func() error {
			return s.Speak(t.Context(), port.Utterance{Text: "from new york to"}, func(p port.Speech) error {
				n += len(p.PCM)
				marks = append(marks, p.Marks...)
				return nil
			})
		}
		if err := speak(); err != nil {
			t.Fatal(err)
		}
		if len(said) != 1 || said[0] != "york to" {
			t.Errorf("the second voice said %q", said)
		}
		// 3 words of the first, then 6 letters of 60 ms at another rate.
		if want := 3*1600 + 6*960; n < want-32 || n > want+32 {
			t.Errorf("%d samples, want %d", n, want)
		}
		last := marks[len(marks)-1]
		if last.Text != 14 || last.At != 4800+4*960 || marks[3].Text != 9 {
			t.Errorf("marks %v", marks)
		}
		if err := speak(); err != nil || len(said) != 2 || said[1] != "from new york to" {
			t.Errorf("a voice that has failed is tried again at once: %q, error %v", said, err)
		}
		time.Sleep(firstPause)
		if err := speak(); err != nil {
			t.Error(err)
		}
		l.want(t, "synthesizer a>b 5s", "synthesizer a>b 10s")
	})
}

// TestSilentVoiceIsLeft checks that a voice without sound is left in time, and that the last one
// is not.
func TestSilentVoiceIsLeft(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var l log
		silent := &porttest.Synthesizer{Before: func(ctx context.Context, _ string, _ func(port.Speech) error) error {
			<-ctx.Done()
			return ctx.Err()
		}}
		slow := &porttest.Synthesizer{Before: func(context.Context, string, func(port.Speech) error) error {
			time.Sleep(3 * time.Second)
			return nil
		}}
		s := NewSynthesizer([]Voice{{"a", silent}, {"b", slow}}, l.add)
		began := time.Now()
		if err := s.Speak(t.Context(), port.Utterance{Text: "yes"}, func(port.Speech) error { return nil }); err != nil {
			t.Error(err)
		}
		if took := time.Since(began); took != patience+3*time.Second {
			t.Errorf("took %v", took)
		}
		l.want(t, "synthesizer a>b 5s")
		ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
		defer cancel()
		time.Sleep(firstPause)
		if err := s.Speak(ctx, port.Utterance{Text: "yes"}, func(port.Speech) error { return nil }); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("error %v, want the caller's", err)
		}
		l.want(t, "synthesizer a>b 5s")
	})
}

func TestAllVoicesFail(t *testing.T) {
	var l log
	bad := &porttest.Synthesizer{Fail: func(string) error { return &port.Failure{Code: errclass.AuthFailure, Message: "no key"} }}
	s := NewSynthesizer([]Voice{{"a", bad}, {"b", bad}}, l.add)
	err := s.Speak(t.Context(), port.Utterance{Text: "yes"}, func(port.Speech) error { return nil })
	if f, ok := errors.AsType[*port.Failure](err); !ok || f.Code != errclass.AuthFailure {
		t.Errorf("error %v", err)
	}
	l.want(t, "synthesizer a>b 5m0s", "synthesizer b> 5m0s")
}

// hear speaks an utterance to a stream, and lets changes happen.
func hear(t *testing.T, s port.RecognizerStream, pos *audio.Pos) {
	t.Helper()
	if err := s.Begin(); err != nil {
		t.Fatal(err)
	}
	for range 50 {
		if err := s.Write(audio.Frame{Pos: *pos, Rate: 16000, PCM: porttest.Tone(16000, 20*time.Millisecond)}); err != nil {
			t.Fatal(err)
		}
		*pos += 320
	}
	if err := s.Finalize(); err != nil {
		t.Fatal(err)
	}
	synctest.Wait()
}

// TestNextEarHearsTheUtterance checks that an ear that fails, at any of its calls, is followed
// by the next one, which hears all of the utterance, with one final result each.
func TestNextEarHearsTheUtterance(t *testing.T) {
	for _, c := range []struct {
		call string
		n    int
		want string
	}{
		{"open", 1, "b1 one|b2 two|b3 three"},
		{"begin", 1, "b1 one|b2 two|b3 three"},
		{"write", 20, "b1 one|b2 two|b3 three"},
		{"finalize", 1, "b1 one|b2 two|b3 three"},
		{"write", 70, "a1 one|b1 one|b2 two"},
		{"finalize", 2, "a1 one|b1 one|b2 two"},
	} {
		synctest.Test(t, func(t *testing.T) {
			var l log
			var got []string
			a := &porttest.Recognizer{Texts: []string{"a1 one", "a2 two", "a3 three"}, Fail: func(call string, n int) error {
				if call == c.call && n == c.n {
					return errDown
				}
				return nil
			}}
			b := &porttest.Recognizer{Texts: []string{"b1 one", "b2 two", "b3 three"}}
			r := NewRecognizer([]Ear{{"a", a}, {"b", b}}, l.add)
			s, err := r.Open(t.Context(), port.RecognizerConfig{Rate: 16000}, func(t port.Transcript) {
				if t.Final {
					got = append(got, t.Text)
				}
			})
			if err != nil {
				t.Fatal(err)
			}
			var pos audio.Pos
			for range 3 {
				hear(t, s, &pos)
			}
			if err := s.Close(); err != nil {
				t.Error(err)
			}
			if strings.Join(got, "|") != c.want {
				t.Errorf("%s %d: %q, want %q", c.call, c.n, got, c.want)
			}
			l.want(t, "recognizer a>b 5s")
			if n := a.OpenStreams() + b.OpenStreams(); n != 0 {
				t.Errorf("%s: %d streams are open", c.call, n)
			}
		})
	}
}

func TestAllEarsFail(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		fails := func(call string, _ int) error {
			if call == "write" {
				return errDown
			}
			return nil
		}
		r := NewRecognizer([]Ear{{"a", &porttest.Recognizer{Fail: fails}}, {"b", &porttest.Recognizer{Fail: fails}}}, nil)
		s, err := r.Open(t.Context(), port.RecognizerConfig{Rate: 16000}, func(port.Transcript) {})
		if err != nil {
			t.Fatal(err)
		}
		defer s.Close()
		_ = s.Begin()
		for i := 0; err == nil && i < 1000; i++ {
			err = s.Write(audio.Frame{Rate: 16000, PCM: porttest.Tone(16000, 20*time.Millisecond)})
			synctest.Wait()
		}
		if !errors.Is(err, errDown) {
			t.Errorf("error %v, want that of the ears", err)
		}
	})
}

// TestEarThatWorksAgainIsForgiven checks that the pause after a failure does not grow with the
// failures of long ago.
func TestEarThatWorksAgainIsForgiven(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var l log
		a := &porttest.Recognizer{Texts: []string{"one", "two", "three", "four"}, Fail: func(call string, n int) error {
			if call == "begin" && (n == 1 || n == 3) {
				return errDown
			}
			return nil
		}}
		r := NewRecognizer([]Ear{{"a", a}, {"b", &porttest.Recognizer{}}}, l.add)
		for range 3 { // fails, works, fails
			s, err := r.Open(t.Context(), port.RecognizerConfig{Rate: 16000}, func(port.Transcript) {})
			if err != nil {
				t.Fatal(err)
			}
			var pos audio.Pos
			hear(t, s, &pos)
			if err := s.Close(); err != nil {
				t.Error(err)
			}
			time.Sleep(time.Hour)
		}
		l.want(t, "recognizer a>b 5s", "recognizer a>b 5s")
	})
}
