package hub

import "slices"

// CalledBy returns the conversations of a caller: the running ones, and the ended ones
// that are still in the list.
func (h *Hub) CalledBy(caller string) (list []*Conversation) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, c := range append(h.shown(), h.ended...) {
		if c.caller == caller {
			list = append(list, c)
		}
	}
	return list
}

// Forget drops an ended conversation, with its messages and its trace.
func (h *Hub) Forget(id string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.ended = slices.DeleteFunc(h.ended, func(c *Conversation) bool { return c.id == id })
}
