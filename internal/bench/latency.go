package bench

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"sync/atomic"
	"time"

	"github.com/hocketvoice/hocket/audio"
	"github.com/hocketvoice/hocket/internal/codec/opus"
	"github.com/hocketvoice/hocket/internal/wait"
)

// LatencyOptions configures a measurement of a running server. URL is required;
// other zero fields select the defaults.
type LatencyOptions struct {
	URL   string // of the server; required
	Key   string // an API key; none if empty
	Agent string // its name; the server's first if empty
	Runs  int    // conversations of each kind; default 10
}

// MaxRuns limits LatencyOptions.Runs.
const MaxRuns = 1000

// Validate returns an error if an option is invalid.
func (o LatencyOptions) Validate() error {
	switch {
	case o.URL == "":
		return errors.New("bench: no URL")
	case o.Runs < 0 || o.Runs > MaxRuns:
		return fmt.Errorf("bench: %d runs: expected 1 to %d", o.Runs, MaxRuns)
	}
	return nil
}

// Latency is one measure in milliseconds, as seen by a client: from the request
// that it sends to the message or sound that it receives.
type Latency struct {
	Name  string  `json:"name"`
	Limit float64 `json:"limit_ms"` // defined by the seeds
	Runs  int     `json:"runs"`
	P50   float64 `json:"p50_ms"`
	P90   float64 `json:"p90_ms"`
	Max   float64 `json:"max_ms"`
}

// The measures with the limits of the seeds (seed 000, PER-001 to PER-003, REQ-007,
// AC-001).
var latencies = []Latency{
	{Name: "start to listening", Limit: 500},
	{Name: "final words to processing", Limit: 300},
	{Name: "resume from suspended", Limit: 1000},
	{Name: "interrupt to interrupted", Limit: 150},
	{Name: "interrupt to listening", Limit: 400},
	{Name: "interrupt to silence", Limit: 400},
	{Name: "another connection to listening", Limit: 1000},
}

const (
	startToListening = iota
	finalToProcessing
	resumeSuspended
	interruptToInterrupted
	interruptToListening
	interruptToSilence
	anotherConnection
)

// patience is the time limit of one conversation.
const patience = 30 * time.Second

// MeasureLatency runs conversations with a running server, one after the other, by
// text and, if the agent supports it, by voice.
func MeasureLatency(ctx context.Context, o LatencyOptions) ([]Latency, error) {
	if err := o.Validate(); err != nil {
		return nil, err
	}
	if o.Runs == 0 {
		o.Runs = 10
	}
	m := &meter{o: o, c: &client{url: o.URL, key: o.Key, http: &http.Client{}}}
	defer m.c.http.CloseIdleConnections()
	speech, err := m.find(ctx)
	if err != nil {
		return nil, err
	}
	for range o.Runs {
		if err := m.within(ctx, m.byText); err != nil {
			return nil, fmt.Errorf("by text: %w", err)
		}
		if !speech {
			continue
		}
		if err := m.within(ctx, m.byVoice); err != nil {
			return nil, fmt.Errorf("by voice: %w", err)
		}
	}
	return m.report(), nil
}

// meter collects the measurements. It must be used by one goroutine.
type meter struct {
	o    LatencyOptions
	c    *client
	seen [anotherConnection + 1][]time.Duration
}

func (m *meter) note(what int, from, to time.Time) { m.seen[what] = append(m.seen[what], to.Sub(from)) }

// find looks up the agent.
func (m *meter) find(ctx context.Context) (speech bool, err error) {
	var list struct {
		Agents []struct {
			Name   string `json:"name"`
			Speech bool   `json:"speech"`
		} `json:"agents"`
	}
	if err := m.c.call(ctx, http.MethodGet, "/v1/agents", nil, &list); err != nil {
		return false, err
	}
	for _, a := range list.Agents {
		if m.o.Agent == "" || a.Name == m.o.Agent {
			m.o.Agent = a.Name
			return a.Speech, nil
		}
	}
	return false, fmt.Errorf("unknown agent %q", m.o.Agent)
}

func (m *meter) within(ctx context.Context, measure func(context.Context) error) error {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	return measure(ctx)
}

// byText measures everything that needs no sound.
func (m *meter) byText(ctx context.Context) (err error) {
	var made opened
	began := time.Now()
	if err := m.c.call(ctx, http.MethodPost, "/v1/conversations", map[string]string{"agent": m.o.Agent, "transport": "text"}, &made); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, m.c.command(ctx, made.ID, "endConversation", "")) }()
	e, err := m.c.follow(ctx, made.ID)
	if err != nil {
		return err
	}
	defer e.body.Close()
	at, err := e.state("listening")
	if err != nil {
		return err
	}
	m.note(startToListening, began, at)
	if err := m.c.command(ctx, made.ID, "interrupt", ""); err != nil { // interrupts the greeting
		return err
	}
	if _, err = m.after(ctx, made.ID, e, "send_text", "hello", "processing", finalToProcessing); err != nil {
		return err
	}
	if _, err := e.state("listening"); err != nil {
		return err
	}
	if err := m.c.command(ctx, made.ID, "suspend", ""); err != nil {
		return err
	}
	if _, err := e.state("suspended"); err != nil {
		return err
	}
	_, err = m.after(ctx, made.ID, e, "resume", "", "listening", resumeSuspended)
	return err
}

// after sends a command and records the time until a state is entered.
func (m *meter) after(ctx context.Context, id string, e *events, command, text, state string, what int) (began time.Time, err error) {
	began = time.Now()
	if err := m.c.command(ctx, id, command, text); err != nil {
		return began, err
	}
	at, err := e.state(state)
	if err == nil {
		m.note(what, began, at)
	}
	return began, err
}

// ear records when a browser last received audible sound.
type ear struct {
	decoder *opus.Decoder
	pcm     []int16
	loud    atomic.Int64 // nanoseconds since the epoch
}

func newEar() (*ear, error) {
	d, err := opus.NewDecoder(opus.DecoderOptions{Rate: 16000})
	if err != nil {
		return nil, err
	}
	return &ear{decoder: d, pcm: make([]int16, 16000/1000*120)}, nil
}

// quiet is the level below which there is no speech; full scale is 1.
const quiet = 0.01

func (e *ear) hear(packet []byte) {
	n, err := e.decoder.Decode(e.pcm, packet)
	if err == nil && audio.Peak(e.pcm[:n]) > quiet {
		e.loud.Store(time.Now().UnixNano())
	}
}

// dial connects as a browser. request returns the body for an offer.
func (m *meter) dial(ctx context.Context, sink func([]byte), request func(offer string) map[string]string) (*Browser, opened, error) {
	var made opened
	b, err := NewBrowser(BrowserOptions{Source: func() []byte { return nil }, Sink: sink})
	if err != nil {
		return nil, made, err
	}
	offer, err := b.Offer(ctx)
	if err == nil {
		err = m.c.call(ctx, http.MethodPost, "/v1/conversations", request(offer), &made)
	}
	if err == nil {
		err = b.Answer(ctx, made.SDP)
	}
	if err != nil {
		return nil, made, errors.Join(err, b.Close())
	}
	return b, made, nil
}

// settle is how long the agent speaks before it is interrupted, and how long the
// ear listens afterwards.
const settle = 500 * time.Millisecond

// byVoice interrupts the greeting and then continues over another connection.
func (m *meter) byVoice(ctx context.Context) (err error) {
	listener, err := newEar()
	if err != nil {
		return err
	}
	b, made, err := m.dial(ctx, listener.hear, func(offer string) map[string]string {
		return map[string]string{"agent": m.o.Agent, "transport": "webrtc", "sdp": offer}
	})
	if err != nil {
		return err
	}
	defer func() {
		if b != nil {
			err = errors.Join(err, b.Close())
		}
		err = errors.Join(err, m.c.command(ctx, made.ID, "endConversation", ""))
	}()
	e, err := m.c.follow(ctx, made.ID)
	if err != nil {
		return err
	}
	defer e.body.Close()
	if _, err := e.state("speaking"); err != nil {
		return err
	}
	if err := wait.For(ctx, settle); err != nil {
		return err
	}
	began, err := m.after(ctx, made.ID, e, "interrupt", "", "interrupted", interruptToInterrupted)
	if err != nil {
		return err
	}
	at, err := e.state("listening")
	if err != nil {
		return err
	}
	m.note(interruptToListening, began, at)
	if err := wait.For(ctx, settle); err != nil {
		return err
	}
	last := time.Unix(0, listener.loud.Load())
	if last.Before(began.Add(-settle)) {
		return errors.New("the agent speaks, but no sound is received")
	}
	if last.Before(began) {
		last = began // it was a gap between two words
	}
	m.note(interruptToSilence, began, last)

	err = b.Close()
	b = nil
	if err != nil {
		return err
	}
	if _, err := e.phase("reconnecting"); err != nil {
		return err
	}
	again := time.Now()
	second, _, err := m.dial(ctx, func([]byte) {}, func(offer string) map[string]string {
		return map[string]string{"resume": made.Resume, "sdp": offer}
	})
	if err != nil {
		return err
	}
	b = second
	at, err = e.phase("listening.ready")
	if err == nil {
		m.note(anotherConnection, again, at)
	}
	return err
}

// report returns the results.
func (m *meter) report() []Latency {
	list := make([]Latency, 0, len(latencies))
	for i, l := range latencies {
		all := m.seen[i]
		if len(all) == 0 {
			continue
		}
		slices.Sort(all)
		ms := func(at float64) float64 {
			return float64(all[int(at*float64(len(all)-1)+0.5)].Microseconds()) / 1000
		}
		l.Runs, l.P50, l.P90, l.Max = len(all), ms(0.5), ms(0.9), ms(1)
		list = append(list, l)
	}
	return list
}
