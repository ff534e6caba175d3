package server_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/hocketvoice/hocket/conv"
	"github.com/hocketvoice/hocket/internal/bench"
	"github.com/hocketvoice/hocket/internal/waittest"
	"github.com/hocketvoice/hocket/leg/text"
	"github.com/hocketvoice/hocket/leg/webrtc"
	"github.com/hocketvoice/hocket/port"
	"github.com/hocketvoice/hocket/porttest"
	"github.com/hocketvoice/hocket/server"
	"github.com/hocketvoice/hocket/server/api"
	"github.com/hocketvoice/hocket/server/hub"
	"github.com/hocketvoice/hocket/server/telemetry"
	"github.com/hocketvoice/hocket/session"
	"github.com/hocketvoice/hocket/turn"
)

// TestCallsThatNeverConnect checks that calls whose browser never connects are visible
// while they take the places of others, and end soon, for a reason of their own.
func TestCallsThatNeverConnect(t *testing.T) {
	calls, err := webrtc.NewServer(webrtc.Options{Connect: 3 * time.Second, Linger: time.Hour})
	if err != nil {
		t.Fatal(err)
	}
	seen, err := telemetry.New(t.Context(), telemetry.Options{})
	if err != nil {
		t.Fatal(err)
	}
	seen.Connecting(calls.Connecting)
	h, err := hub.New(hub.Options{Most: 2, Watch: seen})
	if err != nil {
		t.Fatal(err)
	}
	handler, err := api.New(api.Options{
		Hub: h, Agents: func() []api.Agent { return []api.Agent{{Name: "desk", Language: "en", Speech: true}} }, Log: slog.New(slog.DiscardHandler),
		Text: func() port.Leg { return text.New(text.Options{}) }, WebRTC: server.Accept(calls), Connecting: calls.Connecting,
		Call: func(agent, transport string) (hub.Call, error) {
			return hub.Call{Agent: agent, Transport: transport, Session: func(c *hub.Conversation) (*session.Session, error) {
				return session.New(session.Options{
					ID: c.ID(), Leg: c.Leg(), Recognizer: &porttest.Recognizer{}, Synthesizer: &porttest.Synthesizer{},
					Conv: conv.Options{Greeting: "Hello.", DeadAir: turn.DeadAirOptions{Off: true}},
				})
			}}, nil
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	web := httptest.NewServer(handler)
	t.Cleanup(func() {
		over, cancel := context.WithCancel(context.Background())
		cancel()
		h.Drain(over, time.Second)
		web.Close()
		if err := calls.Close(); err != nil {
			t.Error(err)
		}
	})
	offer := func() string {
		b, err := bench.NewBrowser(bench.BrowserOptions{Source: func() []byte { return nil }})
		if err != nil {
			t.Fatal(err)
		}
		text, err := b.Offer(t.Context())
		if err := errors.Join(err, b.Close()); err != nil {
			t.Fatal(err)
		}
		return fmt.Sprintf(`{"transport":"webrtc","sdp":%q}`, text)
	}
	bodies := []string{offer(), offer(), offer()}
	list, err := h.Watch(hub.StreamOptions{From: 1})
	if err != nil {
		t.Fatal(err)
	}
	defer list.Close()
	for _, body := range bodies[:2] {
		if status := ask(t, http.MethodPost, web.URL+"/v1/conversations", body, nil); status != http.StatusCreated {
			t.Fatalf("status %d", status)
		}
	}
	var got api.Health
	status := ask(t, http.MethodGet, web.URL+"/readyz", "", &got)
	if status != http.StatusServiceUnavailable || got.Status != "full" || got.Conversations != 2 || got.Connecting != 2 || !slices.Equal(got.Reasons, []string{"full"}) {
		t.Errorf("/readyz while two dead calls take all places: %d, %+v", status, got)
	}
	if status := ask(t, http.MethodPost, web.URL+"/v1/conversations", bodies[2], nil); status != http.StatusServiceUnavailable {
		t.Errorf("one more call: status %d", status)
	}
	counted(t, seen, "hocket_calls_connecting 2")
	for ended := 0; ended < 2; {
		m, err := list.Next(waittest.Context(t))
		if err != nil {
			t.Fatal(err)
		}
		if m.Type == hub.TypeEnded {
			ended++
			if !strings.Contains(string(m.Payload), `"reason":"never_connected"`) {
				t.Errorf("a call that was never connected ended: %s", m.Payload)
			}
		}
	}
	waittest.Until(t, "the places, which are freed after the ends are told", nil, func() bool {
		got = api.Health{}
		return ask(t, http.MethodGet, web.URL+"/readyz", "", &got) == http.StatusOK
	})
	if got.Status != "ok" || got.Connecting != 0 {
		t.Errorf("/readyz behind their end: %+v", got)
	}
	counted(t, seen,
		`hocket_conversations_ended_total{agent="desk",reason="never_connected"} 2`,
		`hocket_conversations_refused_total{reason="full"} 1`,
		`hocket_calls_connecting 0`)
}

// counted checks that the metrics have the lines.
func counted(t *testing.T, w *telemetry.Telemetry, lines ...string) {
	t.Helper()
	r := httptest.NewRecorder()
	w.Handler().ServeHTTP(r, httptest.NewRequest(http.MethodGet, "/metrics", http.NoBody))
	b, err := io.ReadAll(r.Body)
	if err != nil {
		t.Fatal(err)
	}
	for _, line := range lines {
		if !strings.Contains(string(b), "\n"+line+"\n") {
			t.Errorf("the metrics have no line %s", line)
		}
	}
}
