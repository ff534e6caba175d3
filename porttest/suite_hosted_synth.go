package porttest

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/hocketvoice/hocket/audio"
	"github.com/hocketvoice/hocket/internal/fakes"
	"github.com/hocketvoice/hocket/internal/nettest"
	"github.com/hocketvoice/hocket/port"
	"github.com/hocketvoice/hocket/port/errclass"
)

// HostedSynthesizer describes a synthesizer that is reached over a network, and its fake.
type HostedSynthesizer struct {
	// Fake returns a fake that has the key [HostedKey] and the mouth.
	Fake func(mouth fakes.Mouth) fakes.Service
	// Open returns a synthesizer that reaches the fake with the transport, if that is not
	// nil, at a ws URL with the host.
	Open func(t *testing.T, host string, transport http.RoundTripper) (port.Synthesizer, error)
	// NoMarks reports that the service does not say when words begin.
	NoMarks bool
	// Single reports that a cancelled text costs a connection.
	Single bool
}

// TestHostedSynthesizer is the conformance suite of a [port.Synthesizer] that is reached over
// a network: [TestSynthesizer], and what it must survive.
func TestHostedSynthesizer(t *testing.T, c HostedSynthesizer) {
	t.Run("port", func(t *testing.T) {
		TestSynthesizer(t, func(t *testing.T) port.Synthesizer {
			return openHosted(t, c.Fake(fakes.Mouth{Engine: &Synthesizer{}}), c.Open)
		}, SynthesizerCapabilities{Language: "en", Marks: !c.NoMarks, Repeatable: true})
	})
	for _, rule := range []struct {
		name   string
		faults func(n int) fakes.Fault
		test   func(*listener)
	}{
		{"sentences share a connection", nil, hostedSpeaks},
		{"a cancelled sentence ends within 50 ms and is not heard later", nil, hostedCancels},
		{"many cancelled sentences break no rule", nil, hostedCancelsOften},
		{"a refused key is a failure without the key", always(fakes.Fault{Status: 401, Body: "bad key " + HostedKey}), hostedMute(errclass.AuthFailure, 0, 0)},
		{"a rate limit is a failure with the wait", always(fakes.Fault{Status: 429, RetryAfter: "7"}), hostedMute(errclass.RateLimit, 7*time.Second, 0)},
		{"an error of the server is a failure", always(fakes.Fault{Status: 500}), hostedMute(errclass.ServerError, 0, 0)},
		{"garbage is a failure", always(fakes.Fault{Garbage: "\x00 {"}), hostedMute(errclass.ServerError, 0, 0)},
		{"a service that says nothing is a failure in time", always(fakes.Fault{Deaf: true}), hostedMute(errclass.NetworkTimeout, 0, 4*time.Second)},
		{"a service that reads nothing is a failure in time", always(fakes.Fault{Slow: true}), hostedMute(errclass.NetworkTimeout, 0, 5*time.Second)},
		{"a connection cut while it speaks is a failure at once", nil, hostedCutSpeech},
		{"a connection lost between sentences is made again", nil, hostedLostVoice},
		{"an idle connection stays open, and not for ever", nil, hostedIdleVoice},
	} {
		t.Run(rule.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				f := c.Fake(fakes.Mouth{Engine: &Synthesizer{}, Speed: 4})
				server := f.Behind()
				server.Faults = rule.faults
				withHosted(t, f, c.Open, func(v port.Synthesizer, net *nettest.Memory) {
					rule.test(&listener{t: t, c: c, v: v, net: net, server: server, sleep: time.Sleep}) //nolint:forbidigo // in a bubble
				})
			})
		})
	}
}

// listener listens to a hosted synthesizer in virtual time.
type listener struct {
	t      *testing.T
	c      HostedSynthesizer
	v      port.Synthesizer
	net    *nettest.Memory
	server *fakes.Server
	sleep  func(time.Duration) // in virtual time
}

// sentence takes 2.4 s to speak: 40 letters of 60 ms.
const sentence = "please take the second train to hamburg now ok"

// speak returns the length of the sound and the words that were marked. stop, if not 0, cancels
// after so much sound.
func (l *listener) speak(text string, stop time.Duration) (heard time.Duration, words []string, err error) {
	ctx, cancel := context.WithCancel(l.t.Context())
	defer cancel()
	samples := 0
	err = l.v.Speak(ctx, port.Utterance{Text: text, Language: "en"}, func(p port.Speech) error {
		if ctx.Err() != nil {
			l.t.Error("sound after the end of the context")
		}
		samples += len(p.PCM)
		for _, m := range p.Marks {
			words = append(words, strings.Fields(text[m.Text:])[0])
		}
		if heard = audio.Pos(samples).Duration(l.v.Rate()); stop != 0 && heard >= stop {
			cancel()
		}
		return nil
	})
	return heard, words, err
}

// wantSpoken speaks a text and checks that all of it was heard.
func (l *listener) wantSpoken(text string) {
	l.t.Helper()
	heard, words, err := l.speak(text, 0)
	letters := len(strings.ReplaceAll(text, " ", ""))
	if want := time.Duration(letters) * 60 * time.Millisecond; err != nil || heard < want-10*time.Millisecond || heard > want+10*time.Millisecond {
		l.t.Errorf("%q: heard %v, want %v, error %v", text, heard, want, err)
	}
	if got := strings.Join(words, " "); !l.c.NoMarks && got != text {
		l.t.Errorf("marked %q, want %q", got, text)
	}
}

func (l *listener) wantConnections(n int) {
	l.t.Helper()
	if got := l.server.Connections(); got != n {
		l.t.Errorf("%d connections, want %d", got, n)
	}
}

func hostedSpeaks(l *listener) {
	for range 3 {
		l.wantSpoken(sentence)
	}
	l.wantSpoken("yes")
	l.wantConnections(1)
	wantRules(l.t, l.server)
}

func hostedCancels(l *listener) {
	ctx, cancel := context.WithCancel(l.t.Context())
	defer cancel()
	var at time.Time
	err := l.v.Speak(ctx, port.Utterance{Text: sentence, Language: "en"}, func(port.Speech) error {
		if at.IsZero() {
			at = time.Now().Add(130 * time.Millisecond) // between two pieces
			time.AfterFunc(130*time.Millisecond, cancel)
		}
		return nil
	})
	if took := time.Since(at); !errors.Is(err, context.Canceled) || took > 50*time.Millisecond {
		l.t.Errorf("Speak returned %v after the cancellation, error %v", took, err)
	}
	l.wantSpoken("another sentence")
	wantRules(l.t, l.server)
}

func hostedCancelsOften(l *listener) {
	for range 12 {
		if _, _, err := l.speak(sentence, 100*time.Millisecond); !errors.Is(err, context.Canceled) {
			l.t.Errorf("error %v", err)
		}
	}
	l.wantSpoken("another sentence")
	wantRules(l.t, l.server)
	l.sleep(time.Second)
	if n := l.server.Open(); n > 6 {
		l.t.Errorf("%d connections are open", n)
	}
}

// hostedMute checks the failure of a text without sound, which must come within a time.
func hostedMute(class string, after, within time.Duration) func(*listener) {
	return func(l *listener) {
		began := time.Now()
		heard, _, err := l.speak(sentence, 0)
		f, ok := errors.AsType[*port.Failure](err)
		switch {
		case !ok:
			l.t.Fatalf("error %v, want a failure", err)
		case f.Code != class || f.After != after || strings.Contains(f.Message, HostedKey):
			l.t.Errorf("failure %+v, want %s after %v", f, class, after)
		}
		if took := time.Since(began); took > within || heard != 0 {
			l.t.Errorf("failed after %v with %v of sound, want within %v", took, heard, within)
		}
		if n := l.server.Connections(); n != 1 {
			l.t.Errorf("%d connections, want 1", n)
		}
	}
}

func hostedCutSpeech(l *listener) {
	var at time.Time
	heard := 0
	err := l.v.Speak(l.t.Context(), port.Utterance{Text: sentence, Language: "en"}, func(p port.Speech) error {
		if heard++; heard == 1 {
			at = time.Now().Add(330 * time.Millisecond)
			time.AfterFunc(330*time.Millisecond, l.net.Cut)
		}
		return nil
	})
	f, ok := errors.AsType[*port.Failure](err)
	if took := time.Since(at); !ok || f.Code != errclass.NetworkTimeout || took > 50*time.Millisecond {
		l.t.Errorf("error %v, %v after the cut", err, took)
	}
	l.wantSpoken("another sentence")
}

func hostedLostVoice(l *listener) {
	l.wantSpoken(sentence)
	l.net.Cut()
	l.wantSpoken(sentence)
	l.wantConnections(2)
}

func hostedIdleVoice(l *listener) {
	l.wantSpoken(sentence)
	l.sleep(2 * time.Minute)
	l.wantSpoken(sentence)
	l.wantConnections(1)
	wantRules(l.t, l.server)
	l.sleep(20 * time.Minute)
	if n := l.server.Open(); n != 0 {
		l.t.Errorf("%d connections are open that nobody has used for 20 minutes", n)
	}
}
