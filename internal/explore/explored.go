package explore

import (
	"fmt"
	"slices"
	"sync"

	"github.com/hocketvoice/hocket/conv"
)

// Explored contains the changes of phase that the exploration has met, with their
// causes. Steps within a phase count as met, because every event was stepped in every
// phase. The rest of the state, such as the position in the dialogue or the number of
// running calls, is not considered. It is safe for concurrent use.
type Explored struct{ taken map[string]bool }

// KnownExplored returns what the exploration had met at the last `go generate`.
var KnownExplored = sync.OnceValue(func() *Explored {
	e := &Explored{taken: make(map[string]bool)}
	for _, t := range Known().Phases {
		for _, cause := range t.Causes {
			e.taken[edgeKey(t.From, t.To, cause)] = true
		}
	}
	return e
})

func edgeKey(from, to, cause string) string { return fmt.Sprintf("%s\x00%s\x00%s", from, to, cause) }

// Met reports whether the exploration has met a change of phase with its cause, by
// their names.
func (e *Explored) Met(from, to, cause string) bool { return e.taken[edgeKey(from, to, cause)] }

// Step reports whether the exploration has met all changes of phase in a step.
func (e *Explored) Step(transitions []conv.Transition) bool {
	return !slices.ContainsFunc(transitions, func(t conv.Transition) bool {
		return !e.Met(t.From.String(), t.To.String(), string(t.Cause))
	})
}
