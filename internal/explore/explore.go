package explore

import (
	"encoding/json"
	"errors"
	"fmt"
	"hash/maphash"
	"runtime"
	"runtime/debug"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/hocketvoice/hocket/conv"
	"github.com/hocketvoice/hocket/conv/view"
	"github.com/hocketvoice/hocket/internal/timers"
)

// Config is a machine to explore, with its options.
type Config struct {
	Name    string
	Options conv.Options
	// Events selects the part of the alphabet that occurs; nil selects all of it.
	Events func(conv.Event) bool
	// More contains events in addition to the alphabet.
	More []conv.Event
	// Still contains deadlines that never pass.
	Still []timers.Timer
	// Follower, if not nil, is copied and run together with the machine.
	Follower Follower
	// Most, if not 0, limits the number of states: the exploration ends after the level
	// in which it is exceeded.
	Most int
}

// Violation is a property that does not hold, and the shortest path to it.
type Violation struct {
	Config string   `json:"config"`
	Check  string   `json:"check"`
	What   string   `json:"what"`
	Path   []string `json:"path"` // input lines of `hocket step`, deadlines by name
}

// Coverage compares the reached transitions with the table of a view.
type Coverage struct {
	View    view.Name `json:"view"`
	Reached []Edge    `json:"reached"`
	Missing []Edge    `json:"missing,omitempty"` // rows never reached
	Outside []Edge    `json:"outside,omitempty"` // transitions that are not in the table
	Rows    int       `json:"rows"`
}

// Report is the result of an exploration.
type Report struct {
	States     int          `json:"states"`
	Steps      int          `json:"steps"`
	Late       int          `json:"late"`  // steps whose event was dropped
	Waits      []Wait       `json:"waits"` // for each phase that must be left to keep the conversation alive
	Views      []Coverage   `json:"views"`
	Phases     []PhaseEdge  `json:"transitions"`
	Pairs      int          `json:"phase_event_pairs"`
	Violations []Violation  `json:"violations"`
	Configs    []ConfigSize `json:"configs"`
}

// ConfigSize is the size of one configuration.
type ConfigSize struct {
	Name   string `json:"name"`
	States int    `json:"states"`
	Steps  int    `json:"steps"`
}

// Wait is the maximum time that a caller waits in a phase, from any of its states, if
// only deadlines pass: Stay until the phase is left, and Longest until the agent
// speaks, listens or has hung up. Stay must not exceed Limit.
type Wait struct {
	Phase   conv.Phase    `json:"phase"`
	Stay    time.Duration `json:"stay_ns"`
	Limit   time.Duration `json:"limit_ns"`
	Longest time.Duration `json:"longest_ns"`
}

// PhaseEdge is a transition of the machine with one of its causes.
type PhaseEdge struct {
	From  conv.Phase `json:"from"`
	To    conv.Phase `json:"to"`
	Cause conv.Cause `json:"cause"`
}

// node is a reached state. The state itself is only kept until it is expanded.
type node struct {
	parent int32
	label  int32 // of the event or the timer; see explorer.label
}

// edge is a step caused by a deadline, for liveness.
type edge struct {
	from, to int32
	timer    timers.Timer
	kept     timerSet // the timers that remain armed unchanged
	left     bool     // the phase was left, even if only for a moment
}

// fingerprint identifies a key. Two of a million keys are mixed up once in 10^26 runs.
type fingerprint [2]uint64

func (x *explorer) fingerprint(key []byte) fingerprint {
	return fingerprint{maphash.Bytes(x.seeds[0], key), maphash.Bytes(x.seeds[1], key)}
}

// found is a successor that was not known at the beginning of its level.
type found struct {
	parent int32
	label  int32
	key    fingerprint
	state  *conv.State
	mon    monitor
	kept   timerSet // of a deadline's step; see edge
	left   bool     // of a deadline's step; see edge

	follower Follower // nil if there is none
}

// open is a state that is to be expanded.
type open struct {
	index int32
	state *conv.State
	mon   monitor

	follower Follower
}

// explorer explores one configuration.
type explorer struct {
	cfg    Config
	opts   conv.Options
	events []conv.Event

	nodes  []node
	phases []conv.Phase // of each node
	lives  []Wait       // of each phase that is not good
	seen   map[fingerprint]int32
	seeds  [2]maphash.Seed
	edges  []edge

	told        func(done bool) // reports the progress; may be nil
	idle        chan struct{}   // tokens of idle processors
	steps, late int
	views       [4]map[[2]uint8]int32 // transitions of views and the node that first took them
	causes      map[PhaseEdge]bool
	pairs       []bool // by phase and event; see pair
	violations  map[string]Violation
}

// Run explores the configurations in parallel on all processors and returns a common
// report, which does not depend on timing. If told is not nil, it is called before each
// level of a configuration with the configuration's index and its size so far, and when
// the configuration is done. The calls are serialized, but come from several
// goroutines.
func Run(configs []Config, told func(config int, size ConfigSize, done bool)) (*Report, error) {
	report := newReport()
	reached := make(map[view.Name]map[Edge]bool)
	causes := make(map[PhaseEdge]bool)
	pairs := make(map[[2]int32]bool)
	explorers := make([]*explorer, len(configs))
	var telling sync.Mutex
	for i, cfg := range configs {
		x, err := newExplorer(cfg)
		if err != nil {
			return nil, fmt.Errorf("explore %s: %w", cfg.Name, err)
		}
		x.told = func(done bool) {
			if told != nil {
				telling.Lock()
				defer telling.Unlock()
				told(i, x.size(), done)
			}
		}
		explorers[i] = x
	}
	// Nearly all memory stays in use to the end: a collection finds little, and takes a fifth
	// of the processor's time.
	defer debug.SetGCPercent(debug.SetGCPercent(300))
	if err := runAll(explorers); err != nil {
		return nil, err
	}
	for _, x := range explorers {
		x.addTo(report, reached, causes, pairs)
	}
	report.finish(reached, causes, pairs)
	return report, nil
}

// runAll runs each explorer on one processor. Processors without an explorer help the
// others to expand their levels.
func runAll(explorers []*explorer) error {
	var (
		n     = runtime.GOMAXPROCS(0)
		idle  = make(chan struct{}, n)
		next  atomic.Int32
		errs  = make([]error, len(explorers))
		group sync.WaitGroup
	)
	for range n {
		group.Go(func() {
			for {
				i := int(next.Add(1)) - 1
				if i >= len(explorers) {
					idle <- struct{}{}
					return
				}
				x := explorers[i]
				x.idle = idle
				if err := x.run(); err != nil {
					errs[i] = fmt.Errorf("explore %s: %w", x.cfg.Name, err)
				}
				if x.cfg.Most == 0 { // the liveness of an incomplete exploration is not known
					x.liveness()
				}
				x.seen, x.edges = nil, nil // free most of the memory
				x.told(true)
			}
		})
	}
	group.Wait()
	return errors.Join(errs...)
}

func newExplorer(cfg Config) (*explorer, error) {
	c, err := conv.New(cfg.Options)
	if err != nil {
		return nil, err
	}
	x := &explorer{
		cfg: cfg, opts: c.Options(), events: slices.Concat(alphabet(), cfg.More),
		seen: make(map[fingerprint]int32), seeds: [2]maphash.Seed{maphash.MakeSeed(), maphash.MakeSeed()}, causes: make(map[PhaseEdge]bool),
		violations: make(map[string]Violation),
	}
	helpers := runtime.GOMAXPROCS(0) - 1
	x.idle = make(chan struct{}, helpers)
	for range helpers {
		x.idle <- struct{}{}
	}
	x.pairs = make([]bool, (1+int(slices.Max(conv.Phases())))*(1+len(x.events)))
	for i := range x.views {
		x.views[i] = make(map[[2]uint8]int32)
	}
	return x, nil
}

// samplesPerPhase is the number of states of each phase that are stepped with the whole
// alphabet, including events that the configuration excludes.
const samplesPerPhase = 100

// run explores level by level, so that the first path to a state is a shortest one.
// Afterwards it steps the whole alphabet from a sample of the states of each phase,
// without expanding the results.
func (x *explorer) run() error {
	frontier := x.begin()
	samples := make(map[conv.Phase][]open)
	for len(frontier) > 0 {
		if x.told != nil {
			x.told(false)
		}
		for i := 0; i < len(frontier); i += 1 + len(frontier)/samplesPerPhase {
			o := frontier[i]
			if p := o.state.Phase; len(samples[p]) < samplesPerPhase {
				samples[p] = append(samples[p], o)
			}
		}
		results, err := x.expand(frontier)
		if err != nil {
			return err
		}
		frontier = x.merge(results)
		if x.cfg.Most > 0 && len(x.nodes) > x.cfg.Most {
			break
		}
	}
	return x.sample(samples)
}

// begin returns the first level: the state of a conversation that was not started.
func (x *explorer) begin() []open {
	initial := &conv.State{}
	canonical(initial, &x.opts)
	first := found{parent: -1, state: initial, key: x.fingerprint(appendKey(nil, initial, &monitor{}))}
	return []open{{index: x.add(first), state: initial, follower: x.cfg.Follower}}
}

// sample steps the whole alphabet from the samples.
func (x *explorer) sample(samples map[conv.Phase][]open) error {
	w, err := x.newWorker()
	if err != nil {
		return err
	}
	for _, p := range conv.Phases() {
		for _, o := range samples[p] {
			for i, ev := range x.events {
				w.step(o, ev, int32(i), nil)
			}
		}
	}
	w.found, w.edges = nil, nil
	x.merge([]*worker{w})
	return nil
}

// pair returns the index of a phase and an event, or any deadline, in the tables of
// what was stepped.
func (x *explorer) pair(p conv.Phase, label int32) int {
	return int(p)*(1+len(x.events)) + int(max(label, -1)) + 1
}

// size returns the configuration's size so far.
func (x *explorer) size() ConfigSize { return ConfigSize{x.cfg.Name, len(x.nodes), x.steps} }

// add adds a new state and returns its number.
func (x *explorer) add(f found) int32 {
	i := int32(len(x.nodes))
	x.nodes = append(x.nodes, node{parent: f.parent, label: f.label})
	x.phases = append(x.phases, f.state.Phase)
	x.seen[f.key] = i
	return i
}

// expand steps every event and deadline from every state of the level, with the help of
// idle processors. Meanwhile, the known states are only read.
func (x *explorer) expand(level []open) ([]*worker, error) {
	n := 1 + x.help(len(level)/64)
	defer func() {
		for range n - 1 {
			x.idle <- struct{}{}
		}
	}()
	workers := make([]*worker, n)
	var wg sync.WaitGroup
	for i := range workers {
		w, err := x.newWorker()
		if err != nil {
			return nil, err
		}
		workers[i] = w
		part := level[len(level)*i/n : len(level)*(i+1)/n]
		wg.Go(func() {
			for _, o := range part {
				w.expand(o)
			}
		})
	}
	wg.Wait()
	return workers, nil
}

// help reserves at most the given number of idle processors.
func (x *explorer) help(most int) (n int) {
	for n < most {
		select {
		case <-x.idle:
			n++
		default:
			return n
		}
	}
	return n
}

// merge adds the results of the workers, in the order of their shares, so that the
// result does not depend on timing.
func (x *explorer) merge(workers []*worker) []open {
	var next []open
	for _, w := range workers {
		x.steps += w.steps
		x.late += w.late
		for _, f := range w.found {
			i, ok := x.seen[f.key]
			if !ok {
				i = x.add(f)
				next = append(next, open{index: i, state: f.state, mon: f.mon, follower: f.follower})
			}
			if f.label < 0 {
				x.edges = append(x.edges, edge{from: f.parent, to: i, timer: timers.Timer(-f.label - 1), kept: f.kept, left: f.left})
			}
		}
		x.edges = append(x.edges, w.edges...)
		for v := range x.views {
			for t, from := range w.views[v] {
				if old, ok := x.views[v][t]; !ok || from < old {
					x.views[v][t] = from
				}
			}
		}
		for e := range w.causes {
			x.causes[e] = true
		}
		for i, stepped := range w.pairs {
			x.pairs[i] = x.pairs[i] || stepped
		}
		for _, v := range w.violations {
			x.violate(v)
		}
	}
	return next
}

// noLabel is the label if a state itself violates a property, and not a step from it.
const noLabel = -1 << 31

// JSON returns the report as JSON.
func (r *Report) JSON() ([]byte, error) { return json.MarshalIndent(r, "", "  ") }
