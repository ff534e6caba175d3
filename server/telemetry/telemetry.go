package telemetry

import (
	"context"
	"errors"
	"net/http"
	"strconv"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/hocketvoice/hocket/journal"
	"github.com/hocketvoice/hocket/server/hub"
	"github.com/hocketvoice/hocket/session"
)

var _ hub.Watcher = (*Telemetry)(nil)

// Options configures a [Telemetry].
type Options struct {
	// Tracing sends spans to the collector named by environment variables, of which
	// OTEL_EXPORTER_OTLP_ENDPOINT is the most important: see
	// https://opentelemetry.io/docs/specs/otel/protocol/exporter/.
	Tracing bool
}

// Telemetry observes conversations. It is safe for concurrent use.
type Telemetry struct {
	metrics *metrics
	spans   *spans // nil if tracing is off
}

// New returns a telemetry. The caller must call Close.
func New(ctx context.Context, o Options) (*Telemetry, error) {
	t := &Telemetry{metrics: newMetrics()}
	if !o.Tracing {
		return t, nil
	}
	var err error
	t.spans, err = newSpans(ctx)
	return t, err
}

// Handler returns a handler that serves the metrics in Prometheus' text format.
func (t *Telemetry) Handler() http.Handler { return t.metrics.handler() }

// Started counts a conversation.
func (t *Telemetry) Started(c hub.Info) {
	t.metrics.started(c)
	if t.spans != nil {
		t.spans.started(c)
	}
}

// Stepped records a step.
func (t *Telemetry) Stepped(c *hub.Conversation, s session.Step, answer *hub.Timing) {
	t.metrics.stepped(c, s, answer)
	if t.spans != nil && answer != nil {
		t.spans.answered(c, *answer, s.Now)
	}
}

// Ended counts the end of a conversation.
func (t *Telemetry) Ended(c hub.Info) {
	t.metrics.ended(c)
	if t.spans != nil {
		t.spans.ended(c)
	}
}

// Refused counts a conversation that was refused.
func (t *Telemetry) Refused(reason string) { t.metrics.refused.WithLabelValues(reason).Inc() }

// Failed counts the failure of a provider or a tool.
func (t *Telemetry) Failed(agent string, f journal.Failure) {
	t.metrics.failures.WithLabelValues(agent, f.Kind, f.Class, strconv.FormatBool(f.Retried)).Inc()
}

// Connecting adds a gauge of the calls whose connection is not established yet. It must
// be called at most once.
func (t *Telemetry) Connecting(calls func() int) {
	t.metrics.registry.MustRegister(prometheus.NewGaugeFunc(prometheus.GaugeOpts{
		Name: "hocket_calls_connecting", Help: "Calls of browsers whose connection is not established yet.",
	}, func() float64 { return float64(calls()) }))
}

// FrameLate records the delay of a frame of the agent's sound. It allocates
// nothing.
func (t *Telemetry) FrameLate(by time.Duration) { t.metrics.late.Observe(by.Seconds()) }

// RequestBegan counts an HTTP request.
func (t *Telemetry) RequestBegan() { t.metrics.inFlight.Inc() }

// RequestEnded counts the end of an HTTP request. route and method must come from
// small sets.
func (t *Telemetry) RequestEnded(route, method string, status int, took time.Duration) {
	t.metrics.inFlight.Dec()
	t.metrics.requests.WithLabelValues(route, method, strconv.Itoa(status)).Inc()
	t.metrics.requestTime.WithLabelValues(route).Observe(took.Seconds())
}

// Close sends the remaining spans to the collector until ctx ends.
func (t *Telemetry) Close(ctx context.Context) error {
	if t.spans == nil {
		return nil
	}
	if err := t.spans.provider.Shutdown(ctx); err != nil {
		return errors.Join(errors.New("telemetry: not all spans were sent"), err)
	}
	return nil
}
