package realtime

import (
	"crypto/rand"
	"strconv"
	"sync/atomic"
)

// newID returns a unique id: a prefix and 20 random letters and digits.
func newID(prefix string) string { return prefix + "_" + rand.Text()[:20] }

// eventIDs numbers the events of a conversation, after a random prefix.
type eventIDs struct {
	prefix string
	n      atomic.Uint64
}

func newEventIDs() *eventIDs { return &eventIDs{prefix: newID("event") + "_"} }

func (e *eventIDs) next() string { return e.prefix + strconv.FormatUint(e.n.Add(1), 36) }
