package app

import (
	"context"
	"os"

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
