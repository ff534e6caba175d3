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

// openHome makes this process a node of the store.
func openHome(ctx context.Context, s *Store, c config.Server, keep time.Duration, log *slog.Logger) (*node.Home, error) {
	return node.Open(ctx, node.Options{
		Node: port.Node{ID: c.Node, URL: c.URL}, Registry: s.registry, Tickets: s.tickets, Store: s.port,
		Load: func(ctx context.Context, id string) (journal.Checkpoint, bool, error) {
			c, err := s.Load(ctx, id)
			if _, missing := errors.AsType[missingError](err); missing {
				return c, false, nil
			}
			return c, err == nil, err
		},
		Expire: s.Expire, Wait: time.Duration(c.Resume), Keep: keep, Log: log,
		Shared: s.shared,
	})
}

// apiHome implements [api.Home].
type apiHome struct {
	*node.Home
	server *Server
}

// Grant implements [api.Home].
func (h apiHome) Grant(ctx context.Context, id string, g port.Grant) error {
	err := h.Home.Grant(ctx, id, g)
	if errors.Is(err, node.ErrUnclaimed) {
		return api.ErrUnclaimed
	}
	return err
}

// Restore claims a conversation and returns the description with which it continues here.
// The caller must call Over if the conversation does not begin.
func (h apiHome) Restore(ctx context.Context, id string) (hub.Call, error) {
	c, hold, err := h.Take(ctx, id)
	if errors.Is(err, node.ErrGone) {
		return hub.Call{}, api.ErrGone
	}
	if errors.Is(err, node.ErrUnsure) {
		return hub.Call{}, fmt.Errorf("%w: %w", api.ErrUnsure, err)
	}
	if err != nil {
		return hub.Call{}, err
	}
	a, err := h.server.agentFor(ctx, c, hold)
	if err == nil {
		return a.again(c).resumedCall(c, hold), nil
	}
	h.Over(id, false) //nolint:contextcheck // it is released even if the request is canceled
	if errors.Is(err, errNoAgent) {
		return hub.Call{}, api.ErrChanged
	}
	return hub.Call{}, fmt.Errorf("%w: %w", api.ErrUnsure, err)
}
