package hub

import "context"

// leave hands the conversations over that are at rest, and from now on each that comes to
// rest, until ctx ends.
func (h *Hub) leave(ctx context.Context) {
	h.leaving.Store(&ctx)
	for _, c := range h.running() {
		c.rested() //nolint:contextcheck // it is in h.leaving
	}
}

// rested hands a conversation over that is at rest, if the hub hands over. It waits for
// the store: what is not saved would be lost.
func (c *Conversation) rested() {
	ctx, s := c.hub.leaving.Load(), c.session.Load()
	if ctx != nil && s != nil && c.rest.Load() {
		c.hub.workers.Go(func() {
			if s.Saved(*ctx) && c.rest.Load() {
				c.cancel()
			}
		})
	}
}

// gone reports to the creator of the conversation that it no longer runs here.
func (c *Conversation) gone(ended bool) {
	if c.over != nil {
		c.over(c.id, ended)
	}
}
