package node

import (
	"context"
	"errors"

	"github.com/hocketvoice/hocket/port"
)

// ErrUnclaimed reports that the store has not taken a conversation yet, which was logged.
var ErrUnclaimed = errors.New("the conversation is not claimed yet")

// Claim claims a new conversation and returns the token of the claim. If the store does
// not answer, the token is 0 and the error nil, since an unavailable store must not
// prevent a call: the session claims again before it writes.
func (h *Home) Claim(ctx context.Context, id string) (int64, error) {
	h.begin(id)
	if h.away.Load() {
		return 0, nil
	}
	limited, cancel := context.WithTimeout(ctx, askStore)
	defer cancel()
	hold, err := h.ask(limited, id)
	if _, held := errors.AsType[*port.HeldError](err); held {
		return 0, err
	}
	if err != nil {
		h.logUnclaimed(id, err)
		return 0, nil
	}
	h.claimed(hold)
	_ = h.give(ctx, id) // earlier tokens; a heartbeat tries again
	return hold.Token, nil
}

// ask claims a conversation. The store refuses a process that has not sent a heartbeat
// for its TTL; ask then sends one and claims again.
func (h *Home) ask(ctx context.Context, id string) (port.Hold, error) {
	hold, err := claimOnce(ctx, h.o.Registry, id, h.o.Node.ID)
	if _, held := errors.AsType[*port.HeldError](err); err == nil || held {
		return hold, err
	}
	if h.o.Registry.Beat(ctx, h.o.Node, TTL) == nil {
		hold, err = claimOnce(ctx, h.o.Registry, id, h.o.Node.ID)
	}
	h.note(ctx, err)
	return hold, err
}

// logUnclaimed logs that a conversation could not be claimed, once for each conversation.
func (h *Home) logUnclaimed(id string, err error) {
	h.mu.Lock()
	logged := h.unclaimed[id]
	h.unclaimed[id] = true
	h.mu.Unlock()
	if !logged {
		h.o.Log.Error("the store does not take a conversation: it continues and is saved when the store takes it", "conversation", id, "error", err)
	}
}

// claimed records a claim.
func (h *Home) claimed(hold port.Hold) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.holds[hold.ID] = hold
	delete(h.unclaimed, hold.ID)
}

// begin records that a conversation is being claimed. It returns false if the
// conversation is already here, since a second claim would invalidate the first.
func (h *Home) begin(id string) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	if _, here := h.holds[id]; here {
		return false
	}
	h.holds[id] = port.Hold{ID: id}
	return true
}

// Hold returns the claim of a conversation. Its token is 0 if the conversation is not
// claimed or not here.
func (h *Home) Hold(id string) port.Hold {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.holds[id]
}
