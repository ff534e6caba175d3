package realtime

import (
	"crypto/rand"
	"strconv"
	"sync/atomic"
)

// newID is an id that nobody has: a prefix and 20 letters and digits.
func newID(prefix string) string { return prefix + "_" + rand.Text()[:20] }

// eventIDs numbers the events of a connection under a name that no other has.
type eventIDs struct {
	prefix string
	n      atomic.Uint64
}

func newEventIDs() *eventIDs { return &eventIDs{prefix: newID("event") + "_"} }

func (e *eventIDs) next() string { return e.prefix + strconv.FormatUint(e.n.Add(1), 36) }
