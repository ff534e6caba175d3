package bench

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/coder/websocket"

	"github.com/hocketvoice/hocket/internal/wait"
)

// FootprintOptions configures a measurement of a running server: the cost of its
// conversations without that of their clients.
type FootprintOptions struct {
	URL   string // of the server; required
	Key   string // an API key; none if empty
	Agent string // its name; the server's first if empty
	Text  bool   // conversations by text in which nothing is said

	WebRTCOptions // Detector, Recognizer, Turn and Onset are not used: the server has its own
}

// Footprint is the cost of one conversation in the server's process.
type Footprint struct {
	Live       float64 `json:"live_heap_kb"`  // after a garbage collection
	Heap       float64 `json:"heap_kb"`       // in use, including garbage
	Stacks     float64 `json:"stacks_kb"`     //
	Resident   float64 `json:"resident_kb"`   // of the process
	Goroutines float64 `json:"goroutines"`    //
	CPU        float64 `json:"cpu_percent"`   // of one core
	Sample     int     `json:"conversations"` // number of conversations measured
}

// FootprintReport is the result.
type FootprintReport struct {
	Idle    Footprint  `json:"idle"`              // connected and silent
	Talking *Footprint `json:"talking,omitempty"` // speaking and being answered
	Before  int        `json:"goroutines_before"`
	After   int        `json:"goroutines_after"`
}

// idleFor is the waiting time before idle conversations are measured: the greeting
// must be over and its buffers freed.
const idleFor = 10 * time.Second

// MeasureFootprint runs conversations with a server and reads their cost from its
// metrics.
func MeasureFootprint(ctx context.Context, o FootprintOptions) (r FootprintReport, err error) {
	if o.URL == "" {
		return r, errors.New("bench: no URL")
	}
	voice, err := o.prepare(ctx)
	if err != nil {
		return r, err
	}
	said, silence, err := voice.appends(2)
	if err != nil {
		return r, err
	}
	c := &client{url: o.URL, key: o.Key, http: &http.Client{}}
	defer c.http.CloseIdleConnections()
	if err := warm(ctx, c, o); err != nil {
		return r, err
	}
	before, err := c.figures(ctx)
	if err != nil {
		return r, err
	}
	r.Before = int(before.goroutines)
	callers, end, err := hold(ctx, c, o)
	if err != nil {
		return r, errors.Join(err, end())
	}
	err = func() error {
		if r.Idle, err = before.after(ctx, c, o.Calls, idleFor); err != nil || o.Text {
			return err
		}
		talking, stop := context.WithCancel(ctx)
		var speakers sync.WaitGroup
		defer speakers.Wait()
		defer stop()
		for i, one := range callers {
			speakers.Go(func() { one.talk(talking, said, silence, time.Duration(i)*askEvery/time.Duration(o.Calls)-greeted) })
		}
		t, err := before.after(ctx, c, o.Calls, o.Duration)
		r.Talking = &t
		return err
	}()
	if err := errors.Join(err, end()); err != nil {
		return r, err
	}
	for until := time.Now().Add(patience); ; {
		after, err := c.figures(ctx)
		if r.After = int(after.goroutines); err != nil || r.After <= r.Before || time.Now().After(until) {
			return r, err
		}
		if err := wait.For(ctx, 100*time.Millisecond); err != nil {
			return r, err
		}
	}
}

// warm runs one conversation, so that one-time initialization is done.
func warm(ctx context.Context, c *client, o FootprintOptions) error {
	o.Calls = 1
	_, end, err := hold(ctx, c, o)
	if err == nil {
		err = wait.For(ctx, time.Second)
	}
	return errors.Join(err, end())
}

// hold starts conversations. end ends them.
func hold(ctx context.Context, c *client, o FootprintOptions) (callers []*caller, end func() error, err error) {
	var ends []func() error
	end = func() error {
		var errs []error
		for _, f := range ends {
			errs = append(errs, f())
		}
		return errors.Join(errs...)
	}
	for i := range o.Calls {
		if o.Text {
			var made opened
			body := map[string]string{"agent": o.Agent, "transport": "text"}
			if err := c.call(ctx, http.MethodPost, "/v1/conversations", body, &made); err != nil {
				return nil, end, fmt.Errorf("bench: conversation %d: %w", i+1, err)
			}
			ends = append(ends, func() error { return c.command(ctx, made.ID, "endConversation", "") })
			continue
		}
		dial := &websocket.DialOptions{HTTPHeader: http.Header{}}
		if o.Key != "" {
			dial.HTTPHeader.Set("Authorization", "Bearer "+o.Key)
		}
		one, err := newCaller(ctx, "ws"+strings.TrimPrefix(o.URL, "http")+"/v1/realtime?model="+o.Agent, dial)
		if err != nil {
			return nil, end, fmt.Errorf("bench: conversation %d: %w", i+1, err)
		}
		var listening sync.WaitGroup
		listening.Go(func() { one.listen(ctx) })
		ends = append(ends, func() error {
			err := one.noted().err // it should still be running
			_ = one.ws.Close(websocket.StatusNormalClosure, "")
			listening.Wait()
			return err
		})
		callers = append(callers, one)
	}
	return callers, end, nil
}

// figures are the metrics of the server's process.
type figures struct {
	at                           time.Time
	live, heap, stacks, resident float64 // bytes
	goroutines, cpu, collections float64 // cpu in seconds
}

// figures waits for a garbage collection, which reading the metrics triggers, and
// returns the metrics.
func (c *client) figures(ctx context.Context) (f figures, err error) {
	if f, err = c.metrics(ctx); err != nil {
		return f, err
	}
	for first, until := f.collections, time.Now().Add(2*time.Minute); f.collections < first+2 && time.Now().Before(until); {
		if f, err = c.metrics(ctx); err != nil {
			return f, err
		}
	}
	return f, nil
}

func (c *client) metrics(ctx context.Context) (f figures, err error) {
	w, err := c.request(ctx, http.MethodGet, "/metrics", nil)
	if err != nil {
		return f, err
	}
	defer w.Body.Close()
	if w.StatusCode != http.StatusOK {
		return f, fmt.Errorf("GET /metrics: status %d", w.StatusCode)
	}
	into := map[string]*float64{
		"go_gc_heap_live_bytes": &f.live, "go_memstats_heap_inuse_bytes": &f.heap, "go_memstats_stack_inuse_bytes": &f.stacks,
		"process_resident_memory_bytes": &f.resident, "go_goroutines": &f.goroutines, "process_cpu_seconds_total": &f.cpu,
		"go_gc_duration_seconds_count": &f.collections,
	}
	found := 0
	f.at = time.Now()
	lines := bufio.NewScanner(w.Body)
	for lines.Scan() {
		name, value, _ := strings.Cut(lines.Text(), " ")
		if to := into[name]; to != nil {
			if *to, err = strconv.ParseFloat(value, 64); err != nil {
				return f, fmt.Errorf("GET /metrics: %s is %q", name, value)
			}
			found++
		}
	}
	if err := lines.Err(); err != nil {
		return f, err
	}
	if found < len(into) {
		return f, fmt.Errorf("GET /metrics: found only %d of %d metrics of the process", found, len(into))
	}
	return f, nil
}

// after returns the change of the metrics per conversation, d later.
func (f figures) after(ctx context.Context, c *client, calls int, d time.Duration) (p Footprint, err error) {
	began, err := c.metrics(ctx)
	if err != nil {
		return p, err
	}
	if err := wait.For(ctx, d); err != nil {
		return p, err
	}
	ended, err := c.metrics(ctx)
	if err != nil {
		return p, err
	}
	// Only the processor time of the conversations counts, not that of reading the
	// metrics.
	p.CPU = 100 * (ended.cpu - began.cpu) / ended.at.Sub(began.at).Seconds() / float64(calls)
	now, err := c.figures(ctx)
	if err != nil {
		return p, err
	}
	each := func(now, before float64) float64 { return (now - before) / 1024 / float64(calls) }
	p.Sample = calls
	p.Live, p.Heap, p.Stacks = each(now.live, f.live), each(now.heap, f.heap), each(now.stacks, f.stacks)
	p.Resident = each(ended.resident, f.resident)
	p.Goroutines = (ended.goroutines - f.goroutines) / float64(calls)
	return p, nil
}
