package hub

// Presence is a leg without a connection of its own: its person is present while
// somebody follows the conversation.
type Presence interface {
	Present(on bool)
}

// look tells such a leg whether anybody follows.
func (c *Conversation) look() {
	if leg, ok := c.Leg().(Presence); ok {
		c.looking.Lock()
		defer c.looking.Unlock()
		leg.Present(c.feed.watched() > 0)
	}
}

// Return reports that the person is present. Every action of the person implies it.
func (c *Conversation) Return() {
	if leg, ok := c.Leg().(Presence); ok {
		c.looking.Lock()
		defer c.looking.Unlock()
		leg.Present(true)
	}
}
