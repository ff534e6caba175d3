package socket

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/coder/websocket"

	"github.com/hocketvoice/hocket/internal/nettest"
	"github.com/hocketvoice/hocket/port"
	"github.com/hocketvoice/hocket/port/errclass"
)

const key = "sesame-1234"

// with runs a test against a server in a bubble.
func with(t *testing.T, h http.HandlerFunc, f func(t *testing.T, n *nettest.Memory, d *Dialer)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		n := nettest.Serve(t, h)
		d := New(Options{Name: "vendor", Secrets: []string{key}, Transport: n.Transport(), MaxMessage: 100})
		defer d.Close()
		f(t, n, d)
	})
}

// want checks that an error is a failure of a class, without the key.
func want(t *testing.T, err error, class, words string) *port.Failure {
	t.Helper()
	f, ok := errors.AsType[*port.Failure](err)
	if !ok {
		t.Fatalf("error %v, want a failure", err)
	}
	if f.Code != class || !strings.Contains(f.Message, words) || strings.Contains(f.Message, key) {
		t.Errorf("failure %v, want %s with %q and without the key", f, class, words)
	}
	return f
}

func accept(t *testing.T, w http.ResponseWriter, r *http.Request) *websocket.Conn {
	c, err := websocket.Accept(w, r, nil)
	if err != nil {
		t.Error(err)
	}
	return c
}

func TestRefusals(t *testing.T) {
	for _, c := range []struct {
		status int
		header [2]string
		body   string
		class  string
		words  string
		after  time.Duration
	}{
		{401, [2]string{}, `{"error":"the key ` + key + ` has expired"}`, errclass.AuthFailure, "the key *** has expired", 0},
		{429, [2]string{"Retry-After", "7"}, "slow down", errclass.RateLimit, "slow down", 7 * time.Second},
		{503, [2]string{"Retry-After", "1"}, "", errclass.ServerError, "no message", time.Second},
		{400, [2]string{}, "bad\nrequest", errclass.Unknown, "bad request", 0},
		{302, [2]string{"Location", "http://elsewhere/"}, "", errclass.Unknown, "redirects are not followed", 0},
		{502, [2]string{"Content-Type", "text/html"}, "<p>secret page", errclass.ServerError, "no message", 0},
	} {
		h := func(w http.ResponseWriter, _ *http.Request) {
			if c.header[0] != "" {
				w.Header().Set(c.header[0], c.header[1])
			}
			w.WriteHeader(c.status)
			_, _ = w.Write([]byte(c.body))
		}
		with(t, h, func(t *testing.T, n *nettest.Memory, d *Dialer) {
			_, err := d.Dial(t.Context(), "wss://vendor.test/x", nil)
			if f := want(t, err, c.class, c.words); f.After != c.after || f.Retryable != (errclass.Of(c.class).Retries > 0) {
				t.Errorf("%d: %+v, want after %v", c.status, f, c.after)
			}
			if n.Dials() != 1 {
				t.Errorf("%d: %d dials", c.status, n.Dials())
			}
		})
	}
}

func TestServerThatDoesNotAnswer(t *testing.T) {
	with(t, func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() }, func(t *testing.T, _ *nettest.Memory, d *Dialer) {
		began := time.Now()
		_, err := d.Dial(t.Context(), "ws://vendor.test/x", nil)
		want(t, err, errclass.NetworkTimeout, "within 5s")
		if took := time.Since(began); took != 5*time.Second {
			t.Errorf("took %v", took)
		}
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		if _, err := d.Dial(ctx, "ws://vendor.test/x", nil); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("error %v, want the caller's", err)
		}
	})
}

func TestMessagesAndCloseCodes(t *testing.T) {
	for _, c := range []struct {
		code  websocket.StatusCode
		class string
	}{
		{1000, errclass.NetworkTimeout},
		{1001, errclass.NetworkTimeout},
		{1008, errclass.Unknown},
		{1011, errclass.ServerError},
		{1012, errclass.NetworkTimeout},
		{1013, errclass.NetworkTimeout},
		{3000, errclass.AuthFailure},
		{3008, errclass.NetworkTimeout},
		{4000, errclass.Unknown},
	} {
		h := func(w http.ResponseWriter, r *http.Request) {
			if r.Header.Get("X-Key") != key {
				t.Errorf("header %v", r.Header)
			}
			ws := accept(t, w, r)
			kind, data, err := ws.Read(r.Context())
			if err != nil {
				t.Error(err)
			}
			_ = ws.Write(r.Context(), kind, append(data, '!'))
			_ = ws.Close(c.code, "about "+key)
		}
		with(t, h, func(t *testing.T, _ *nettest.Memory, d *Dialer) {
			ws, err := d.Dial(t.Context(), "ws://vendor.test/x", http.Header{"X-Key": {key}})
			if err != nil {
				t.Fatal(err)
			}
			defer func() { _ = ws.CloseNow() }()
			if err := ws.Write(t.Context(), Message{Binary: true, Data: []byte("ab")}); err != nil {
				t.Fatal(err)
			}
			if m, err := ws.Read(t.Context()); err != nil || !m.Binary || string(m.Data) != "ab!" {
				t.Errorf("%+v, error %v", m, err)
			}
			_, err = ws.Read(t.Context())
			want(t, err, c.class, "about ***")
		})
	}
}

func TestSlowAndLongAndCut(t *testing.T) {
	h := func(w http.ResponseWriter, r *http.Request) {
		ws := accept(t, w, r)
		if r.URL.Path == "/long" {
			_ = ws.Write(r.Context(), websocket.MessageText, make([]byte, 101))
		}
		<-r.Context().Done()
		_ = ws.CloseNow()
	}
	with(t, h, func(t *testing.T, n *nettest.Memory, d *Dialer) {
		dial := func(path string) *Conn {
			ws, err := d.Dial(t.Context(), "ws://vendor.test"+path, nil)
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { _ = ws.CloseNow() })
			return ws
		}
		_, err := dial("/long").Read(t.Context())
		want(t, err, errclass.ServerError, "longer than 100 bytes")

		slow, began := dial("/slow"), time.Now()
		for err = nil; err == nil; {
			err = slow.Write(t.Context(), Text("a word"))
		}
		want(t, err, errclass.NetworkTimeout, "read nothing for 5s")
		if took := time.Since(began); took != 5*time.Second {
			t.Errorf("took %v", took)
		}
		cut := dial("/cut")
		n.Cut()
		_, err = cut.Read(t.Context())
		want(t, err, errclass.NetworkTimeout, "the connection failed")
	})
}

// TestKeyGoesToItsVendorAlone checks which environment variable is read for which address.
func TestKeyGoesToItsVendorAlone(t *testing.T) {
	find := func(env string) string { return map[string]string{"V": key, "OTHER": "other", "BAD": "a b"}[env] }
	for _, c := range []struct {
		url, key, want string
		foreign        bool
	}{
		{"", "", key, false},
		{"wss://eu.vendor.com/x", "", key, false},
		{"wss://vendor.com/x", "", key, false},
		{"ws://stt.vendor.com/x", "", "", false},
		{"wss://evilvendor.com/x", "", "", false},
		{"wss://vendor.com.evil/x", "", "", false},
		{"ws://127.0.0.1:1/x", "", "", false},
		{"ws://127.0.0.1:1/x", "V", key, true},
		{"ws://127.0.0.1:1/x", "OTHER", "other", false},
	} {
		a := Address{Own: "wss://stt.vendor.com/y", URL: c.url, Env: "V", Key: c.key, Find: find}
		if got, err := a.Secret(); got != c.want || err != nil || a.Foreign() != c.foreign {
			t.Errorf("%q with %q: key %q, foreign %v, error %v", c.url, c.key, got, a.Foreign(), err)
		}
	}
	for env, words := range map[string]string{"NONE": "NONE is not set", "BAD": "has spaces"} {
		if _, err := (Address{Env: env, Find: find}).Secret(); err == nil || !strings.Contains(err.Error(), words) {
			t.Errorf("%s: error %v", env, err)
		}
	}
}

func TestCheckURL(t *testing.T) {
	for text, words := range map[string]string{
		"wss://host/path": "", "ws://127.0.0.1:8080": "",
		"http://host": "expected a URL such as", "host": "expected a URL such as", "": "expected a URL such as", "ws://": "expected a URL such as",
		"wss://u:" + key + "@host": "user name", "wss://host?key=" + key: "a query", "wss://host#a": "a fragment",
	} {
		err := CheckURL(text)
		if (err == nil) != (words == "") || err != nil && (!strings.Contains(err.Error(), words) || strings.Contains(err.Error(), key)) {
			t.Errorf("%q: %v, want %q", text, err, words)
		}
	}
}
