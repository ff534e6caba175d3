package explore

import (
	"fmt"
	"slices"
	"sync"

	"github.com/hocketvoice/hocket/conv"
)

// Explored is what the exploration has met of the machine's steps, as the phases show them:
// the phase before, the event or the limit that passed, and the phase behind. A step that
// stays in its phase has been met in any case, because every event was stepped in every
// phase. It says nothing about the rest of the state: where it is in the dialogue, say, or
// how many calls run. It is safe for concurrent use.
type Explored struct{ taken map[string]bool }

// KnownExplored is what the exploration had met as of the last `go generate`.
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

// Met reports whether the exploration has met a change of phase with its cause, by their
// names.
func (e *Explored) Met(from, to, cause string) bool { return e.taken[edgeKey(from, to, cause)] }

// Step reports whether it has met all changes of phase that a step made.
func (e *Explored) Step(transitions []conv.Transition) bool {
	return !slices.ContainsFunc(transitions, func(t conv.Transition) bool {
		return !e.Met(t.From.String(), t.To.String(), string(t.Cause))
	})
}
