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

// FaultsOptions describe a measurement of healthy clients of the OpenAI Realtime
// protocol while others misbehave: 50 calls by default, and Duration for each kind
// of fault.
type FaultsOptions = WebRTCOptions

// FaultsReport is what was measured. The first row is a time without faults.
type FaultsReport struct {
	Calls  int     `json:"calls"`
	Rows   []Fault `json:"faults"`
	Before int     `json:"goroutines_before"` // of all
	After  int     `json:"goroutines_after"`  //
}

// Hurt says what must not have happened; empty if nothing did.
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

// Fault is what the healthy conversations saw of one kind of fault, and what its
// clients were told.
type Fault struct {
	Name string `json:"name"`
	Told string `json:"told"` // errors and close codes, with how often

	GoroutinesBefore int     `json:"goroutines_before"` // the healthy ones' come and go
	GoroutinesAfter  int     `json:"goroutines_after"`
	MemoryBefore     float64 `json:"memory_before_mb"` // heap and stacks, behind a garbage collection
	MemoryAfter      float64 `json:"memory_after_mb"`

	Lateness         // of the healthy conversations' pieces of sound
	Ratio    float64 `json:"lateness_p99_ratio"` // to that of the first row
	Deltas   int     `json:"deltas"`

	Closed int `json:"closed"` // healthy conversations that ended
	Cut    int `json:"cut"`    // of their responses, those that were cut off
	Short  int `json:"short"`  // or had less sound than words
	Left   int `json:"left"`   // conversations of the faulty that did not end
}

// The times of a server that is measured: shorter than those that it has by
// itself, so that a measurement sees their ends.
const (
	faultLinger  = time.Second
	faultPing    = time.Second
	faultTimeout = 2 * time.Second
)

// Faults holds healthy conversations while other clients misbehave, one kind after
// the other and all together. It returns when all have ended. What was hurt is in
// the report, and no error.
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

// shortest is the sound of the shorter of two texts, without its last piece.
func (c *canned) shortest(a, b int) time.Duration {
	length := func(n int) time.Duration { return audio.Pos(len(c.pcm[n])).Duration(c.rate) }
	return min(length(a), length(b)) - appendEvery
}

// faulty are the clients that misbehave, and those that they must not harm.
type faulty struct {
	o       FaultsOptions
	server  *realtime.Server
	url     string
	healthy []*caller
	silence []byte
}

// run measures one kind after the other, and all together.
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

// faultClients is how many misbehave in the same way at once.
const faultClients = 3

// measure watches the healthy conversations during one kind of fault.
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
	<-during.Done() // all rows are as long
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

// left waits for the conversations of the faulty to end, and counts those that did
// not.
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

// String lists it, in the order of the alphabet.
func (t *tally) String() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	var list []string
	for _, what := range slices.Sorted(maps.Keys(t.told)) {
		list = append(list, fmt.Sprintf("%s (%d)", what, t.told[what]))
	}
	return strings.Join(list, ", ")
}
