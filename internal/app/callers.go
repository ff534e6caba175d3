package app

import (
	"context"
	"os"
	"sync/atomic"

	"github.com/hocketvoice/hocket/port"
	"github.com/hocketvoice/hocket/server/api"
	"github.com/hocketvoice/hocket/server/node"
	"github.com/hocketvoice/hocket/task"
)

// Callers gives access to the stored data of callers, including their delegated work.
// place is where the store was opened. closing closes the delegated work, not the store.
func (s *Store) Callers(ctx context.Context, place string) (c api.Callers, closing func() error, err error) {
	c.Held = func(ctx context.Context, id string) bool {
		n, held, err := s.registry.Holder(ctx, id)
		return err != nil || held && !node.DiedHere(n.ID)
	}
	t, err := besideStore(s, place)
	if err != nil {
		return c, nil, inputError{err}
	}
	if _, err := os.Stat(t.Path); t.Path != "" && err != nil { // reading must not create the file
		c.Stored = newArchive(s, nil)
		return c, func() error { return nil }, nil //nolint:nilerr // there is no delegated work
	}
	work, err := task.Open(ctx, t)
	if err != nil {
		return c, nil, err
	}
	c.Stored = newArchive(s, work)
	return c, work.Close, nil
}

// plainMark is the beginning of a mark that is not a digest.
const plainMark = "plain:"

// marks are the marks of a caller, the first of which is given, and the beginnings of those
// that this process can give. In a sealed store a mark does not tell whose it is, but that
// two conversations are of the same caller.
func (s *Store) marks(caller string) (marks, prefixes [][]byte) {
	if s.box == nil {
		return [][]byte{[]byte(plainMark + caller)}, [][]byte{[]byte(plainMark)}
	}
	return s.box.Marks("caller\x00" + caller)
}

// marking is a store of one conversation that marks it as its caller's when it is first
// saved. A mark that is not taken is given by who next looks for a caller.
type marking struct {
	port.Store
	callers port.Callers
	mark    []byte
	done    atomic.Bool
}

// marking returns the store of a conversation of a caller, who may be nobody.
func (s *Store) marking(caller string) port.Store {
	if s.callers == nil {
		return s.port
	}
	marks, _ := s.marks(caller)
	return &marking{Store: s.port, callers: s.callers, mark: marks[0]}
}

// Save is one of [port.Store].
func (m *marking) Save(ctx context.Context, h port.Hold, snapshot []byte) error {
	err := m.Store.Save(ctx, h, snapshot)
	if err == nil && !m.done.Load() {
		m.done.Store(m.callers.Mark(ctx, h.ID, m.mark) == nil)
	}
	return err
}
