package hub

import "context"

// leave hands over the conversations that are at rest, and the others as soon as they
// are at rest, until ctx ends.
func (h *Hub) leave(ctx context.Context) {
	h.leaving.Store(&ctx)
	for _, c := range h.running() {
		c.rested() //nolint:contextcheck // it is in h.leaving
	}
}

// rested hands over a conversation that is at rest, if the hub is handing over. It waits
// until the conversation is saved, since the rest would be lost.
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
