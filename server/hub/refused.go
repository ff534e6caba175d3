package hub

import (
	"errors"

	"github.com/hocketvoice/hocket/session"
)

// Refuse reports a refused conversation to [Options.Watch]. err is one of this package's
// errors. Start and Prepare call it themselves.
func (h *Hub) Refuse(err error) {
	var reason string
	_, active := errors.AsType[*session.ActiveError](err)
	switch {
	case errors.Is(err, ErrFull):
		reason = "full"
	case errors.Is(err, ErrLate):
		reason = "late"
	case errors.Is(err, ErrUserFull):
		reason = "owner_full"
	case errors.Is(err, ErrDraining):
		reason = "shutting_down"
	case errors.Is(err, ErrStart):
		reason = "cannot_start"
	case active:
		reason = "caller_active"
	default:
		return // the conversation runs already: nothing was refused
	}
	if h.o.Watch != nil {
		h.o.Watch.Refused(reason)
	}
}

// Late reports whether calls are refused because the machine is too slow for their sound.
func (h *Hub) Late() bool { return h.o.Pace.Late() }

// Full reports whether a new conversation is refused for lack of room.
func (h *Hub) Full() bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	return len(h.live) >= h.o.Most
}
