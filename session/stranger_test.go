package session

import (
	"context"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/hocketvoice/hocket/audio"
	"github.com/hocketvoice/hocket/conv"
	"github.com/hocketvoice/hocket/port"
	"github.com/hocketvoice/hocket/porttest"
	"github.com/hocketvoice/hocket/turn"
)

// same is a leg that gives one frame again and again: on the beat of the clock, unless it
// is at once. Nobody hangs up.
type same struct {
	rate  int
	frame audio.Frame
	once  bool
}

func (l *same) Rate() int { return l.rate }

func (l *same) Read(ctx context.Context) (audio.Frame, error) {
	if l.once {
		return l.frame, ctx.Err()
	}
	select {
	case <-time.After(20 * ms):
		return l.frame, nil
	case <-ctx.Done():
		return audio.Frame{}, ctx.Err()
	}
}

func (l *same) Write(ctx context.Context, _ audio.Frame) error { return ctx.Err() }
func (l *same) Clear(ctx context.Context) error                { return ctx.Err() }
func (l *same) Notify(port.Notice)                             {}

func quiet(rate int) *same {
	return &same{rate: rate, frame: audio.Frame{Rate: rate, PCM: make([]int16, rate/50)}}
}

// TestObserverPanics: a panic of an observer, or of Perform, is its caller's; nothing of
// the call runs on behind it, and who posts does not wait.
func TestObserverPanics(t *testing.T) {
	for name, leg := range map[string]func(*Options){
		"call": func(o *Options) { o.Leg, o.Synthesizer = quiet(16000), newDrone(10) },
		"text": func(o *Options) { o.Leg, o.Text, o.Conv.Endpoint = quiet(16000), true, "manual" },
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) { // which fails where a goroutine is left
				o := Options{Conv: conv.Options{Greeting: "Hello."}}
				leg(&o)
				s, err := New(o)
				if err != nil {
					t.Fatal(err)
				}
				s.OnStateEnter(conv.Speaking, func(StateChanged) { panic("observer") })
				func() {
					defer func() {
						if p := recover(); p != "observer" {
							t.Errorf("it panics with %v", p)
						}
					}()
					t.Errorf("it returns %v", s.Run(t.Context()))
				}()
				for range 2 * inboxSize {
					if s.Post(conv.UserStop{}) == nil {
						t.Fatal("a post to a call that is gone is taken")
					}
				}
			})
		})
	}
}

// TestWrongFrames: a frame that is longer than a frame, or of another rate, is not heard
// for something that it is not; a shorter one is heard.
func TestWrongFrames(t *testing.T) {
	for _, c := range []struct {
		name  string
		frame audio.Frame
		err   string
	}{
		{"empty", audio.Frame{Rate: 16000}, ""},
		{"short", audio.Frame{Rate: 16000, PCM: make([]int16, 7)}, ""},
		{"without a rate", audio.Frame{PCM: make([]int16, 320)}, ""},
		{"long", audio.Frame{Rate: 16000, PCM: porttest.Tone(16000, 60*ms)}, "a frame of 960 samples at 16000 Hz: expected at most 320 (20 ms) at 16000 Hz"},
		{"other rate", audio.Frame{Rate: 8000, PCM: make([]int16, 160)}, "a frame of 160 samples at 8000 Hz"},
	} {
		t.Run(c.name, func(t *testing.T) {
			check := func(how string, err error) {
				t.Helper()
				if c.err == "" && !strings.Contains(err.Error(), "deadline") || !strings.Contains(err.Error(), c.err) {
					t.Errorf("%s: %v, expected %q", how, err, c.err)
				}
			}
			synctest.Test(t, func(t *testing.T) {
				leg := &same{rate: 16000, frame: c.frame}
				s, err := New(Options{Leg: leg, Detector: &porttest.Detector{}})
				if err != nil {
					t.Fatal(err)
				}
				ctx, cancel := context.WithTimeout(t.Context(), time.Second)
				defer cancel()
				check("real time", s.Run(ctx))
			})
			if c.err == "" {
				return // it would go on for ever
			}
			s, err := New(Options{Leg: &same{rate: 16000, frame: c.frame, once: true}})
			if err != nil {
				t.Fatal(err)
			}
			check("virtual time", s.RunVirtual(t.Context(), start))
		})
	}
}

// rated is a voice of some rate that says pieces of odd lengths with marks that lie
// anywhere.
type rated int

func (r rated) Rate() int { return int(r) }

func (r rated) Speak(_ context.Context, _ port.Utterance, emit func(port.Speech) error) error {
	for _, n := range []int{0, 1, 7, 313, 0, 1000} {
		marks := []port.Mark{{At: -5, Text: 99}, {At: 1 << 40, Text: -1}}
		if err := emit(port.Speech{PCM: make([]int16, n), Marks: marks}); err != nil {
			return err
		}
	}
	return nil
}

// TestWrongRates: a rate that sound cannot have is an error before the call begins.
func TestWrongRates(t *testing.T) {
	for _, c := range []struct {
		leg, voice int
		err        string
	}{
		{0, 16000, "session: the rate of Leg is 0 Hz: expected 8000 to 48000"},
		{-1, 16000, "session: the rate of Leg is -1 Hz: expected 8000 to 48000"},
		{96000, 16000, "session: the rate of Leg is 96000 Hz: expected 8000 to 48000"},
		{16000, 0, "session: the rate of Synthesizer is 0 Hz: expected 8000 to 48000"},
		{11025, 44100, ""},
	} {
		s, err := New(Options{Leg: &same{rate: c.leg}, Synthesizer: rated(c.voice), Conv: conv.Options{Greeting: "Hello there."}})
		if c.err != "" {
			if err == nil || err.Error() != c.err {
				t.Errorf("leg %d, voice %d: %v, expected %s", c.leg, c.voice, err, c.err)
			}
			continue
		}
		if err != nil {
			t.Fatal(err)
		}
		heard := 0
		s.OnSpoken(func(l Spoken) {
			if l.Text == "Hello there." && l.Outcome == conv.TurnCompleted {
				heard++
			}
			l.Loop.Post(conv.UserStop{})
		})
		s.o.Leg = &same{rate: c.leg, once: true, frame: audio.Frame{Rate: c.leg, PCM: make([]int16, c.leg/50)}}
		if err := s.RunVirtual(t.Context(), start); err != nil || heard != 1 {
			t.Errorf("leg %d, voice %d: %v, the greeting was heard %d times", c.leg, c.voice, err, heard)
		}
	}
}

// TestConfigureTooEarly: what is configured before there is a call is not lost in silence.
func TestConfigureTooEarly(t *testing.T) {
	s, err := New(Options{Leg: quiet(16000)})
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Configure(turn.Options{}, turn.OnsetOptions{}); err == nil {
		t.Error("it is taken, and nobody has it")
	}
	s.DiscardInput() // nothing was heard
}
