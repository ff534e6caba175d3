package node

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/hocketvoice/hocket/port"
)

// Grant stores the digests of a conversation's tokens and returns when the store has
// them. If it fails, each heartbeat tries again. [port.ErrFenced] means that another
// process holds the conversation.
func (h *Home) Grant(ctx context.Context, id string, g port.Grant) error {
	h.mu.Lock()
	_, here := h.holds[id]
	if here {
		h.grants[id] = &g
	}
	h.mu.Unlock()
	if !here {
		return fmt.Errorf("conversation %s does not run here", id)
	}
	return h.give(ctx, id)
}

// give writes the latest tokens of a conversation to the store and returns when it has
// them. There is at most one such write at a time for each conversation: otherwise
// earlier tokens could replace later ones.
func (h *Home) give(ctx context.Context, id string) error {
	h.mu.Lock()
	defer h.mu.Unlock()
	for h.giving[id] != nil {
		given := h.giving[id]
		h.mu.Unlock()
		var err error
		select {
		case <-given:
		case <-ctx.Done():
			err = ctx.Err()
		}
		h.mu.Lock()
		if err != nil {
			return err
		}
	}
	given := make(chan struct{})
	h.giving[id] = given
	defer func() {
		delete(h.giving, id)
		close(given)
	}()
	for {
		hold, g := h.holds[id], h.grants[id]
		switch {
		case g == nil:
			return nil
		case hold.Token == 0:
			return ErrUnclaimed
		}
		h.mu.Unlock()
		err := h.tell(ctx, hold, *g)
		h.mu.Lock()
		if err != nil {
			return err
		}
		if h.grants[id] == g {
			delete(h.grants, id)
		}
	}
}

// tell writes tokens to the store. If another process holds the conversation, tell
// reports it as lost.
func (h *Home) tell(ctx context.Context, hold port.Hold, g port.Grant) error {
	limited, cancel := context.WithTimeout(ctx, askStore)
	defer cancel()
	err := h.o.Registry.Grant(limited, hold, g)
	h.note(ctx, err)
	if errors.Is(err, port.ErrFenced) && h.Hold(hold.ID) == hold {
		h.tellLost(hold.ID)
	}
	return err
}

// giveAll writes all pending tokens to the store.
func (h *Home) giveAll(ctx context.Context) {
	h.mu.Lock()
	ids := slices.Collect(maps.Keys(h.grants))
	h.mu.Unlock()
	var errs []error
	for _, id := range ids {
		if h.Hold(id).Token != 0 { // otherwise it must be claimed first
			errs = append(errs, h.give(ctx, id))
		}
	}
	for _, s := range h.shared {
		errs = append(errs, s.Flush(ctx))
	}
	if err := errors.Join(errs...); err != nil && ctx.Err() == nil {
		h.o.Log.Warn("tokens were not stored: they are valid only in this process for now", "error", err)
	}
}

// Access returns the conversation for which an access token is valid.
func (h *Home) Access(ctx context.Context, digest []byte) (string, bool, error) {
	return h.known(ctx, digest, h.o.Registry.Access)
}

// Resume returns the conversation for which a resume token is valid.
func (h *Home) Resume(ctx context.Context, digest []byte) (string, bool, error) {
	return h.known(ctx, digest, h.o.Registry.Resume)
}

// known asks the store about a token. It returns [ErrUnsure] if the store does not know
// the token and was unavailable until recently. Of a shared store this is assumed until
// this process has run for [TTL].
func (h *Home) known(ctx context.Context, digest []byte, ask func(context.Context, []byte) (string, bool, error)) (string, bool, error) {
	limited, cancel := context.WithTimeout(ctx, askStore)
	defer cancel()
	id, ok, err := ask(limited, digest)
	if h.note(ctx, err); err == nil && !ok && (h.unsure() || h.o.Shared && time.Since(h.opened) < TTL) {
		err = ErrUnsure
	}
	return id, ok, err
}

// Redeem invalidates a resume token. It reports whether the token was valid.
func (h *Home) Redeem(ctx context.Context, digest []byte) (bool, error) {
	ctx, cancel := context.WithTimeout(ctx, askStore)
	defer cancel()
	return h.o.Registry.Redeem(ctx, digest)
}
