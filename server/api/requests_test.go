package api

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"log/slog"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/coder/websocket"

	"github.com/hocketvoice/hocket/internal/waittest"
	"github.com/hocketvoice/hocket/server/hub"
	"github.com/hocketvoice/hocket/server/panel"
)

// counter counts requests.
type counter struct {
	mu       sync.Mutex
	inFlight int
	ended    map[string]int
}

func (c *counter) RequestBegan() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.inFlight++
}

func (c *counter) RequestEnded(route, method string, status int, took time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.inFlight--
	if took <= 0 {
		route = "took no time: " + route
	}
	c.ended[method+" "+route+" "+http.StatusText(status)]++
}

// TestAccessLog checks that each finished request has a line, including event
// streams and WebSockets, without tokens, queries or words.
func TestAccessLog(t *testing.T) {
	var log safeBuffer
	counted := &counter{ended: map[string]int{}}
	h := newHouse(t, hub.Options{}, func(o *Options) {
		o.Access, o.Requests = slog.New(slog.NewJSONHandler(&log, nil)), counted
		keys, err := ParseKeys("office office-key-0123456789")
		if err != nil {
			t.Fatal(err)
		}
		o.Keys = keys
	})
	h.key = "office-key-0123456789"
	made := h.begin("flights")
	h.say(made.ID, "book a flight to Denver")
	h.refused(http.StatusNotFound, "no_such_path", "GET", "/v1/nothing?token=secret-in-a-query", "")
	conn, w, err := websocket.Dial(t.Context(), "ws"+strings.TrimPrefix(h.url, "http")+"/v1/conversations/"+made.ID+"/events?from=1", &websocket.DialOptions{
		Subprotocols: []string{"hocket.events", "hocket.bearer." + made.AccessToken},
	})
	if err != nil {
		t.Fatal(err)
	}
	if w.Body != nil {
		_ = w.Body.Close()
	}
	for range 3 {
		if _, _, err := conn.Read(waittest.Context(t)); err != nil {
			t.Fatal(err)
		}
	}
	_ = conn.Close(websocket.StatusNormalClosure, "")
	lines := func() (list []map[string]any) {
		for line := range bytes.Lines([]byte(log.String())) {
			var m map[string]any
			if err := json.Unmarshal(line, &m); err != nil {
				t.Fatalf("%s: %v", line, err)
			}
			list = append(list, m)
		}
		return list
	}
	waittest.Until(t, "the log of four requests", nil, func() bool { return len(lines()) >= 4 })
	for i, want := range []struct {
		method, route string
		status, bytes float64
		owner         string
	}{
		{"POST", "/v1/conversations", 201, 100, "office"},
		{"POST", "/v1/conversations/{id}/commands", 202, 2, "office"},
		{"GET", "/v1/", 404, 20, ""},
		{"GET", "/v1/conversations/{id}/events", 101, 200, ""},
	} {
		m := lines()[i]
		remote, _ := m["remote"].(string)
		id, _ := m["request"].(string)
		seconds, _ := m["seconds"].(float64)
		if m["method"] != want.method || m["route"] != want.route || m["status"] != want.status || m["bytes"].(float64) < want.bytes ||
			m["owner"] != want.owner || !strings.HasPrefix(remote, "127.0.0.1:") || !strings.HasPrefix(id, "req_") || seconds <= 0 {
			t.Errorf("line %d is %v, expected %+v", i+1, m, want)
		}
	}
	for _, secret := range []string{"secret-in-a-query", h.key, made.AccessToken, made.ResumeToken, "Denver", made.ID} {
		if strings.Contains(log.String(), secret) {
			t.Errorf("the log has %q", secret)
		}
	}
	counted.mu.Lock()
	defer counted.mu.Unlock()
	if counted.inFlight != 0 || counted.ended["GET /v1/conversations/{id}/events Switching Protocols"] != 1 || counted.ended["GET /v1/ Not Found"] != 1 {
		t.Errorf("%d run, %v ended", counted.inFlight, counted.ended)
	}
}

// TestRequestIDs checks that a client's valid request id is used, and an invalid
// one is not.
func TestRequestIDs(t *testing.T) {
	h := newHouse(t, hub.Options{}, nil)
	for given, kept := range map[string]bool{"abc-1.2_X": true, "": false, "a b": false, strings.Repeat("x", 65): false, "x\"y": false} {
		q, err := http.NewRequestWithContext(t.Context(), http.MethodGet, h.url+"/healthz", nil)
		if err != nil {
			t.Fatal(err)
		}
		q.Header.Set("X-Request-Id", given)
		w, err := http.DefaultClient.Do(q)
		if err != nil {
			t.Fatal(err)
		}
		_ = w.Body.Close()
		if got := w.Header.Get("X-Request-Id"); got == "" || (got == given) != kept {
			t.Errorf("%q becomes %q", given, got)
		}
	}
}

// TestMethods checks that a request with an unsupported method is told the
// supported ones.
func TestMethods(t *testing.T) {
	h := newHouse(t, hub.Options{}, func(o *Options) { o.Panel = nil })
	for _, c := range []struct{ method, path, allow string }{
		{"DELETE", "/v1/agents", "GET, HEAD"},
		{"PUT", "/v1/conversations", "GET, HEAD, POST"},
		{"GET", "/v1/client_tokens", "POST"},
		{"POST", "/healthz", "GET, HEAD"},
		{"BREW", "/v1/conversations/x/sdp", "POST"},
	} {
		q, err := http.NewRequestWithContext(t.Context(), c.method, h.url+c.path, nil)
		if err != nil {
			t.Fatal(err)
		}
		w, err := http.DefaultClient.Do(q)
		if err != nil {
			t.Fatal(err)
		}
		b, err := io.ReadAll(w.Body)
		_ = w.Body.Close()
		var f Failure
		if err != nil || json.Unmarshal(b, &f) != nil || w.StatusCode != http.StatusMethodNotAllowed || w.Header.Get("Allow") != c.allow || f.Error.Code != "method_not_allowed" {
			t.Errorf("%s %s: %d, Allow %q, %s (%v)", c.method, c.path, w.StatusCode, w.Header.Get("Allow"), b, err)
		}
	}
	h.refused(http.StatusNotFound, "no_such_path", "POST", "/elsewhere", "")
}

// TestReadyChecks checks that /readyz reports the reasons.
func TestReadyChecks(t *testing.T) {
	var mu sync.Mutex
	down := errors.New("connect to user:password@store")
	h := newHouse(t, hub.Options{}, func(o *Options) {
		o.Ready = []Check{{Name: "store", Check: func(ctx context.Context) error {
			if _, ok := ctx.Deadline(); !ok {
				t.Error("the check has all the time of the world")
			}
			mu.Lock()
			defer mu.Unlock()
			return down
		}}}
	})
	got := ask[Health](h, http.StatusServiceUnavailable, "GET", "/readyz", "")
	if got.Status != "not_ready" || len(got.Reasons) != 1 || got.Reasons[0] != "store" {
		t.Errorf("%+v", got)
	}
	mu.Lock()
	down = nil
	mu.Unlock()
	got = ask[Health](h, http.StatusOK, "GET", "/readyz", "")
	if got.Status != "ok" || got.Reasons != nil {
		t.Errorf("%+v", got)
	}
}

// TestReadyWithoutOptional checks that a failed optional check leaves the server ready, and
// that the log has a line for each change and not for each request.
func TestReadyWithoutOptional(t *testing.T) {
	var log bytes.Buffer
	down := errors.New("the vendor does not answer")
	h := newHouse(t, hub.Options{}, func(o *Options) {
		o.Log = slog.New(slog.NewTextHandler(&log, nil))
		o.Ready = []Check{{Name: "model", Optional: true, Check: func(context.Context) error { return down }}}
	})
	for range 3 {
		got := ask[Health](h, http.StatusOK, "GET", "/readyz", "")
		if got.Status != "ok" || got.Reasons != nil || !slices.Equal(got.Degraded, []string{"model"}) {
			t.Errorf("%+v", got)
		}
	}
	down = nil
	for range 3 {
		if got := ask[Health](h, http.StatusOK, "GET", "/readyz", ""); got.Degraded != nil {
			t.Errorf("%+v", got)
		}
	}
	text := log.String()
	if strings.Count(text, "msg=degraded check=model error=\"the vendor does not answer\"") != 1 || strings.Count(text, "msg=\"ready again\" check=model") != 1 {
		t.Error(text)
	}
}

// TestSecurityHeaders checks the headers that restrict what browsers do with an answer.
func TestSecurityHeaders(t *testing.T) {
	h := newHouse(t, hub.Options{}, nil)
	for path, want := range map[string]map[string]string{
		"/v1/agents": {"X-Content-Type-Options": "nosniff", "Cross-Origin-Resource-Policy": "same-origin", "Cache-Control": "no-store"},
		"/": {
			"X-Content-Type-Options": "nosniff", "Content-Security-Policy": panel.ContentSecurityPolicy, "X-Frame-Options": "DENY",
			"Referrer-Policy": "no-referrer", "Cross-Origin-Opener-Policy": "same-origin",
			"Permissions-Policy": "microphone=(self), camera=(), geolocation=()",
		},
	} {
		q, err := http.NewRequestWithContext(t.Context(), http.MethodGet, h.url+path, nil)
		if err != nil {
			t.Fatal(err)
		}
		w, err := http.DefaultClient.Do(q)
		if err != nil {
			t.Fatal(err)
		}
		_ = w.Body.Close()
		for name, value := range want {
			if got := w.Header.Get(name); got != value {
				t.Errorf("%s: %s is %q, expected %q", path, name, got, value)
			}
		}
	}
}
