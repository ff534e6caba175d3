package hub

import (
	"context"

	"github.com/hocketvoice/hocket/conv"
	"github.com/hocketvoice/hocket/session"
)

// Context returns the conversation's context as far as it was set, and the work in
// progress. It may contain what was said, but no secrets of the agent. It returns
// [session.ErrEnded] after the end.
func (c *Conversation) Context() (conv.ContextView, error) {
	s := c.session.Load()
	if s == nil {
		return conv.ContextView{}, session.ErrEnded
	}
	return s.Context()
}

// SetContext changes the conversation's context: see [session.Session.SetContext].
func (c *Conversation) SetContext(ctx context.Context, changes []byte) error {
	s := c.session.Load()
	if s == nil {
		return session.ErrEnded
	}
	return s.SetContext(ctx, changes)
}
