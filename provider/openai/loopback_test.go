package openai

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/hocketvoice/hocket/port"
	"github.com/hocketvoice/hocket/provider/openai/fake"
)

// onLoopback returns a model of a server on the loopback interface, over real HTTP.
func onLoopback(t testing.TB, s http.Handler) *Model {
	t.Helper()
	server := httptest.NewServer(s)
	t.Cleanup(server.Close)
	m, err := New(Options{BaseURL: server.URL + "/v1", Model: "fake-1", KeyEnv: "KEY", Getenv: func(string) string { return testKey }})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = m.Close() })
	return m
}

// Over a real connection the server also notices the end of a request, with both
// versions of HTTP.
func TestCancelReachesTheServer(t *testing.T) {
	for _, two := range []bool{false, true} {
		gone := make(chan time.Time, 1)
		a := fake.Text("one ")
		a.Hang, a.NoDone, a.Events = true, true, a.Events[:2]
		f := &fake.Server{Key: testKey, Answer: answers(a)}
		server := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if want := map[bool]int{false: 1, true: 2}[two]; r.ProtoMajor != want {
				t.Errorf("HTTP/%d, expected %d", r.ProtoMajor, want)
			}
			f.ServeHTTP(w, r)
			gone <- time.Now()
		}))
		server.EnableHTTP2 = two
		if two {
			server.StartTLS()
		} else {
			server.Start()
		}
		m, err := New(Options{BaseURL: server.URL + "/v1", Model: "m", KeyEnv: "KEY", Getenv: func(string) string { return testKey }})
		if err != nil {
			t.Fatal(err)
		}
		if two {
			m.Transport().TLSClientConfig = server.Client().Transport.(*http.Transport).TLSClientConfig
		}
		ctx, cancel := context.WithCancel(t.Context())
		var at time.Time
		err = m.Reply(ctx, question(), func(port.Delta) error { at = time.Now(); cancel(); return nil })
		returned := time.Since(at)
		if !errors.Is(err, context.Canceled) {
			t.Errorf("error %v", err)
		}
		end := <-gone
		t.Logf("HTTP/2 %v: Reply returned after %v, the server noticed after %v", two, returned, end.Sub(at))
		_ = m.Close()
		server.Close()
	}
}

// BenchmarkReply measures a whole request over the loopback: 40 pieces of text.
// Goal: less than 1 ms, so that the client does not add to a reply's latency.
func BenchmarkReply(b *testing.B) {
	pieces := make([]string, 40)
	for i := range pieces {
		pieces[i] = "word "
	}
	m := onLoopback(b, &fake.Server{Key: testKey, Answer: answers(fake.Text(pieces...))})
	b.ReportAllocs()
	for b.Loop() {
		if err := m.Reply(b.Context(), question(), func(port.Delta) error { return nil }); err != nil {
			b.Fatal(err)
		}
	}
}
