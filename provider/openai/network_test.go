package openai

import (
	"context"
	"errors"
	"net"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/goleak"

	"github.com/hocketvoice/hocket/internal/nettest"
	"github.com/hocketvoice/hocket/port"
	"github.com/hocketvoice/hocket/provider/openai/fake"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

const testKey = "sk-test-0123456789abcdef"

// world is a model and its server in a synctest bubble.
type world struct {
	t   *testing.T
	net *nettest.Memory
	// reach, if not nil, is called before a connection is established. The
	// transport may dial for longer than the request lives.
	reach  atomic.Pointer[func(context.Context) error]
	server *fake.Server
	model  *Model
	report []Report
	quiet  bool // no reports are kept, of requests at the same time
}

// try runs a test in a bubble, with a server that answers with the given function.
func try(t *testing.T, answer func(fake.Request) fake.Answer, change func(*Options, *fake.Server), f func(*world)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		w := &world{t: t, server: &fake.Server{Key: testKey, Answer: answer}}
		o := Options{
			BaseURL: "http://llm.test/v1", Model: "fake-1", KeyEnv: "KEY",
			Getenv: func(string) string { return testKey },
			Report: func(r Report) {
				if !w.quiet {
					w.report = append(w.report, r)
				}
			},
		}
		if change != nil {
			change(&o, w.server)
		}
		m, err := New(o)
		if err != nil {
			t.Fatal(err)
		}
		w.model = m
		m.Transport().Proxy = nil
		w.net = nettest.Serve(t, w.server)
		dial := w.net.Transport().DialContext
		m.Transport().DialContext = func(ctx context.Context, network, address string) (net.Conn, error) {
			if reach := w.reach.Load(); reach != nil {
				if err := (*reach)(ctx); err != nil {
					return nil, err
				}
			}
			return dial(ctx, network, address)
		}
		defer func() { _ = m.Close() }()
		f(w)
	})
}

// answers returns a function that gives the same answer to every request.
func answers(a fake.Answer) func(fake.Request) fake.Answer {
	return func(fake.Request) fake.Answer { return a }
}

// hear requests a reply and collects it.
func (w *world) hear(ctx context.Context, r port.Request) (text string, calls []port.ToolCall, err error) {
	var b strings.Builder
	err = w.model.Reply(ctx, r, func(d port.Delta) error {
		b.WriteString(d.Text)
		if d.Call != nil {
			calls = append(calls, *d.Call)
		}
		return nil
	})
	return b.String(), calls, err
}

// wantFailure checks that an error is a failure of a class whose message contains
// the words.
func (w *world) wantFailure(class string, words ...string) {
	w.t.Helper()
	w.failure(class, words...)
}

// failure requests a reply and returns the failure checked by wantFailure.
func (w *world) failure(class string, words ...string) port.Failure {
	w.t.Helper()
	_, _, err := w.hear(w.t.Context(), question())
	return *wantFailure(w.t, err, class, words...)
}

func wantFailure(t *testing.T, err error, class string, words ...string) *port.Failure {
	t.Helper()
	var f *port.Failure
	if !errors.As(err, &f) {
		t.Fatalf("error %v, expected a failure", err)
	}
	if f.Code != class {
		t.Errorf("class %s, expected %s: %s", f.Code, class, f.Message)
	}
	for _, word := range words {
		if !strings.Contains(f.Message, word) {
			t.Errorf("message %q, expected %q in it", f.Message, word)
		}
	}
	if strings.Contains(err.Error(), testKey) {
		t.Errorf("the key is in the error %q", err)
	}
	return f
}

func question() port.Request {
	return port.Request{
		Instructions: "Be brief.",
		Messages:     []port.Message{{Role: "user", Content: "Is the flight booked?"}},
	}
}

// took runs f and returns how long it took.
func took(f func()) time.Duration {
	start := time.Now()
	f()
	return time.Since(start)
}
