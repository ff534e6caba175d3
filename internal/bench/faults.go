package bench

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"runtime"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/hocketvoice/hocket/audio"
	"github.com/hocketvoice/hocket/internal/wait"
	"github.com/hocketvoice/hocket/leg/realtime"
)

// FaultsOptions configures a measurement of well-behaved clients of the OpenAI
// Realtime protocol while others misbehave: 50 calls by default, and Duration for
// each kind of fault.
type FaultsOptions = WebRTCOptions

// FaultsReport is the result. The first row is measured without faults.
type FaultsReport struct {
	Calls  int     `json:"calls"`
	Rows   []Fault `json:"faults"`
	Before int     `json:"goroutines_before"` // in total
	After  int     `json:"goroutines_after"`  //
}

// Hurt describes effects on well-behaved clients. It is empty if there are none.
func (r *FaultsReport) Hurt() string {
	var list []string
	for i := range r.Rows {
		if f := &r.Rows[i]; f.Closed+f.Cut+f.Short+f.Left > 0 || f.Deltas == 0 {
			list = append(list, fmt.Sprintf("%s: %d healthy conversations closed, %d responses cut off, %d short of sound, %d pieces heard, %d conversations left",
				f.Name, f.Closed, f.Cut, f.Short, f.Deltas, f.Left))
		}
	}
	if r.After > r.Before {
		list = append(list, fmt.Sprintf("%d goroutines before, %d after", r.Before, r.After))
	}
	return strings.Join(list, "\n")
}

// Fault is the effect of one kind of fault on the well-behaved conversations, and
// what its clients were told.
type Fault struct {
	Name string `json:"name"`
	Told string `json:"told"` // errors and close codes with their numbers

	GoroutinesBefore int     `json:"goroutines_before"` // those of the well-behaved conversations vary
	GoroutinesAfter  int     `json:"goroutines_after"`
	MemoryBefore     float64 `json:"memory_before_mb"` // heap and stacks after a garbage collection
	MemoryAfter      float64 `json:"memory_after_mb"`

	Lateness         // of the pieces of sound in well-behaved conversations
	Ratio    float64 `json:"lateness_p99_ratio"` // relative to the first row
	Deltas   int     `json:"deltas"`

	Closed int `json:"closed"` // well-behaved conversations that ended
	Cut    int `json:"cut"`    // their responses that were cut off
	Short  int `json:"short"`  // their responses with too little sound
	Left   int `json:"left"`   // conversations of misbehaving clients that did not end
}

// Timeouts of the measured server, shorter than the defaults so that they pass
// during a measurement.
const (
	faultLinger  = time.Second
	faultPing    = time.Second
	faultTimeout = 2 * time.Second
)

// Faults runs well-behaved conversations while other clients misbehave, one kind of
// fault after the other and then all together. It returns when all have ended.
// Effects on well-behaved clients are in the report and not an error.
func Faults(ctx context.Context, o FaultsOptions) (r FaultsReport, err error) {
	if o.Calls == 0 {
		o.Calls = 50
	}
	voice, err := o.prepare(ctx)
	if err != nil {
		return r, err
	}
	said, silence, err := voice.appends(2)
	if err != nil {
		return r, err
	}
	r.Calls, r.Before = o.Calls, runtime.NumGoroutine()
	f := faulty{o: o, silence: silence}
	var stop func() error
	f.server, f.url, stop, err = serveRealtime(ctx, o, voice, realtime.Options{
		Linger: faultLinger, PingEvery: faultPing, WriteTimeout: faultTimeout,
	})
	if err != nil {
		return r, err
	}
	var running sync.WaitGroup
	ctx, cancel := context.WithCancel(ctx)
	defer func() {
		cancel()
		running.Wait()
		err = errors.Join(err, stop())
		r.After = goroutines(r.Before)
	}()
	for i := range o.Calls {
		c, err := newCaller(ctx, f.url, nil)
		if err != nil {
			return r, fmt.Errorf("bench: call %d: %w", i+1, err)
		}
		c.least = voice.shortest(0, 1)
		f.healthy = append(f.healthy, c)
		shift := time.Duration(i) * askEvery / time.Duration(o.Calls)
		running.Go(func() { c.listen(ctx) })
		running.Go(func() { c.talk(ctx, said, silence, shift) })
	}
	if err := wait.For(ctx, greeted+warmUp); err != nil {
		return r, err
	}
	r.Rows, err = f.run(ctx)
	return r, err
}

// shortest returns the duration of the shorter of two texts, without its last
// piece.
func (c *canned) shortest(a, b int) time.Duration {
	length := func(n int) time.Duration { return audio.Pos(len(c.pcm[n])).Duration(c.rate) }
	return min(length(a), length(b)) - appendEvery
}

// faulty contains the misbehaving clients and the well-behaved ones.
type faulty struct {
	o       FaultsOptions
	server  *realtime.Server
	url     string
	healthy []*caller
	silence []byte
}

// run measures each kind of fault, and then all together.
func (f *faulty) run(ctx context.Context) ([]Fault, error) {
	kinds := []kind{{"none", func(ctx context.Context, _ *faulty, _ *tally) error { <-ctx.Done(); return nil }}}
	kinds = append(kinds, misbehaviours...)
	kinds = append(kinds, kind{"all together", func(ctx context.Context, f *faulty, t *tally) error {
		var all sync.WaitGroup
		errs := make([]error, len(misbehaviours))
		for i, k := range misbehaviours {
			all.Go(func() { errs[i] = k.run(ctx, f, t) })
		}
		all.Wait()
		return errors.Join(errs...)
	}})
	var rows []Fault
	for _, k := range kinds {
		row, err := f.measure(ctx, k)
		if err != nil {
			return rows, fmt.Errorf("bench: %s: %w", k.name, err)
		}
		if rows = append(rows, row); rows[0].P99 > 0 {
			rows[len(rows)-1].Ratio = row.P99 / rows[0].P99
		}
	}
	return rows, nil
}

// faultClients is the number of clients that misbehave in the same way at once.
const faultClients = 3

// measure observes the well-behaved conversations during one kind of fault.
func (f *faulty) measure(ctx context.Context, k kind) (row Fault, err error) {
	row = Fault{Name: k.name, GoroutinesBefore: runtime.NumGoroutine(), MemoryBefore: float64(memory()) / (1 << 20)}
	for _, c := range f.healthy {
		c.restart()
	}
	t := &tally{told: make(map[string]int)}
	during, stop := context.WithTimeout(ctx, f.o.Duration)
	defer stop()
	var all sync.WaitGroup
	errs := make([]error, faultClients)
	for i := range errs {
		all.Go(func() { errs[i] = k.run(during, f, t) })
	}
	all.Wait()
	<-during.Done() // all rows have the same duration
	if err := errors.Join(errors.Join(errs...), ctx.Err()); err != nil {
		return row, err
	}
	var late []time.Duration
	for _, c := range f.healthy {
		n := c.noted()
		late = append(late, n.late...)
		row.Cut, row.Short = row.Cut+n.cut, row.Short+n.short
	}
	row.Deltas, row.Lateness, row.Told = len(late), newLateness(late), t.String()
	row.Left = f.left()
	row.GoroutinesAfter, row.MemoryAfter = goroutines(row.GoroutinesBefore), float64(memory())/(1<<20)
	for _, c := range f.healthy {
		if c.noted().err != nil {
			row.Closed++
		}
	}
	return row, nil
}

// left waits for the conversations of misbehaving clients to end, and returns the
// number of those that did not.
func (f *faulty) left() int {
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for end := time.Now().Add(patience); time.Now().Before(end) && f.server.Conversations() > len(f.healthy); {
		<-tick.C
	}
	return max(0, f.server.Conversations()-len(f.healthy))
}

// tally counts what clients were told. It is safe for concurrent use.
type tally struct {
	mu   sync.Mutex
	told map[string]int
}

func (t *tally) note(what string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.told[what]++
}

// String returns the counts in alphabetical order.
func (t *tally) String() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	var list []string
	for _, what := range slices.Sorted(maps.Keys(t.told)) {
		list = append(list, fmt.Sprintf("%s (%d)", what, t.told[what]))
	}
	return strings.Join(list, ", ")
}
