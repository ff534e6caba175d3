package app

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/hocketvoice/hocket/internal/config"
	"github.com/hocketvoice/hocket/journal"
	"github.com/hocketvoice/hocket/port"
	"github.com/hocketvoice/hocket/server/api"
	"github.com/hocketvoice/hocket/server/hub"
	"github.com/hocketvoice/hocket/server/node"
)

// openHome makes this process a node of the store's.
func openHome(ctx context.Context, s *Store, c config.Server, keep time.Duration, log *slog.Logger) (*node.Home, error) {
	return node.Open(ctx, node.Options{
		Node: port.Node{ID: c.Node, URL: c.URL}, Registry: s.registry, Tickets: s.tickets, Store: s.port,
		Load: func(ctx context.Context, id string) (journal.Checkpoint, bool, error) {
			kept, err := s.Load(ctx, id)
			if _, missing := errors.AsType[missingError](err); missing {
				return kept, false, nil
			}
			return kept, err == nil, err
		},
		Expire: s.Expire, Wait: time.Duration(c.Resume), Keep: keep, Log: log,
		Shared: s.shared,
	})
}

// kept is a conversation that this server may go on with.
type kept struct {
	*node.Home
	server *Server
}

// Restore describes how a conversation goes on here. Who does not begin it calls its
// Over.
func (k kept) Restore(ctx context.Context, id string) (hub.Call, error) {
	c, hold, err := k.Take(ctx, id)
	if errors.Is(err, node.ErrGone) {
		return hub.Call{}, api.ErrGone
	}
	if errors.Is(err, node.ErrUnsure) {
		return hub.Call{}, fmt.Errorf("%w: %w", api.ErrUnsure, err)
	}
	if err != nil {
		return hub.Call{}, err
	}
	a, err := k.server.goesOnWith(ctx, c, hold)
	if err == nil {
		return a.goesOn(c, hold), nil
	}
	k.Over(id, false) //nolint:contextcheck // it is given up whatever becomes of the request
	if errors.Is(err, errOther) {
		return hub.Call{}, api.ErrChanged
	}
	return hub.Call{}, fmt.Errorf("%w: %w", api.ErrUnsure, err)
}
