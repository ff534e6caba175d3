package telemetry

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"regexp"
	"strings"
	"testing"
	"time"

	"go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/sdk/trace/tracetest"
	"go.uber.org/goleak"

	"github.com/hocketvoice/hocket/conv"
	"github.com/hocketvoice/hocket/internal/waittest"
	"github.com/hocketvoice/hocket/journal"
	"github.com/hocketvoice/hocket/leg/text"
	"github.com/hocketvoice/hocket/port"
	"github.com/hocketvoice/hocket/porttest"
	"github.com/hocketvoice/hocket/server/hub"
	"github.com/hocketvoice/hocket/session"
	"github.com/hocketvoice/hocket/turn"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// hold holds a conversation by text with a model that answers once, and waits
// for its end.
func hold(t *testing.T, w *Telemetry) string {
	t.Helper()
	h, err := hub.New(hub.Options{Watch: w})
	if err != nil {
		t.Fatal(err)
	}
	model := &porttest.Model{Answer: func(port.Request) []port.Delta { return []port.Delta{{Text: "It is sunny in Lisbon."}} }}
	c, err := h.Start(hub.Call{
		Agent: "weather", Transport: "text", Leg: text.New(text.Options{}),
		Session: func(c *hub.Conversation) (*session.Session, error) {
			return session.New(session.Options{
				ID: c.ID(), Leg: c.Leg(), Trace: c.Recorder(), TraceLive: true, Text: true, Model: model,
				Conv: conv.Options{Endpoint: "manual", DeadAir: turn.DeadAirOptions{Off: true}},
			})
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	if err := c.Command(hub.Command{Type: "send_text", Text: "what is the weather in Lisbon"}); err != nil {
		t.Fatal(err)
	}
	events, err := c.Stream(hub.StreamOptions{From: 1})
	if err != nil {
		t.Fatal(err)
	}
	defer events.Close()
	for {
		m, err := events.Next(waittest.Context(t))
		if err != nil {
			t.Fatal(err)
		}
		if m.Type == hub.TypeCaption && strings.Contains(string(m.Payload), `"final":true`) {
			break
		}
	}
	over, end := context.WithCancel(t.Context())
	end()
	h.Drain(over, time.Second)
	return c.ID()
}

// TestSpans checks that a conversation is a trace with a span for each answer and,
// within it, one for each stage, without words.
func TestSpans(t *testing.T) {
	got := tracetest.NewInMemoryExporter()
	w := &Telemetry{metrics: newMetrics(), spans: spansTo(trace.WithSyncer(got))}
	id := hold(t, w)
	var names []string
	byName := make(map[string]tracetest.SpanStub)
	for _, s := range got.GetSpans() {
		names = append(names, s.Name)
		byName[s.Name] = s
		for _, a := range s.Attributes {
			if strings.Contains(strings.ToLower(a.Value.String()), "lisbon") {
				t.Errorf("%s has %s = %s", s.Name, a.Key, a.Value.String())
			}
		}
	}
	if want := "[endpoint transcript reply voice turn conversation]"; fmt.Sprint(names) != want {
		t.Fatalf("the spans are %v, expected %s", names, want)
	}
	whole, answer := byName["conversation"], byName["turn"]
	if answer.Parent.SpanID() != whole.SpanContext.SpanID() || answer.StartTime.Before(whole.StartTime) || answer.EndTime.After(whole.EndTime) {
		t.Error("the turn is not in the conversation")
	}
	if v := whole.Attributes[0].Value.AsString(); v != id {
		t.Errorf("the conversation is %s, expected %s", v, id)
	}
	at := answer.StartTime
	for _, stage := range names[:4] {
		s := byName[stage]
		if s.Parent.SpanID() != answer.SpanContext.SpanID() || !s.StartTime.Equal(at) {
			t.Errorf("%s begins at %v, the stage before ended at %v", stage, s.StartTime, at)
		}
		at = s.EndTime
	}
	if at.Sub(answer.EndTime).Abs() > time.Microsecond*10 {
		t.Errorf("the stages end at %v, the turn at %v", at, answer.EndTime)
	}
}

// TestCollector: spans reach the collector that the environment names.
func TestCollector(t *testing.T) {
	posted := make(chan string, 10)
	collector := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		b, _ := io.ReadAll(r.Body)
		posted <- r.URL.Path + " " + string(b)
	}))
	defer collector.Close()
	t.Setenv("OTEL_EXPORTER_OTLP_ENDPOINT", collector.URL)
	w, err := New(t.Context(), Options{Tracing: true})
	if err != nil {
		t.Fatal(err)
	}
	id := hold(t, w)
	if err := w.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	select {
	case body := <-posted:
		for _, part := range []string{"/v1/traces ", "conversation", "transcript", "hocket", id} {
			if !strings.Contains(body, part) {
				t.Errorf("what the collector got has no %q", part)
			}
		}
	default:
		t.Error("the collector got nothing")
	}
}

// TestMetrics checks that events are counted and that ended conversations are not
// counted as running.
func TestMetrics(t *testing.T) {
	w, err := New(t.Context(), Options{})
	if err != nil {
		t.Fatal(err)
	}
	hold(t, w)
	w.Refused("full")
	w.Failed("weather", journal.Failure{Kind: "model", Class: "RATE_LIMIT", Attempt: 1, Retried: true})
	server := httptest.NewServer(w.Handler())
	defer server.Close()
	r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, server.URL, nil)
	if err != nil {
		t.Fatal(err)
	}
	answer, err := server.Client().Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	b, err := io.ReadAll(answer.Body)
	if err != nil {
		t.Fatal(err)
	}
	for _, line := range []string{
		`hocket_conversations{agent="weather",transport="text"} 0`,
		`hocket_conversations_started_total{agent="weather",transport="text"} 1`,
		`hocket_conversations_ended_total{agent="weather",reason="user.stop"} 1`,
		`hocket_conversations_by_phase{phase="idle"} 0`,
		`hocket_turns_total{agent="weather",outcome="turn-completed",role="user"} 1`,
		`hocket_time_to_first_audio_seconds_count{agent="weather"} 1`,
		`hocket_conversations_refused_total{reason="full"} 1`,
		`hocket_failures_total{agent="weather",class="RATE_LIMIT",kind="model",retried="true"} 1`,
		`hocket_answer_stage_seconds_count{stage="reply"} 1`,
	} {
		if !strings.Contains(string(b), line+"\n") {
			t.Errorf("there is no line %s", line)
		}
	}
	if !regexp.MustCompile(`\nhocket_steps_total\{explored="true"\} [1-9]`).Match(b) || strings.Contains(string(b), `hocket_steps_total{explored="false"}`) {
		t.Error("not every step was met in the exploration")
	}
	if strings.Contains(strings.ToLower(string(b)), "lisbon") {
		t.Error("the metrics hold what was said")
	}
}

// BenchmarkFrameLate measures a function that runs for each frame of each call.
// Goal: less than 200 ns, without allocation.
func BenchmarkFrameLate(b *testing.B) {
	w := &Telemetry{metrics: newMetrics()}
	b.ReportAllocs()
	for b.Loop() {
		w.FrameLate(time.Millisecond)
	}
}
