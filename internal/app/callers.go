package app

import (
	"context"
	"os"

	"github.com/hocketvoice/hocket/server/api"
	"github.com/hocketvoice/hocket/server/node"
	"github.com/hocketvoice/hocket/task"
)

// Callers are what a store that was opened at a place keeps of callers, with their delegated
// work. closing ends them, and leaves the store open.
func (s *Store) Callers(ctx context.Context, place string) (c api.Callers, closing func() error, err error) {
	c.Held = func(ctx context.Context, id string) bool {
		n, held, err := s.registry.Holder(ctx, id)
		return err != nil || held && !node.DiedHere(n.ID)
	}
	t, err := besideStore(s, place)
	if err != nil {
		return c, nil, inputError{err}
	}
	if _, err := os.Stat(t.Path); t.Path != "" && err != nil { // who looks makes none
		c.Stored = newShelf(s, nil)
		return c, func() error { return nil }, nil //nolint:nilerr // there is no delegated work
	}
	work, err := task.Open(ctx, t)
	if err != nil {
		return c, nil, err
	}
	c.Stored = newShelf(s, work)
	return c, work.Close, nil
}
