package hub

// Presence is a leg without a connection of its own. Its person counts as present while
// the conversation has an event stream.
type Presence interface {
	Present(on bool)
}

// look tells the leg whether the conversation has an event stream.
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
