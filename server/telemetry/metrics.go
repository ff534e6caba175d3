package telemetry

import (
	"net/http"
	"regexp"
	"strconv"
	"sync"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promhttp"

	"github.com/hocketvoice/hocket/conv"
	"github.com/hocketvoice/hocket/internal/explore"
	"github.com/hocketvoice/hocket/server/hub"
	"github.com/hocketvoice/hocket/session"
)

// metrics contains all counters. The values of labels come from closed sets:
// agents, transports, phases, message codes, path patterns.
type metrics struct {
	registry *prometheus.Registry

	live        *prometheus.GaugeVec // agent, transport
	begun       *prometheus.CounterVec
	over        *prometheus.CounterVec // agent, reason
	moved       *prometheus.CounterVec // agent, reason
	refused     *prometheus.CounterVec // reason
	byPhase     *prometheus.GaugeVec
	turns       *prometheus.CounterVec // agent, role, outcome
	interrupted *prometheus.CounterVec
	tools       *prometheus.CounterVec // agent, outcome
	errors      *prometheus.CounterVec // agent, code
	failures    *prometheus.CounterVec // agent, kind, class, retried
	stale       prometheus.Counter
	steps       *prometheus.CounterVec // explored
	firstAudio  *prometheus.HistogramVec
	stages      *prometheus.HistogramVec
	late        prometheus.Histogram
	requests    *prometheus.CounterVec   // route, method, code
	requestTime *prometheus.HistogramVec // route
	inFlight    prometheus.Gauge

	mu     sync.Mutex
	phases map[string]conv.Phase // by conversation
}

func newMetrics() *metrics {
	counter := func(name, help string, labels ...string) *prometheus.CounterVec {
		return prometheus.NewCounterVec(prometheus.CounterOpts{Name: name, Help: help}, labels)
	}
	gauge := func(name, help string, labels ...string) *prometheus.GaugeVec {
		return prometheus.NewGaugeVec(prometheus.GaugeOpts{Name: name, Help: help}, labels)
	}
	seconds := []float64{0.05, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.8, 1, 1.5, 2, 3, 5, 10}
	m := &metrics{
		registry:    prometheus.NewRegistry(),
		live:        gauge("hocket_conversations", "Running conversations.", "agent", "transport"),
		begun:       counter("hocket_conversations_started_total", "Conversations started.", "agent", "transport"),
		over:        counter("hocket_conversations_ended_total", "Conversations ended, by reason.", "agent", "reason"),
		moved:       counter("hocket_conversations_handed_over_total", "Conversations that may continue in another process, by reason.", "agent", "reason"),
		refused:     counter("hocket_conversations_refused_total", "Conversations refused, by reason.", "reason"),
		byPhase:     gauge("hocket_conversations_by_phase", "Running conversations by phase.", "phase"),
		turns:       counter("hocket_turns_total", "Turns ended, by role and outcome.", "agent", "role", "outcome"),
		interrupted: counter("hocket_interruptions_total", "Interrupted turns of the agent.", "agent"),
		tools:       counter("hocket_tool_calls_total", "Tool calls and tasks ended, by outcome.", "agent", "outcome"),
		steps:       counter("hocket_steps_total", "Steps of the machine, by whether its exploration has met them.", "explored"),
		errors:      counter("hocket_errors_total", "Errors reported to the person, by message code.", "agent", "code"),
		failures: counter("hocket_failures_total", "Failures of providers and tools, by kind and class, and whether another attempt follows.",
			"agent", "kind", "class", "retried"),
		stale: prometheus.NewCounter(prometheus.CounterOpts{
			Name: "hocket_late_facts_total", Help: "Events dropped because they arrived too late.",
		}),
		firstAudio: prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Name: "hocket_time_to_first_audio_seconds", Help: "Time from the end of the user's last word, or of the last speech, to the first sound of the answer.", Buckets: seconds,
		}, []string{"agent"}),
		stages: prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Name: "hocket_answer_stage_seconds", Help: "Duration of each stage of the time to first audio.", Buckets: seconds,
		}, []string{"stage"}),
		late: prometheus.NewHistogram(prometheus.HistogramOpts{
			Name: "hocket_frame_lateness_seconds", Help: "Delay of frames of the agent's sound.",
			Buckets: []float64{0.001, 0.002, 0.005, 0.01, 0.02, 0.04, 0.1, 0.5},
		}),
		requests: counter("hocket_http_requests_total", "HTTP requests ended, including event streams and WebSockets.", "route", "method", "code"),
		requestTime: prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Name: "hocket_http_request_duration_seconds", Help: "Duration of HTTP requests.",
			Buckets: []float64{0.001, 0.005, 0.01, 0.05, 0.1, 0.5, 1, 5, 30, 300},
		}, []string{"route"}),
		inFlight: prometheus.NewGauge(prometheus.GaugeOpts{Name: "hocket_http_requests_in_flight", Help: "HTTP requests in progress, including event streams and WebSockets."}),
		phases:   make(map[string]conv.Phase),
	}
	m.registry.MustRegister(m.live, m.begun, m.over, m.moved, m.refused, m.byPhase, m.turns, m.interrupted, m.tools, m.errors, m.failures, m.stale, m.steps,
		m.firstAudio, m.stages, m.late, m.requests, m.requestTime, m.inFlight, collectors.NewGoCollector(
			collectors.WithGoCollectorRuntimeMetrics(collectors.GoRuntimeMetricsRule{Matcher: regexp.MustCompile(`^/gc/heap/live:bytes$`)}),
		), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
	return m
}

func (m *metrics) handler() http.Handler {
	return promhttp.HandlerFor(m.registry, promhttp.HandlerOpts{MaxRequestsInFlight: 4})
}

func (m *metrics) started(c hub.Info) {
	m.live.WithLabelValues(c.Agent, c.Transport).Inc()
	m.begun.WithLabelValues(c.Agent, c.Transport).Inc()
	m.enter(c.ID, conv.Idle)
}

func (m *metrics) ended(c hub.Info) {
	m.live.WithLabelValues(c.Agent, c.Transport).Dec()
	if c.Over() {
		m.over.WithLabelValues(c.Agent, c.Reason).Inc()
	} else {
		m.moved.WithLabelValues(c.Agent, c.Reason).Inc()
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if p, ok := m.phases[c.ID]; ok {
		m.byPhase.WithLabelValues(p.String()).Dec()
		delete(m.phases, c.ID)
	}
}

// enter records that a conversation has entered a phase.
func (m *metrics) enter(id string, p conv.Phase) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if before, ok := m.phases[id]; ok {
		m.byPhase.WithLabelValues(before.String()).Dec()
	}
	m.phases[id] = p
	m.byPhase.WithLabelValues(p.String()).Inc()
}

func (m *metrics) stepped(c *hub.Conversation, s session.Step, answer *hub.Timing) {
	m.steps.WithLabelValues(strconv.FormatBool(explore.KnownExplored().Step(s.Output.Transitions))).Inc()
	if s.Output.Late {
		m.stale.Inc()
		return
	}
	agent := c.Agent()
	if len(s.Output.Transitions) > 0 {
		m.enter(c.ID(), s.State.Phase)
	}
	switch s.Event.(type) {
	case conv.ToolDone, conv.TaskDone:
		m.tools.WithLabelValues(agent, "done").Inc()
	case conv.ToolFailed, conv.TaskFailed:
		m.tools.WithLabelValues(agent, "failed").Inc()
	default:
		// Not counted.
	}
	for i := range s.Output.Turns {
		t := &s.Output.Turns[i]
		if t.Type == conv.TurnStarted {
			continue
		}
		m.turns.WithLabelValues(agent, string(t.Role), string(t.Type)).Inc()
		if t.Type == conv.TurnInterrupted {
			m.interrupted.WithLabelValues(agent).Inc()
		}
	}
	for _, e := range s.Output.Effects {
		if n, ok := e.(conv.Notify); ok && n.Level == conv.LevelError {
			m.errors.WithLabelValues(agent, n.Code).Inc()
		}
	}
	if answer == nil {
		return
	}
	m.firstAudio.WithLabelValues(agent).Observe(answer.TotalMS / 1000)
	for _, stage := range answer.Stages() {
		m.stages.WithLabelValues(stage.Name).Observe(stage.MS / 1000)
	}
}
