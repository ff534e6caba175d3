package porttest

import (
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/hocketvoice/hocket/audio"
	"github.com/hocketvoice/hocket/internal/fakes"
	"github.com/hocketvoice/hocket/internal/nettest"
	"github.com/hocketvoice/hocket/port"
	"github.com/hocketvoice/hocket/port/errclass"
)

// HostedKey is the key of services under test.
const HostedKey = "sesame-0123456789"

// HostedRecognizer describes a recognizer that is reached over a network, and its fake.
type HostedRecognizer struct {
	// Fake returns a fake that has the key [HostedKey] and the engine.
	Fake func(engine port.Recognizer) fakes.Service
	// Open returns a recognizer that reaches the fake with the transport, if that is not
	// nil, at a ws URL with the host.
	Open func(t *testing.T, host string, transport http.RoundTripper) (port.Recognizer, error)
}

// TestHostedRecognizer is the conformance suite of a [port.Recognizer] that is reached over a
// network: [TestRecognizer], and what it must survive.
func TestHostedRecognizer(t *testing.T, c HostedRecognizer) {
	t.Run("port", func(t *testing.T) {
		TestRecognizer(t, func(t *testing.T) port.Recognizer {
			f := c.Fake(&Recognizer{Texts: []string{"from new york", "to boston", "on friday", "yes", "no", "a", "b", "c", "d", "e", "f", "g"}})
			return openHosted(t, f, c.Open)
		}, RecognizerCapabilities{Language: "en"})
	})
	for _, rule := range []struct {
		name   string
		faults func(n int) fakes.Fault
		test   func(*caller)
	}{
		{"partials and a final arrive", nil, hostedHears},
		{"an utterance is answered at once, with words and without", nil, hostedPrompt},
		{"a refused key is a failure without the key", always(fakes.Fault{Status: 401, Body: "bad key " + HostedKey}), hostedRefused(errclass.AuthFailure, 0)},
		{"a rate limit is a failure with the wait", always(fakes.Fault{Status: 429, RetryAfter: "7"}), hostedRefused(errclass.RateLimit, 7*time.Second)},
		{"an error of the server is a failure", always(fakes.Fault{Status: 503}), hostedRefused(errclass.ServerError, 0)},
		{"a cut connection loses no word", first(fakes.Fault{Cut: 40}), hostedCut},
		{"a connection that is always cut is a failure", always(fakes.Fault{Cut: 40}), hostedFails(errclass.NetworkTimeout)},
		{"garbage is a failure", always(fakes.Fault{Garbage: "\x00 {"}), hostedFails(errclass.ServerError)},
		{"a service that reads nothing blocks nobody", always(fakes.Fault{Slow: true}), hostedSlow},
		{"a service that says nothing is answered for", first(fakes.Fault{Deaf: true}), hostedDeaf},
		{"a service that says nothing takes no word of the next utterance", first(fakes.Fault{Deaf: true}), hostedDeafOnce},
		{"an idle connection stays open", nil, hostedIdle},
		{"a connection lost between utterances is made again", nil, hostedLostIdle},
		{"a connection cut in mid-utterance and then lost between utterances is made again", first(fakes.Fault{Cut: 40}), hostedCutThenLost},
		{"discarded words do not come back", nil, hostedDiscards},
		{"another expectation loses no word", nil, hostedExpects},
		{"close returns at once", nil, hostedCloses},
	} {
		t.Run(rule.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				f := c.Fake(&Recognizer{Texts: []string{"from new york to boston", "on friday please", "yes"}})
				server := f.Behind()
				server.Faults = rule.faults
				withHosted(t, f, c.Open, func(r port.Recognizer, net *nettest.Memory) {
					p := &caller{t: t, c: c, r: r, net: net, server: server, sleep: time.Sleep} //nolint:forbidigo // in a bubble
					rule.test(p)
					p.close()
				})
			})
		})
	}
}

// openHosted opens an adapter of a fake that is served by a port of this machine until the test
// ends. The fake must have seen no rule broken by then.
func openHosted[P any](t *testing.T, f fakes.Service, open func(*testing.T, string, http.RoundTripper) (P, error)) P {
	t.Helper()
	s := httptest.NewServer(f)
	p, err := open(t, strings.TrimPrefix(s.URL, "http://"), nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { closeOf(t, p); s.Close(); wantRules(t, f.Behind()) })
	return p
}

// withHosted calls test with an adapter of a fake that is served over a network in memory.
func withHosted[P any](t *testing.T, h http.Handler, open func(*testing.T, string, http.RoundTripper) (P, error), test func(P, *nettest.Memory)) {
	t.Helper()
	net := nettest.Serve(t, h)
	transport := net.Transport()
	p, err := open(t, "vendor.test", transport)
	if err != nil {
		t.Fatal(err)
	}
	test(p, net)
	closeOf(t, p)
	transport.CloseIdleConnections()
}

// closeOf closes what can be closed.
func closeOf(t *testing.T, v any) {
	t.Helper()
	if c, ok := v.(interface{ Close() error }); ok {
		if err := c.Close(); err != nil {
			t.Errorf("Close: %v", err)
		}
	}
}

// wantRules checks that no rule of the service was broken.
func wantRules(t *testing.T, s *fakes.Server) {
	t.Helper()
	if broken := s.Broken(); len(broken) > 0 {
		t.Errorf("rules of the service were broken: %q", broken)
	}
}

func always(f fakes.Fault) func(int) fakes.Fault { return func(int) fakes.Fault { return f } }

func first(f fakes.Fault) func(int) fakes.Fault {
	return func(n int) fakes.Fault {
		if n == 1 {
			return f
		}
		return fakes.Fault{}
	}
}

// caller speaks to a hosted recognizer at the pace of virtual time.
type caller struct {
	t      *testing.T
	c      HostedRecognizer
	r      port.Recognizer
	net    *nettest.Memory
	server *fakes.Server
	sleep  func(time.Duration) // in virtual time
	s      port.RecognizerStream
	pos    audio.Pos

	mu  sync.Mutex // guards got
	got []port.Transcript
}

func (p *caller) open() {
	p.t.Helper()
	s, err := p.r.Open(p.t.Context(), port.RecognizerConfig{Rate: 16000, Language: "en"}, func(t port.Transcript) {
		p.mu.Lock()
		p.got = append(p.got, t)
		p.mu.Unlock()
	})
	if err != nil {
		p.t.Fatal(err)
	}
	p.s = s
}

// close closes the stream, which must take no time.
func (p *caller) close() {
	if p.s == nil {
		return
	}
	began := time.Now()
	if err := p.s.Close(); err != nil {
		p.t.Errorf("Close: %v", err)
	}
	if took := time.Since(began); took > 50*time.Millisecond {
		p.t.Errorf("Close took %v", took)
	}
}

// sound writes a tone and returns the first error.
func (p *caller) sound(d time.Duration) error { return p.write(Tone(16000, 20*time.Millisecond), d) }

// silence writes silence and returns the first error.
func (p *caller) silence(d time.Duration) error { return p.write(make([]int16, 320), d) }

// write writes the same 20 ms again and again and returns the first error. No write may take time.
func (p *caller) write(pcm []int16, d time.Duration) error {
	for ; d > 0; d -= 20 * time.Millisecond {
		p.sleep(20 * time.Millisecond)
		began := time.Now()
		err := p.s.Write(audio.Frame{Pos: p.pos, Rate: 16000, PCM: pcm})
		if took := time.Since(began); took > 0 {
			p.t.Errorf("Write took %v", took)
		}
		p.pos += 320
		if err != nil {
			return err
		}
	}
	return nil
}

func (p *caller) must(err error) {
	p.t.Helper()
	if err != nil {
		p.t.Fatal(err)
	}
}

// say speaks an utterance of 1.5 s and waits until its final words must have arrived.
func (p *caller) say() {
	p.t.Helper()
	p.must(p.s.Begin())
	p.must(p.sound(1500 * time.Millisecond))
	p.must(p.s.Finalize())
	p.sleep(1500 * time.Millisecond)
	p.pos += audio.PosOf(1500*time.Millisecond, 16000)
}

func (p *caller) finals() (texts []string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, t := range p.got {
		if t.Final {
			texts = append(texts, t.Text)
		}
	}
	return texts
}

func (p *caller) wantFinals(texts ...string) {
	p.t.Helper()
	if got := p.finals(); strings.Join(got, "|") != strings.Join(texts, "|") {
		p.t.Errorf("finals %q, want %q", got, texts)
	}
}

func (p *caller) wantFailure(err error, class string) *port.Failure {
	p.t.Helper()
	f, ok := errors.AsType[*port.Failure](err)
	switch {
	case !ok:
		p.t.Fatalf("error %v, want a failure", err)
	case f.Code != class || strings.Contains(f.Message, HostedKey) || f.Message == "":
		p.t.Errorf("failure %v, want %s without the key", f, class)
	}
	return f
}

func hostedHears(p *caller) {
	p.open()
	p.say()
	p.wantFinals("from new york to boston")
	p.mu.Lock()
	partials, last := 0, ""
	for _, t := range p.got {
		if !t.Final {
			partials++
		}
		last = t.Text
		for i, w := range t.Words {
			if w.Start < 0 || w.End < w.Start || w.End > p.pos.Duration(16000) || i > 0 && w.Start < t.Words[i-1].Start {
				p.t.Errorf("words %+v: want times that rise", t.Words)
			}
		}
	}
	p.mu.Unlock()
	if partials < 2 || last == "" {
		p.t.Errorf("%d partials, want several", partials)
	}
	p.say()
	p.wantFinals("from new york to boston", "on friday please")
	wantRules(p.t, p.server)
}

func hostedPrompt(p *caller) {
	p.open()
	for i, write := range []func(time.Duration) error{p.sound, p.silence, p.sound} {
		p.must(p.s.Begin())
		p.must(write(800 * time.Millisecond))
		p.must(p.s.Finalize())
		p.sleep(100 * time.Millisecond)
		if got := p.finals(); len(got) != i+1 || (got[i] == "") != (i == 1) {
			p.t.Errorf("finals %q 100 ms after utterance %d", got, i+1)
		}
	}
	if n := p.server.Connections(); n != 1 {
		p.t.Errorf("%d connections, want 1", n)
	}
	wantRules(p.t, p.server)
}

func hostedRefused(class string, after time.Duration) func(*caller) {
	return func(p *caller) {
		_, err := p.r.Open(p.t.Context(), port.RecognizerConfig{Rate: 16000}, func(port.Transcript) {})
		if f := p.wantFailure(err, class); f.After != after {
			p.t.Errorf("after %v, want %v", f.After, after)
		}
	}
}

func hostedCut(p *caller) {
	p.open()
	p.say()
	if n := len(p.finals()); n != 1 {
		p.t.Errorf("%d finals, want 1", n)
	}
	// The engine behind the fake has given the first text to the connection that was cut.
	p.wantFinals("on friday please")
	if n := p.server.Connections(); n != 2 {
		p.t.Errorf("%d connections, want 2", n)
	}
}

// hostedFails checks that a service that fails again and again ends the stream with an error,
// soon, and with not more than one connection for each attempt.
func hostedFails(class string) func(*caller) {
	return func(p *caller) {
		p.open()
		began := time.Now()
		err := p.s.Begin()
		for err == nil && time.Since(began) < 10*time.Second {
			err = p.sound(time.Second)
		}
		_ = p.wantFailure(err, class)
		if took := time.Since(began); took > 4*time.Second {
			p.t.Errorf("the error came after %v", took)
		}
		if n := p.server.Connections(); n > 3 {
			p.t.Errorf("%d connections", n)
		}
	}
}

func hostedSlow(p *caller) {
	s, err := p.r.Open(p.t.Context(), port.RecognizerConfig{Rate: 16000}, func(port.Transcript) {})
	if err == nil { // a service may be silent only after it was told what to do
		p.s = s
		if err = s.Begin(); err == nil {
			err = p.sound(20 * time.Second)
		}
	}
	_ = p.wantFailure(err, errclass.NetworkTimeout)
}

func hostedDeaf(p *caller) {
	p.open()
	p.must(p.s.Begin())
	p.must(p.sound(time.Second))
	asked := time.Now()
	p.must(p.s.Finalize())
	for len(p.finals()) == 0 && time.Since(asked) < 5*time.Second {
		p.sleep(10 * time.Millisecond)
	}
	if took := time.Since(asked); took > time.Second {
		p.t.Errorf("the final result came after %v, want it within a conversation's patience", took)
	}
	p.wantFinals("")
	p.say()
	p.wantFinals("", "from new york to boston")
}

// hostedDeafOnce checks that an utterance that is open when the one before it is answered for
// is heard.
func hostedDeafOnce(p *caller) {
	p.open()
	p.must(p.s.Begin())
	p.must(p.sound(time.Second))
	p.must(p.s.Finalize())
	p.say()
	p.wantFinals("", "from new york to boston")
}

func hostedIdle(p *caller) {
	p.open()
	p.say()
	p.sleep(2 * time.Minute)
	p.pos += audio.PosOf(2*time.Minute, 16000)
	p.say()
	p.wantFinals("from new york to boston", "on friday please")
	if n := p.server.Connections(); n != 1 {
		p.t.Errorf("%d connections, want 1", n)
	}
	wantRules(p.t, p.server)
}

func hostedLostIdle(p *caller) {
	p.open()
	p.say()
	p.net.Cut()
	p.sleep(time.Minute)
	p.say()
	p.wantFinals("from new york to boston", "on friday please")
	if n := p.server.Connections(); n != 2 {
		p.t.Errorf("%d connections, want 2", n)
	}
}

func hostedCutThenLost(p *caller) {
	p.open()
	p.say()
	p.net.Cut()
	p.sleep(time.Minute)
	p.say()
	// The engine behind the fake has given the first text to the connection that was cut.
	p.wantFinals("on friday please", "yes")
}

func hostedDiscards(p *caller) {
	p.open()
	p.must(p.s.Begin())
	p.must(p.sound(time.Second))
	p.must(p.s.Discard())
	p.mu.Lock()
	known := len(p.got)
	p.mu.Unlock()
	p.must(p.s.Begin())
	p.must(p.sound(time.Second))
	p.must(p.s.Finalize())
	p.sleep(1500 * time.Millisecond)
	p.mu.Lock()
	for _, t := range p.got[known:] {
		if strings.Contains(t.Text, "boston") {
			p.t.Errorf("a discarded word comes in %+v", t)
		}
	}
	p.mu.Unlock()
	if got := p.finals(); len(got) != 1 || !strings.HasPrefix(got[0], "on friday") {
		p.t.Errorf("finals %q, want those of the second utterance", got)
	}
}

func hostedExpects(p *caller) {
	p.open()
	p.s.Expect(port.Expectation{Kind: "city", Phrases: []string{"boston", "new york"}})
	p.say()
	p.s.Expect(port.Expectation{Kind: "date", Phrases: []string{"friday"}})
	p.say()
	p.s.Expect(port.Expectation{})
	p.say()
	p.wantFinals("from new york to boston", "on friday please", "yes")
	wantRules(p.t, p.server)
}

func hostedCloses(p *caller) {
	p.open()
	p.must(p.s.Begin())
	p.must(p.sound(time.Second))
	p.must(p.s.Finalize())
	p.must(p.s.Begin())
	p.must(p.sound(500 * time.Millisecond))
}
