package hub

// Presence is a leg that has no connection of its own: its person is there as
// long as somebody follows the conversation.
type Presence interface {
	Present(on bool)
}

// look tells such a leg who is there.
func (c *Conversation) look() {
	if leg, ok := c.Leg().(Presence); ok {
		c.looking.Lock()
		defer c.looking.Unlock()
		leg.Present(c.feed.watched() > 0)
	}
}

// Return says that the person is there, as whatever they do does.
func (c *Conversation) Return() {
	if leg, ok := c.Leg().(Presence); ok {
		c.looking.Lock()
		defer c.looking.Unlock()
		leg.Present(true)
	}
}
