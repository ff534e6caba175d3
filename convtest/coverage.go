package convtest

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/hocketvoice/hocket/conv"
)

// Coverage records what runs visit. A nil Coverage records nothing.
type Coverage struct {
	edges map[[2]conv.Phase]map[string]int // causes by transition
	pairs map[conv.Phase]map[string]bool   // events by phase
}

// NewCoverage returns an empty coverage.
func NewCoverage() *Coverage {
	return &Coverage{edges: map[[2]conv.Phase]map[string]int{}, pairs: map[conv.Phase]map[string]bool{}}
}

func (v *Coverage) note(before conv.Phase, ev conv.Event, transitions []conv.Transition) {
	if v == nil {
		return
	}
	if v.pairs[before] == nil {
		v.pairs[before] = map[string]bool{}
	}
	v.pairs[before][conv.EventType(ev)] = true
	for _, t := range transitions {
		e := [2]conv.Phase{t.From, t.To}
		if v.edges[e] == nil {
			v.edges[e] = map[string]int{}
		}
		v.edges[e][string(t.Cause)]++
	}
}

// Edges returns the number of edges in the phase graph and those that were not
// taken.
func (v *Coverage) Edges() (total int, missing []string) {
	for _, from := range conv.Phases() {
		for _, to := range conv.Phases() {
			if !from.CanFollow(to) {
				continue
			}
			total++
			if v.edges[[2]conv.Phase{from, to}] == nil {
				missing = append(missing, fmt.Sprintf("%v -> %v", from, to))
			}
		}
	}
	return total, missing
}

// Causes returns the causes with which the phase was entered.
func (v *Coverage) Causes(to conv.Phase) []string {
	var causes []string
	for e, by := range v.edges {
		if e[1] != to {
			continue
		}
		for cause := range by {
			causes = append(causes, cause)
		}
	}
	slices.SortFunc(causes, cmp.Compare)
	return slices.Compact(causes)
}

// Took reports whether a transition was made with this cause.
func (v *Coverage) Took(from, to conv.Phase, cause string) bool {
	return v.edges[[2]conv.Phase{from, to}][cause] > 0
}

// Met reports whether the event occurred in the phase.
func (v *Coverage) Met(p conv.Phase, event string) bool { return v.pairs[p][event] }
