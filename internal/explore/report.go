package explore

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/hocketvoice/hocket/conv"
	"github.com/hocketvoice/hocket/conv/view"
)

// newReport returns an empty report.
func newReport() *Report {
	return &Report{Waits: waiting()}
}

// addTo adds the results of a configuration to the report.
func (x *explorer) addTo(r *Report, reached map[view.Name]map[Edge]bool, causes map[PhaseEdge]bool, pairs map[[2]int32]bool) {
	r.States += len(x.nodes)
	r.Steps += x.steps
	r.Late += x.late
	r.Configs = append(r.Configs, x.size())
	for v, view := range view.Names() {
		if reached[view] == nil {
			reached[view] = make(map[Edge]bool)
		}
		for p := range x.views[v] {
			reached[view][Edge{viewName(v, p[0]), viewName(v, p[1])}] = true
		}
	}
	for e := range x.causes {
		causes[e] = true
	}
	for i, stepped := range x.pairs {
		if stepped {
			n := 1 + len(x.events)
			pairs[[2]int32{int32(i / n), int32(i%n) - 1}] = true
		}
	}
	for i, w := range x.lives {
		r.Waits[i].Stay = max(r.Waits[i].Stay, w.Stay)
		r.Waits[i].Limit = max(r.Waits[i].Limit, w.Limit)
		r.Waits[i].Longest = max(r.Waits[i].Longest, w.Longest)
	}
	for _, check := range sortedKeys(x.violations) {
		r.Violations = append(r.Violations, x.violations[check])
	}
}

// finish compares what was reached with the tables.
func (r *Report) finish(reached map[view.Name]map[Edge]bool, causes map[PhaseEdge]bool, pairs map[[2]int32]bool) {
	for i, table := range Tables() {
		c := Coverage{View: table.View, Rows: len(allowed[i])}
		for e := range reached[table.View] {
			if allowed[i][e] {
				c.Reached = append(c.Reached, e)
			} else {
				c.Outside = append(c.Outside, e)
			}
		}
		for e := range allowed[i] {
			if !reached[table.View][e] {
				c.Missing = append(c.Missing, e)
				r.Violations = append(r.Violations, Violation{
					Check: "completeness " + string(table.View),
					What:  fmt.Sprintf("%s: the transition from %s to %s is never reached", table.View, e.From, e.To),
				})
			}
		}
		for _, list := range [][]Edge{c.Reached, c.Missing, c.Outside} {
			slices.SortFunc(list, func(a, b Edge) int {
				return cmp.Or(cmp.Compare(a.From, b.From), cmp.Compare(a.To, b.To))
			})
		}
		r.Views = append(r.Views, c)
	}
	taken := make(map[[2]conv.Phase]bool)
	for e := range causes {
		r.Phases = append(r.Phases, e)
		taken[[2]conv.Phase{e.From, e.To}] = true
	}
	slices.SortFunc(r.Phases, func(a, b PhaseEdge) int {
		return cmp.Or(cmp.Compare(a.From, b.From), cmp.Compare(a.To, b.To), cmp.Compare(a.Cause, b.Cause))
	})
	for _, from := range conv.Phases() {
		for _, to := range conv.Phases() {
			if from.CanFollow(to) && !taken[[2]conv.Phase{from, to}] {
				r.Violations = append(r.Violations, Violation{
					Check: "completeness phases",
					What:  fmt.Sprintf("the transition from %v to %v is never taken", from, to),
				})
			}
		}
	}
	r.Pairs = len(pairs)
	slices.SortStableFunc(r.Violations, func(a, b Violation) int { return cmp.Compare(a.Check, b.Check) })
}

func sortedKeys(m map[string]Violation) []string {
	keys := make([]string, 0, len(m))
	for k := range m {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	return keys
}
