package explore

import (
	"fmt"
	"reflect"
	"slices"

	"github.com/hocketvoice/hocket/conv"
	"github.com/hocketvoice/hocket/conv/view"
	"github.com/hocketvoice/hocket/internal/timers"
)

// worker expands states on one processor. It only reads the explorer.
type worker struct {
	x   *explorer
	c   *conv.Conversation
	at  *conv.State // the current state of c; nil if it is another one
	buf []byte

	found       []found
	local       map[fingerprint]bool // of the states in found
	edges       []edge
	steps, late int
	views       [4]map[[2]uint8]int32
	causes      map[PhaseEdge]bool
	pairs       []bool // by phase and event; see explorer.pair
	violations  []broken
}

func (x *explorer) newWorker() (*worker, error) {
	c, err := conv.New(x.cfg.Options)
	if err != nil {
		return nil, err
	}
	w := &worker{
		x: x, c: c, local: make(map[fingerprint]bool), causes: make(map[PhaseEdge]bool),
		pairs: make([]bool, len(x.pairs)),
	}
	for i := range w.views {
		w.views[i] = make(map[[2]uint8]int32)
	}
	return w, nil
}

// expand makes all possible steps from a state.
func (w *worker) expand(o open) {
	for i, ev := range w.x.events {
		if w.x.cfg.Events != nil && !w.x.cfg.Events(ev) {
			continue
		}
		if o.state.Phase == conv.Suspended && !keptWhileSuspended(ev) {
			continue
		}
		w.step(o, ev, int32(i), nil)
	}
	for _, k := range clocks(o.state, &w.x.opts) {
		if slices.Contains(w.x.cfg.Still, k.timer) {
			continue
		}
		w.step(o, conv.DeadlinePassed{}, -int32(k.timer)-1, k.set)
	}
	w.inputs(o)
}

// recovered reports a step that has panicked.
func (w *worker) recovered(o open, label int32) {
	if r := recover(); r != nil { //nolint:revive // deferred by name
		w.report(o.index, label, "panic", fmt.Sprint(r))
	}
}

// step makes one step from a state and checks the result.
func (w *worker) step(o open, ev conv.Event, label int32, prepare func(*conv.State)) {
	defer w.recovered(o, label)
	if w.at != o.state {
		w.c.Become(o.state)
	}
	w.at = nil
	if prepare != nil {
		prepare(w.c.State())
	}
	w.c.Step(epoch, ev)
	w.steps++
	out := w.c.Last()
	if out.Late {
		w.late++
	}
	w.pairs[w.x.pair(o.state.Phase, label)] = true
	w.noteViews(o, label)
	s := w.stepped(o.state, ev, o.mon)
	mon, err := s.check()
	if err != nil {
		w.report(o.index, label, "invariant: "+category(err), err.Error())
		return
	}
	if o.follower != nil {
		w.follow(o, ev, mon, label)
		return
	}
	// With flows, the comparison would cost more than it saves.
	if label >= 0 && w.x.opts.Agent == nil && mon == o.mon && same(o.state, s.after) {
		w.at = o.state // nothing has changed: the next step can start from here
		return
	}
	w.keep(o, label, mon, nil)
}

// stepped returns the last step of the machine as the checks see it.
func (w *worker) stepped(before *conv.State, ev conv.Event, mon monitor) stepped {
	o := &w.x.opts
	return stepped{
		before: before, after: w.c.State(), event: ev, out: w.c.Last(), mon: mon,
		resumes:  o.ResumeAfterFalseInterruption,
		advised:  o.Agent != nil && o.Agent.Settings().Model.Understanding,
		endpoint: o.Endpoint,
	}
}

// noteViews records the transitions of the phase and of each view.
func (w *worker) noteViews(o open, label int32) {
	out := w.c.Last()
	last := o.state.Views()
	for i := range out.Transitions {
		t := &out.Transitions[i]
		w.causes[PhaseEdge{t.From, t.To, t.Cause}] = true
		w.noteChange(o, label, last, t.Views)
		last = t.Views
	}
	w.noteChange(o, label, last, w.c.State().Views())
}

func (w *worker) noteChange(o open, label int32, from, to view.Views) {
	pairs := [4][2]uint8{
		{uint8(from.AgentVoice), uint8(to.AgentVoice)},
		{uint8(from.Amplifier), uint8(to.Amplifier)},
		{uint8(from.EasyTurn), uint8(to.EasyTurn)},
		{uint8(from.Interaction), uint8(to.Interaction)},
	}
	for v, p := range pairs {
		if p[0] == p[1] {
			continue
		}
		if _, ok := w.views[v][p]; ok {
			continue
		}
		w.views[v][p] = o.index
		e := Edge{viewName(v, p[0]), viewName(v, p[1])}
		if !allowed[v][e] {
			w.report(o.index, label, "soundness "+string(view.Names()[v])+" "+e.From+" -> "+e.To,
				fmt.Sprintf("the table of %s has no transition from %s to %s", view.Names()[v], e.From, e.To))
		}
	}
}

// keep canonicalizes the reached state and records it if it is new.
func (w *worker) keep(o open, label int32, mon monitor, f Follower) {
	st := w.c.State()
	kept, left := keptTimers(&st.Timers), f != nil || len(w.c.Last().Transitions) > 0 // with a follower, only the last of several steps is known
	rename := renaming(st)
	canonical(st, &w.x.opts)
	w.buf = appendKey(w.buf[:0], st, &mon)
	if f != nil {
		f.Canonical(st, rename)
		w.buf = f.AppendKey(w.buf)
	}
	k := w.x.fingerprint(w.buf)
	if i, ok := w.x.seen[k]; ok {
		if label < 0 {
			w.edges = append(w.edges, edge{from: o.index, to: i, timer: timers.Timer(-label - 1), kept: kept, left: left})
		}
		return
	}
	if w.local[k] && label >= 0 {
		return
	}
	if w.x.opts.Agent == nil && !reflect.ValueOf(&st.Dialogue).Elem().IsZero() {
		w.report(o.index, label, "invariant: flows", "a dialogue has begun where there are no flows")
	}
	w.local[k] = true
	taken := *st // the next step begins with a copy of another state
	w.found = append(w.found, found{
		parent: o.index, label: label, key: k, state: &taken, mon: mon, kept: kept, left: left, follower: f,
	})
}

func (w *worker) report(parent, label int32, check, what string) {
	w.violations = append(w.violations, broken{parent: parent, label: label, check: check, what: what})
}

// category returns the beginning of a message without its numbers; one violation of
// each category is enough.
func category(err error) string {
	s := err.Error()
	for i, r := range s {
		if r >= '0' && r <= '9' {
			return s[:i]
		}
	}
	return s
}

// allowed contains the resolved tables in the order of view.Names.
var allowed = func() [4]map[Edge]bool {
	var a [4]map[Edge]bool
	for i, t := range Tables() {
		a[i] = t.resolve()
	}
	return a
}()

func viewName(v int, state uint8) string {
	states, err := view.Names()[v].States()
	if err != nil {
		panic(err) // the name is one of the views
	}
	return states[state]
}
