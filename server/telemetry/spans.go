package telemetry

import (
	"context"
	"fmt"
	"sync"
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/exporters/otlp/otlptrace/otlptracehttp"
	"go.opentelemetry.io/otel/sdk/resource"
	sdk "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/trace"

	"github.com/hocketvoice/hocket/server/hub"
)

// spans records a trace of each conversation: a span for the conversation, one for
// each answer within it, and one for each stage of an answer.
type spans struct {
	provider *sdk.TracerProvider
	tracer   trace.Tracer

	mu   sync.Mutex
	open map[string]trace.Span // of conversations, by id
}

// newSpans returns spans that are sent to the collector named by the environment.
func newSpans(ctx context.Context) (*spans, error) {
	exporter, err := otlptracehttp.New(ctx)
	if err != nil {
		return nil, fmt.Errorf("telemetry: collector (OTEL_EXPORTER_OTLP_ENDPOINT): %w", err)
	}
	of, err := resource.New(ctx, resource.WithAttributes(attribute.String("service.name", "hocket")), resource.WithFromEnv())
	if err != nil {
		return nil, fmt.Errorf("telemetry: %w", err)
	}
	return spansTo(sdk.WithBatcher(exporter), sdk.WithResource(of)), nil
}

func spansTo(o ...sdk.TracerProviderOption) *spans {
	p := sdk.NewTracerProvider(o...)
	return &spans{provider: p, tracer: p.Tracer("github.com/hocketvoice/hocket"), open: make(map[string]trace.Span)}
}

func (s *spans) started(c hub.Info) {
	_, span := s.tracer.Start(context.Background(), "conversation", trace.WithTimestamp(c.Started), trace.WithAttributes(
		attribute.String("hocket.conversation", c.ID), attribute.String("hocket.agent", c.Agent),
		attribute.String("hocket.transport", c.Transport),
	))
	s.mu.Lock()
	defer s.mu.Unlock()
	s.open[c.ID] = span
}

func (s *spans) ended(c hub.Info) {
	s.mu.Lock()
	span := s.open[c.ID]
	delete(s.open, c.ID)
	s.mu.Unlock()
	if span != nil {
		span.SetAttributes(attribute.String("hocket.reason", c.Reason), attribute.Int("hocket.turns", c.Turns))
		span.End(trace.WithTimestamp(c.Ended))
	}
}

// answered records an answer whose playout began at now.
func (s *spans) answered(c *hub.Conversation, t hub.Timing, now time.Time) {
	s.mu.Lock()
	parent := s.open[c.ID()]
	s.mu.Unlock()
	ctx := context.Background()
	if parent != nil {
		ctx = trace.ContextWithSpan(ctx, parent)
	}
	ctx, span := s.tracer.Start(ctx, "turn", trace.WithTimestamp(t.Began), trace.WithAttributes(
		attribute.Int("hocket.turn", t.Turn), attribute.Int("hocket.user_turn", t.UserTurn),
	))
	at := t.Began
	for _, stage := range t.Stages() {
		_, child := s.tracer.Start(ctx, stage.Name, trace.WithTimestamp(at))
		at = at.Add(time.Duration(stage.MS * float64(time.Millisecond)))
		child.End(trace.WithTimestamp(at))
	}
	span.End(trace.WithTimestamp(now))
}
