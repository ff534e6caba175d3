package explore

import (
	"bytes"
	"cmp"
	"fmt"
	"go/format"
	"slices"

	"github.com/hocketvoice/hocket/conv"
	"github.com/hocketvoice/hocket/conv/view"
)

//go:generate go run ./gen

// Machine contains every reached transition of the shipped machine, with all of its
// causes.
type Machine struct {
	Phases []Transition
	Views  []ViewMachine // in the order of view.Names
}

// ViewMachine is the machine as shown by one view.
type ViewMachine struct {
	View        view.Name
	Transitions []Transition
}

// Transition is a change of phase, or of a view's state, and its causes: types of
// events, and names of deadlines. Causes that need fewer steps from the beginning come
// first, since they are the usual ones.
type Transition struct {
	From, To string
	Causes   []string
}

// Known returns the machine as of the last `go generate`, without exploring. A test
// compares it with the result of [Run].
func Known() Machine { return known() }

// View returns the transitions of a view.
func (m Machine) View(v view.Name) []Transition {
	for _, vm := range m.Views {
		if vm.View == v {
			return vm.Transitions
		}
	}
	return nil
}

// Reach explores the configurations and returns the transitions with their causes. A
// [Report] contains them for the phases only; those of a view cannot be derived, since
// a view depends on more than the phase. Reach takes about twice as long as [Run].
func Reach(configs []Config) (Machine, error) {
	r := recorder{}
	for _, cfg := range configs {
		x, err := newExplorer(cfg)
		if err == nil {
			err = r.walk(x)
		}
		if err != nil {
			return Machine{}, fmt.Errorf("reach %s: %w", cfg.Name, err)
		}
	}
	return r.machine(), nil
}

// recorder records the transitions of an exploration. Index 0 is for the phases; the
// views follow in order.
type recorder struct {
	causes [1 + 4]map[Edge]map[string]int // with the minimum number of steps
	depth  int
	c      *conv.Conversation
}

// walk does the same as explorer.run and records each step.
func (r *recorder) walk(x *explorer) error {
	var err error
	if r.c, err = conv.New(x.cfg.Options); err != nil {
		return err
	}
	frontier := x.begin()
	sampled := make(map[conv.Phase]int)
	for r.depth = 1; len(frontier) > 0; r.depth++ {
		for i := 0; i < len(frontier); i += 1 + len(frontier)/samplesPerPhase {
			if o := frontier[i]; sampled[o.state.Phase] < samplesPerPhase {
				sampled[o.state.Phase]++
				for _, ev := range x.events {
					r.step(o.state, ev, nil)
				}
			}
		}
		for _, o := range frontier {
			r.expand(x, o.state)
		}
		results, err := x.expand(frontier)
		if err != nil {
			return err
		}
		frontier = x.merge(results)
	}
	if n := len(x.violations); n > 0 {
		return fmt.Errorf("%d promises do not hold: explore first", n)
	}
	return nil
}

// expand records the steps of worker.expand.
func (r *recorder) expand(x *explorer, st *conv.State) {
	for _, ev := range x.events {
		if x.cfg.Events != nil && !x.cfg.Events(ev) || st.Phase == conv.Suspended && !keptWhileSuspended(ev) {
			continue
		}
		r.step(st, ev, nil)
	}
	for _, k := range clocks(st, &x.opts) {
		if !slices.Contains(x.cfg.Still, k.timer) {
			r.step(st, conv.DeadlinePassed{}, k.set)
		}
	}
}

func (r *recorder) step(st *conv.State, ev conv.Event, prepare func(*conv.State)) {
	r.c.Become(st)
	if prepare != nil {
		prepare(r.c.State())
	}
	r.c.Step(epoch, ev)
	last := st.Views()
	for _, t := range r.c.Last().Transitions {
		r.note(0, t.From.String(), t.To.String(), string(t.Cause))
		r.noteViews(last, t.Views, string(t.Cause))
		last = t.Views
	}
	r.noteViews(last, r.c.State().Views(), conv.EventType(ev))
}

func (r *recorder) noteViews(from, to view.Views, cause string) {
	if from == to {
		return
	}
	for i, v := range view.Names() {
		r.note(1+i, v.Of(from), v.Of(to), cause)
	}
}

func (r *recorder) note(table int, from, to, cause string) {
	if from == to {
		return
	}
	if r.causes[table] == nil {
		r.causes[table] = make(map[Edge]map[string]int)
	}
	e := Edge{from, to}
	if r.causes[table][e] == nil {
		r.causes[table][e] = make(map[string]int)
	}
	if least, ok := r.causes[table][e][cause]; !ok || r.depth < least {
		r.causes[table][e][cause] = r.depth
	}
}

// machine returns the recorded transitions: states in the order of the phases or the
// view, and causes by the number of steps, then by name.
func (r *recorder) machine() Machine {
	var phases []string
	for _, p := range conv.Phases() {
		phases = append(phases, p.String())
	}
	m := Machine{Phases: r.transitions(0, phases)}
	for i, v := range view.Names() {
		states, err := v.States()
		if err != nil {
			panic(err) // the name is one of the views
		}
		m.Views = append(m.Views, ViewMachine{v, r.transitions(1+i, states)})
	}
	return m
}

func (r *recorder) transitions(table int, order []string) []Transition {
	var list []Transition
	for e, causes := range r.causes[table] {
		t := Transition{From: e.From, To: e.To}
		for cause := range causes {
			t.Causes = append(t.Causes, cause)
		}
		slices.SortFunc(t.Causes, func(a, b string) int {
			return cmp.Or(cmp.Compare(causes[a], causes[b]), cmp.Compare(a, b))
		})
		list = append(list, t)
	}
	slices.SortFunc(list, func(a, b Transition) int {
		return cmp.Or(
			cmp.Compare(slices.Index(order, a.From), slices.Index(order, b.From)),
			cmp.Compare(slices.Index(order, a.To), slices.Index(order, b.To)),
		)
	})
	return list
}

// Source returns the machine as the Go file that [Known] uses.
func (m Machine) Source() ([]byte, error) {
	var b bytes.Buffer
	b.WriteString("// Code generated by go generate; DO NOT EDIT.\n\npackage explore\n\n")
	b.WriteString("// known is what the exploration of the shipped machine reached.\n")
	b.WriteString("func known() Machine {\nreturn Machine{\nPhases: []Transition{\n")
	writeTransitions(&b, m.Phases)
	b.WriteString("},\nViews: []ViewMachine{\n")
	for _, v := range m.Views {
		fmt.Fprintf(&b, "{View: %q, Transitions: []Transition{\n", v.View)
		writeTransitions(&b, v.Transitions)
		b.WriteString("}},\n")
	}
	b.WriteString("},\n}\n}\n")
	src, err := format.Source(b.Bytes())
	if err != nil {
		return nil, fmt.Errorf("write the machine as Go: %w", err)
	}
	return src, nil
}

func writeTransitions(b *bytes.Buffer, list []Transition) {
	for _, t := range list {
		fmt.Fprintf(b, "{%q, %q, %#v},\n", t.From, t.To, t.Causes)
	}
}

// TableEdge is a transition that a seed's table allows.
type TableEdge struct {
	Edge
	Added bool // by a row that is not in the seed's own table
}

// Edges returns the transitions that the table allows, with patterns expanded, in the
// order of the view's states.
func (t Table) Edges() []TableEdge {
	seed := t
	seed.Rows = slices.DeleteFunc(slices.Clone(t.Rows), func(r Row) bool { return r.Added })
	own := seed.resolve()
	states, err := t.View.States()
	if err != nil {
		panic(err) // the tables name views of package conv
	}
	all := t.resolve()
	var list []TableEdge
	for _, from := range states {
		for _, to := range states {
			if e := (Edge{from, to}); all[e] {
				list = append(list, TableEdge{e, !own[e]})
			}
		}
	}
	return list
}

// Stale returns the differences between m and a report: the transitions of the phases
// with their causes, and those of the views. It returns nothing if they agree.
func (m Machine) Stale(r *Report) []string {
	known, found := make(map[string]bool), make(map[string]bool)
	for _, t := range m.Phases {
		for _, cause := range t.Causes {
			known[fmt.Sprintf("%s -> %s on %s", t.From, t.To, cause)] = true
		}
	}
	for _, e := range r.Phases {
		found[fmt.Sprintf("%v -> %v on %s", e.From, e.To, e.Cause)] = true
	}
	for _, v := range m.Views {
		for _, t := range v.Transitions {
			known[fmt.Sprintf("%s: %s -> %s", v.View, t.From, t.To)] = true
		}
	}
	for _, c := range r.Views {
		for _, e := range slices.Concat(c.Reached, c.Outside) {
			found[fmt.Sprintf("%s: %s -> %s", c.View, e.From, e.To)] = true
		}
	}
	var list []string
	for line := range known {
		if !found[line] {
			list = append(list, "no longer reached: "+line)
		}
	}
	for line := range found {
		if !known[line] {
			list = append(list, "new: "+line)
		}
	}
	slices.Sort(list)
	return list
}
