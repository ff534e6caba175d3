package node

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/hocketvoice/hocket/port"
)

// This file: the tokens of conversations and of those who may begin one, at home.

// Grant keeps the digests of a conversation's tokens. What the store does not take is
// given to it with a sign of life, while the conversation is here.
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

// give hands the last tokens of a conversation to the store. Who finds that somebody does
// so leaves theirs to them: the later ones come later.
func (h *Home) give(ctx context.Context, id string) error {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.giving[id] {
		return nil
	}
	h.giving[id] = true
	defer delete(h.giving, id)
	for {
		hold, g := h.holds[id], h.grants[id]
		switch {
		case g == nil:
			return nil
		case hold.Token == 0:
			return fmt.Errorf("conversation %s is not claimed", id)
		}
		h.mu.Unlock()
		limited, cancel := context.WithTimeout(ctx, askStore)
		err := h.o.Registry.Grant(limited, hold, *g)
		cancel()
		h.note(ctx, err)
		h.mu.Lock()
		if err != nil {
			return err
		}
		if h.grants[id] == g {
			delete(h.grants, id)
		}
	}
}

// giveAll hands to the store what it has not taken.
func (h *Home) giveAll(ctx context.Context) {
	h.mu.Lock()
	ids := slices.Collect(maps.Keys(h.grants))
	h.mu.Unlock()
	var errs []error
	for _, id := range ids {
		if h.Hold(id).Token != 0 { // else its claim comes first
			errs = append(errs, h.give(ctx, id))
		}
	}
	for _, s := range h.shared {
		errs = append(errs, s.Flush(ctx))
	}
	if err := errors.Join(errs...); err != nil && ctx.Err() == nil {
		h.o.Log.Warn("tokens are good in this process alone until the store has them", "error", err)
	}
}

// Access is the conversation that an access token is good for.
func (h *Home) Access(ctx context.Context, digest []byte) (string, bool, error) {
	return h.known(ctx, digest, h.o.Registry.Access)
}

// Resume is the conversation that a resume token is good for.
func (h *Home) Resume(ctx context.Context, digest []byte) (string, bool, error) {
	return h.known(ctx, digest, h.o.Registry.Resume)
}

// known asks what a token is good for. It fails with [ErrUnsure] where the store does not
// know it and was away a moment ago.
func (h *Home) known(ctx context.Context, digest []byte, ask func(context.Context, []byte) (string, bool, error)) (string, bool, error) {
	limited, cancel := context.WithTimeout(ctx, askStore)
	defer cancel()
	id, ok, err := ask(limited, digest)
	if h.note(ctx, err); err == nil && !ok && h.unsure() {
		err = ErrUnsure
	}
	return id, ok, err
}

// Redeem takes a resume token back.
func (h *Home) Redeem(ctx context.Context, digest []byte) (bool, error) {
	ctx, cancel := context.WithTimeout(ctx, askStore)
	defer cancel()
	return h.o.Registry.Redeem(ctx, digest)
}
