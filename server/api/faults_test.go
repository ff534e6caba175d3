package api

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/coder/websocket"

	"github.com/hocketvoice/hocket/internal/waittest"
	"github.com/hocketvoice/hocket/server/hub"
)

// This file tests misbehaving clients. Their errors are reported, nothing is left
// behind (TestMain checks for goroutines), and other conversations are not
// affected.

// works checks that another conversation works: it takes a few turns.
func (h *house) works() {
	h.t.Helper()
	made := h.begin("flights")
	events := h.listen("/v1/conversations/" + made.ID + "/events?from=1")
	events.heard("Welcome")
	h.say(made.ID, "book a flight")
	events.heard("fly from")
	ask[Empty](h, http.StatusAccepted, "POST", "/v1/conversations/"+made.ID+"/commands", `{"type":"endConversation"}`)
}

// streams returns the number of event streams that the server counts.
func (h *house) streams() int {
	h.api.mu.Lock()
	defer h.api.mu.Unlock()
	n := 0
	for _, of := range h.api.streams {
		n += of
	}
	return n
}

func TestBadBodies(t *testing.T) {
	h := newHouse(t, hub.Options{}, nil)
	made := h.begin("flights")
	commands := "/v1/conversations/" + made.ID + "/commands"
	megabyte := strings.Repeat("x", 1<<20)
	for _, c := range []struct {
		path, body string
		status     int
		code       string
	}{
		{commands, `{"type":"send_text","text":"` + megabyte + `"}`, http.StatusRequestEntityTooLarge, "too_large"},
		{commands, `{"type":"send_text","text":"` + megabyte[:100<<10] + `"}`, http.StatusBadRequest, "bad_command"},
		{commands, strings.Repeat("[", 100_000), http.StatusBadRequest, "bad_json"},
		{commands, ``, http.StatusBadRequest, "bad_json"},
		{commands, `{"type":`, http.StatusBadRequest, "bad_json"},
		{commands, `{"type":"interrupt"} {}`, http.StatusBadRequest, "bad_request"},
		{commands, `[]`, http.StatusBadRequest, "bad_request"},
		{commands, `"interrupt"`, http.StatusBadRequest, "bad_request"},
		{commands, `{"type":7}`, http.StatusBadRequest, "bad_request"},
		{commands, `{"type":"push_to_talk","pressed":"yes"}`, http.StatusBadRequest, "bad_request"},
		{commands, `{"type":"interrupt","volume":11}`, http.StatusBadRequest, "bad_request"},
		{commands, `{}`, http.StatusBadRequest, "bad_command"},
		{commands, `{"type":"cancel","id":"nothing"}`, http.StatusBadRequest, "bad_command"},
		{commands, `{"type":"push_to_talk"}`, http.StatusBadRequest, "bad_command"},
		{commands, `{"type":"send_text","text":"  "}`, http.StatusBadRequest, "bad_command"},
		{"/v1/conversations", `null`, http.StatusBadRequest, "bad_request"},
		{"/v1/conversations", `{"transport":"text","sdp":"v=0"}`, http.StatusBadRequest, "bad_request"},
		{"/v1/conversations", `{"transport":"text","timezone":"Local"}`, http.StatusBadRequest, "bad_request"},
		{"/v1/conversations", `{"transport":"text","timezone":"Berlin"}`, http.StatusBadRequest, "bad_request"},
		{"/v1/conversations", `{"transport":"text","agent":"nobody"}`, http.StatusNotFound, "no_such_agent"},
		{"/v1/conversations", `{"transport":"webrtc"}`, http.StatusNotImplemented, "no_speech"},
		{"/v1/conversations", megabyte, http.StatusBadRequest, "bad_json"},
	} {
		h.refused(c.status, c.code, "POST", c.path, c.body)
	}
	if n := h.hub.Live(); n != 1 {
		t.Errorf("%d conversations run, expected 1", n)
	}
	h.works()
}

// TestFlood sends commands as fast as possible. All are answered, the machine stays
// within its limits, and other conversations are not affected.
func TestFlood(t *testing.T) {
	h := newHouse(t, hub.Options{}, nil)
	made := h.begin("flights")
	var workers sync.WaitGroup
	const clients, each = 8, 100
	failed := make(chan error, clients)
	for range clients {
		workers.Go(func() {
			for i := range each {
				body := `{"type":"send_text","text":"book a flight"}`
				if i%3 == 0 {
					body = `{"type":"interrupt"}`
				}
				w, err := http.DefaultClient.Do(h.request("POST", "/v1/conversations/"+made.ID+"/commands", body))
				if err == nil {
					_, _ = io.Copy(io.Discard, w.Body)
					err = w.Body.Close()
					if w.StatusCode != http.StatusAccepted {
						err = fmt.Errorf("status %d", w.StatusCode)
					}
				}
				if err != nil {
					failed <- err
					return
				}
			}
		})
	}
	h.works()
	workers.Wait()
	select {
	case err := <-failed:
		t.Error(err)
	default:
	}
	d := ask[hub.Details](h, http.StatusOK, "GET", "/v1/conversations/"+made.ID, "")
	if !d.Ended.IsZero() {
		t.Errorf("the flooded conversation has ended: %+v", d.Info)
	}
	events := h.listen("/v1/conversations/" + made.ID + "/events")
	h.say(made.ID, "never mind")
	events.until("its answer", func(m hub.Message) bool { return m.Type == hub.TypeCaption })
}

// small makes the buffers of a server's connections small, so that a client that
// does not read is noticed soon.
func small(t *testing.T, h *house) string {
	t.Helper()
	server := httptest.NewUnstartedServer(h.api)
	server.Config.ConnContext = func(ctx context.Context, c net.Conn) context.Context {
		if tcp, ok := c.(*net.TCPConn); ok {
			if err := tcp.SetWriteBuffer(4 << 10); err != nil {
				t.Error(err)
			}
		}
		return ctx
	}
	server.Start()
	t.Cleanup(server.Close)
	return strings.TrimPrefix(server.URL, "http://")
}

// TestNobodyReads checks that a client that opens an event stream and never reads
// is disconnected without delaying the conversation.
func TestNobodyReads(t *testing.T) {
	h := newHouse(t, hub.Options{}, func(o *Options) { o.WriteWait = 300 * time.Millisecond })
	addr := small(t, h)
	made := h.begin("flights")
	for _, upgrade := range []string{"", "Connection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n"} {
		conn, err := (&net.Dialer{}).DialContext(t.Context(), "tcp", addr)
		if err != nil {
			t.Fatal(err)
		}
		if err := conn.(*net.TCPConn).SetReadBuffer(4 << 10); err != nil {
			t.Fatal(err)
		}
		if _, err := io.WriteString(conn, "GET /v1/conversations/"+made.ID+"/events?from=1&steps=1 HTTP/1.1\r\nHost: "+addr+"\r\n"+upgrade+"\r\n"); err != nil {
			t.Fatal(err)
		}
		waittest.Until(t, "the stream", nil, func() bool { return h.streams() == 1 })
		waittest.Until(t, "the end of the stream", nil, func() bool {
			h.say(made.ID, "book a flight")
			return h.streams() == 0
		})
		h.works()
		if err := conn.Close(); err != nil {
			t.Fatal(err)
		}
	}
	d := ask[hub.Details](h, http.StatusOK, "GET", "/v1/conversations/"+made.ID, "")
	if !d.Ended.IsZero() {
		t.Errorf("the conversation has ended: %+v", d.Info)
	}
}

// TestHalfOpen checks that keep-alives detect a client that has disappeared.
func TestHalfOpen(t *testing.T) {
	h := newHouse(t, hub.Options{}, func(o *Options) { o.WriteWait, o.KeepAlive = 200*time.Millisecond, 50*time.Millisecond })
	made := h.begin("flights")
	// It reads nothing, and so answers no ping.
	conn, w, err := websocket.Dial(t.Context(), h.url+"/v1/conversations/"+made.ID+"/events", nil)
	if err != nil {
		t.Fatal(err)
	}
	if w.Body != nil {
		defer w.Body.Close()
	}
	defer func() { _ = conn.CloseNow() }()
	waittest.Until(t, "the stream", nil, func() bool { return h.streams() == 1 })
	waittest.Until(t, "the end of the stream", nil, func() bool { return h.streams() == 0 })
	h.works()
}

// TestTwoClients checks that two clients see the same messages, both can send
// commands, and one may leave without affecting the other.
func TestTwoClients(t *testing.T) {
	h := newHouse(t, hub.Options{}, nil)
	made := h.begin("flights")
	path := "/v1/conversations/" + made.ID + "/events?from=1"
	one := h.listen(path)
	socket, w, err := websocket.Dial(t.Context(), h.url+path, nil)
	if err != nil {
		t.Fatal(err)
	}
	if w.Body != nil {
		defer w.Body.Close()
	}
	defer func() { _ = socket.CloseNow() }()
	one.heard("Welcome")
	for _, m := range one.seen {
		_, b, err := socket.Read(waittest.Context(t))
		if err != nil {
			t.Fatal(err)
		}
		if want := string(encodeMessage(t, m)); string(b) != want {
			t.Fatalf("one client reads %s, the other %s", want, b)
		}
	}
	h.say(made.ID, "book a flight")
	one.heard("fly from")
	if err := one.body.Close(); err != nil {
		t.Fatal(err)
	}
	h.say(made.ID, "from boston to denver")
	for {
		_, b, err := socket.Read(waittest.Context(t))
		if err != nil {
			t.Fatal(err)
		}
		if strings.Contains(string(b), `"turn":5,"text"`) {
			break
		}
	}
	again := h.listen("/v1/conversations/"+made.ID+"/events", "Last-Event-ID", fmt.Sprint(one.seen[len(one.seen)-1].Seq))
	if m, err := again.next(); err != nil || m.Seq <= one.seen[len(one.seen)-1].Seq {
		t.Errorf("who comes back is told %+v, %v", m, err)
	}
}

// TestTooManyStreams checks the limit of streams, and that a closed stream makes
// room.
func TestTooManyStreams(t *testing.T) {
	h := newHouse(t, hub.Options{}, func(o *Options) { o.MaxStreams = 2 })
	made := h.begin("flights")
	path := "/v1/conversations/" + made.ID + "/events"
	first := h.listen(path)
	h.listen("/v1/events")
	h.refused(http.StatusTooManyRequests, "too_many_streams", "GET", path, "")
	if err := first.body.Close(); err != nil {
		t.Fatal(err)
	}
	waittest.Until(t, "room", nil, func() bool { return h.streams() == 1 })
	h.listen(path)
}

// TestDrain checks that a server that shuts down refuses new conversations and ends
// the running ones.
func TestDrain(t *testing.T) {
	h := newHouse(t, hub.Options{}, nil)
	made := h.begin("flights")
	events := h.listen("/v1/conversations/" + made.ID + "/events?from=1")
	list := h.listen("/v1/events")
	ctx, cancel := context.WithCancel(t.Context())
	drained := make(chan struct{})
	go func() {
		defer close(drained)
		h.hub.Drain(ctx, 5*time.Second)
	}()
	waittest.Until(t, "the drain", nil, h.hub.Draining)
	if f := ask[Health](h, http.StatusServiceUnavailable, "GET", "/readyz", ""); f.Status != "shutting_down" || f.Conversations != 1 {
		t.Errorf("it says %+v", f)
	}
	ask[Health](h, http.StatusOK, "GET", "/healthz", "")
	h.refused(http.StatusServiceUnavailable, "shutting_down", "POST", "/v1/conversations", `{"transport":"text"}`)
	h.say(made.ID, "book a flight") // who is there goes on
	events.heard("fly from")
	cancel()
	<-drained
	for _, s := range []*stream{events, list} {
		for {
			if _, err := s.next(); errors.Is(err, io.EOF) {
				break
			} else if err != nil {
				t.Fatal(err)
			}
		}
	}
	if n := h.hub.Live(); n != 0 {
		t.Errorf("%d conversations are left", n)
	}
}

// TestStreamsOutliveTimeouts checks that the server's request timeouts do not apply
// to streams.
func TestStreamsOutliveTimeouts(t *testing.T) {
	h := newHouse(t, hub.Options{}, func(o *Options) { o.KeepAlive = 50 * time.Millisecond })
	const limit = time.Second // more than a busy machine takes to begin a stream
	server := httptest.NewUnstartedServer(h.api)
	server.Config.ReadTimeout, server.Config.WriteTimeout, server.Config.IdleTimeout = limit, limit, limit
	server.Start()
	defer server.Close()
	made := h.begin("flights") // commands are answered without these limits
	path := "/v1/conversations/" + made.ID + "/events?from=1"
	commands := h.url
	h.url = server.URL
	events := h.listen(path)
	h.url = commands
	socket, w, err := websocket.Dial(t.Context(), server.URL+path, nil)
	if err != nil {
		t.Fatal(err)
	}
	if w.Body != nil {
		defer w.Body.Close()
	}
	read := make(chan error, 1)
	go func() {
		for {
			_, b, err := socket.Read(waittest.Context(t))
			if err != nil || strings.Contains(string(b), "fly from") {
				read <- err
				return
			}
		}
	}()
	events.heard("Welcome")
	timer := time.NewTimer(2 * limit)
	defer timer.Stop()
	<-timer.C
	h.say(made.ID, "book a flight")
	events.heard("fly from")
	if err := <-read; err != nil {
		t.Error(err)
	}
	_ = socket.CloseNow()
	_ = events.body.Close()
}
