package porttest

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/hocketvoice/hocket/internal/fakes"
	"github.com/hocketvoice/hocket/internal/llm"
	"github.com/hocketvoice/hocket/internal/nettest"
	"github.com/hocketvoice/hocket/port"
	"github.com/hocketvoice/hocket/port/errclass"
)

// This file tests what language models do when the service, the network or the caller fails.

func (h HostedModel) failures(t *testing.T) {
	for _, c := range []struct {
		a     fakes.MindAnswer
		class string
		after time.Duration
		words string
	}{
		{fakes.MindAnswer{Status: 429, RetryAfter: "7", Message: "slow down"}, errclass.RateLimit, 7 * time.Second, "slow down"},
		{fakes.MindAnswer{Status: 529, Message: "Overloaded"}, errclass.RateLimit, 0, "Overloaded"},
		{fakes.MindAnswer{Status: 500, Message: "boom"}, errclass.ServerError, 0, "boom"},
		{fakes.MindAnswer{Status: 403, Message: "not in your country"}, errclass.AuthFailure, 0, "country"},
		{fakes.MindAnswer{Status: 404, Message: "no such model"}, errclass.Unknown, 0, "base URL and the model"},
		{fakes.MindAnswer{Status: 504, Message: "late"}, errclass.NetworkTimeout, 0, "late"},
		{fakes.MindAnswer{Said: []string{"It "}, Broken: 429, Message: "slow down"}, errclass.RateLimit, 0, "slow down"},
		{fakes.MindAnswer{Said: []string{"It "}, Broken: 500, Message: "boom " + HostedKey}, errclass.ServerError, 0, "boom [key]"},
		{fakes.MindAnswer{Raw: "<html>no", Type: "text/html"}, errclass.Unknown, 0, "expected an event stream"},
	} {
		h.in(t, say(c.a), nil, func(w *hostedModel) {
			f := w.fails(c.class, c.words)
			if c.a.Status != 0 && f.After != c.after {
				w.t.Errorf("%s: after %v, want %v", c.words, f.After, c.after)
			}
			if c.a.Broken != 0 && f.Partial != "It " {
				w.t.Errorf("%s: partial %q", c.words, f.Partial)
			}
			if n := len(w.fake.Requests()); n != 1 {
				w.t.Errorf("%s: %d requests, want 1: nothing is retried here", c.words, n)
			}
		})
	}
	synctest.Test(t, func(t *testing.T) {
		f := h.Fake("another-key")
		way := nettest.Serve(t, f).Transport()
		defer way.CloseIdleConnections()
		m, err := h.Open(llm.Options{BaseURL: "http://llm.test" + h.Path, Model: "fake-1", KeyEnv: "K", Getenv: func(string) string { return HostedKey }, Transport: way})
		if err != nil {
			t.Fatal(err)
		}
		w := &hostedModel{t: t, fake: f, model: m}
		_ = w.fails(errclass.AuthFailure)
		if err := m.Probe(t.Context()); err == nil {
			t.Error("the probe accepts an expired key")
		}
	})
}

func (h HostedModel) broken(t *testing.T) {
	a := fakes.MindAnswer{Said: []string{"It ", "is."}}
	size := 0
	h.in(t, say(a), nil, func(w *hostedModel) {
		if _, _, err := w.hear(w.t.Context(), modelQuestion()); err != nil {
			w.t.Fatal(err)
		}
		size = len(w.fake.Stream(w.fake.Requests()[0], a))
	})
	for cut := 1; cut < size; cut += 29 {
		a.Cut = cut
		h.in(t, say(a), nil, func(w *hostedModel) {
			text, _, err := w.hear(w.t.Context(), modelQuestion())
			if f, ok := errors.AsType[*port.Failure](err); err != nil && (!ok || f.Code != errclass.NetworkTimeout || f.Partial != text) {
				w.t.Errorf("cut after %d of %d bytes: %q, error %v", cut, size, text, err)
			} else if err == nil && text != "It is." {
				w.t.Errorf("cut after %d of %d bytes: %q, without an error", cut, size, text)
			}
		})
	}
	for _, raw := range []string{"data: {\n\n", "data: [1]\n\n", "data: \"x\"\n\n", "data: {\"type\":1,\"candidates\":3}\n\n", "\x00\xff\xfe\n\n", "data: " + strings.Repeat("x", 2<<20) + "\n\n"} {
		h.in(t, say(fakes.MindAnswer{Raw: raw}), nil, func(w *hostedModel) {
			_, _, err := w.hear(w.t.Context(), modelQuestion())
			if f, ok := errors.AsType[*port.Failure](err); !ok || f.Code != errclass.ServerError && f.Code != errclass.NetworkTimeout || len(f.Message) > 600 {
				w.t.Errorf("%.20q: error %v", raw, err)
			}
		})
	}
}

func (h HostedModel) time(t *testing.T) {
	limits := func(o *llm.Options) { o.FirstChunk, o.Stall = 3*time.Second, 2*time.Second }
	h.in(t, say(fakes.MindAnswer{Said: []string{"late"}, First: time.Hour}), limits, func(w *hostedModel) {
		start := time.Now()
		_ = w.fails(errclass.NetworkTimeout, "did not start to answer for 3s")
		if d := time.Since(start); d != 3*time.Second {
			w.t.Errorf("after %v, want 3s", d)
		}
	})
	h.in(t, say(fakes.MindAnswer{Said: []string{"It ", "is ", "late"}, Gap: time.Hour}), limits, func(w *hostedModel) {
		start := time.Now()
		_ = w.fails(errclass.NetworkTimeout, "for 2s")
		if d := time.Since(start); d != 2*time.Second {
			w.t.Errorf("after %v, want 2s", d)
		}
	})
	h.in(t, say(fakes.MindAnswer{Said: []string{"It ", "is ", "slow"}, Gap: 1900 * time.Millisecond}), limits, func(w *hostedModel) {
		// A slow caller costs nothing, a slow service is waited for.
		err := w.model.Reply(w.t.Context(), modelQuestion(), func(port.Delta) error { <-time.After(time.Minute); return nil })
		if err != nil {
			w.t.Error(err)
		}
	})
}

func (h HostedModel) cancels(t *testing.T) {
	for name, a := range map[string]fakes.MindAnswer{
		"between pieces": {Said: []string{"one ", "two "}, Gap: time.Second}, "before the first": {Said: []string{"never"}, First: time.Hour},
	} {
		h.in(t, say(a), nil, func(w *hostedModel) {
			ctx, cancel := context.WithCancel(w.t.Context())
			start := time.Now()
			time.AfterFunc(1500*time.Millisecond, cancel)
			_, _, err := w.hear(ctx, modelQuestion())
			if at := time.Since(start); !errors.Is(err, context.Canceled) || at != 1500*time.Millisecond {
				w.t.Errorf("%s: returned at %v with %v, want at 1.5s, canceled", name, at, err)
			}
			synctest.Wait() // no time passes
			if at := time.Since(start); at != 1500*time.Millisecond || w.fake.Left() != 1 {
				w.t.Errorf("%s: the service has noticed %d ends after %v, want 1 at 1.5s", name, w.fake.Left(), at)
			}
		})
	}
}

func (h HostedModel) probe(t *testing.T) {
	h.in(t, nil, nil, func(w *hostedModel) {
		if err := w.model.Probe(w.t.Context()); err != nil || len(w.fake.Requests()) != 0 {
			w.t.Errorf("error %v, %d requests", err, len(w.fake.Requests()))
		}
		if s := fmt.Sprintf("%v %+v %#v", w.model, w.model, w.model); strings.Contains(s, HostedKey) {
			w.t.Errorf("the key is in %s", s)
		}
	})
	synctest.Test(t, func(t *testing.T) {
		m, err := h.Open(llm.Options{BaseURL: "http://llm.test" + h.Path, Model: "fake-1", Transport: http.NewFileTransport(http.Dir("."))})
		if err != nil {
			t.Fatal(err)
		}
		if key := m.Header().Get("Authorization") + m.Header().Get("X-Api-Key") + m.Header().Get("X-Goog-Api-Key"); key != "" {
			t.Errorf("a key is sent to an unknown host without key_env: %q", key)
		}
	})
}
