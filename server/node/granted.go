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

// This file: the tokens of conversations and of those who may begin one, at home.

// Grant keeps the digests of a conversation's tokens, and returns when the store has them.
// What it does not take is given to it with a sign of life. Where it fails with
// [port.ErrFenced] another process holds the conversation.
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

// give hands the last tokens of a conversation to the store, and returns when it has them.
// Two never do so at once for one conversation: the tokens of the later one would be
// replaced by those of the earlier.
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
			return fmt.Errorf("conversation %s is not claimed", id)
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

// tell hands tokens to the store. Who finds that another process holds the conversation
// gives it up.
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
// know it and was away a moment ago, or may have been, before this process was here.
func (h *Home) known(ctx context.Context, digest []byte, ask func(context.Context, []byte) (string, bool, error)) (string, bool, error) {
	limited, cancel := context.WithTimeout(ctx, askStore)
	defer cancel()
	id, ok, err := ask(limited, digest)
	if h.note(ctx, err); err == nil && !ok && (h.unsure() || h.o.Shared && time.Since(h.opened) < TTL) {
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
