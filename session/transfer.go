package session

import (
	"context"
	"errors"
	"io"
	"slices"
	"time"

	"github.com/hocketvoice/hocket/conv"
	"github.com/hocketvoice/hocket/port"
)

// ErrNoTransfer says that the person cannot be connected with somebody else, because the
// conversation is no telephone call.
var ErrNoTransfer = errors.New("the conversation is no telephone call, so it cannot be transferred")

// transferred is the reason of the end of a conversation whose person talks with somebody else.
const transferred = "transferred"

// wayBack is the time that a person who could not be connected has to come back.
const wayBack = 4 * time.Second

// Transfer connects the person with somebody else. What the agent has said before the call of the
// tool is heard to its end first. After nil the conversation ends when the tool returns. After an
// error the person is back; it is [ErrNoTransfer], or that of [port.Forwarder].
func (t *ToolContext) Transfer(ctx context.Context, to port.Transfer) error {
	leg, ok := t.s.o.Leg.(port.Forwarder)
	if !ok || t.s.work != nil {
		return ErrNoTransfer
	}
	if err := t.s.announced(ctx); err != nil {
		return err
	}
	// The person must be back before the machine gives the tool up.
	left := t.s.conv.Options().Limits.Tool - time.Since(t.began) - wayBack
	if left < to.Ring {
		to.Ring = max(left, time.Second)
	}
	if err := leg.Transfer(ctx, to); err != nil {
		return err
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	t.left = true
	return nil
}

// gone reports whether the person has left to talk with somebody else.
func (t *ToolContext) gone() bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.left
}

// announced waits until what the agent has said is heard, or dropped.
func (s *Session) announced(ctx context.Context) error {
	stepped := make(chan struct{}, 1)
	defer s.subscribe(&observer{step: func(Step) {
		select {
		case stepped <- struct{}{}:
		default:
		}
	}})()
	for {
		var waits bool
		if err := s.inspect(func(c *conv.Conversation) { waits = c.State().Announcing() }); err != nil {
			return err
		}
		if !waits {
			return nil
		}
		select {
		case <-stepped:
		case <-s.Done():
			return io.EOF
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// announcedTools returns the names of the tools that take the person away.
func announcedTools(tools ...port.Tool) []string {
	var names []string
	for _, tool := range tools {
		if tool == nil {
			continue
		}
		for _, spec := range tool.Specs() {
			if spec.Announced && !slices.Contains(names, spec.Name) {
				names = append(names, spec.Name)
			}
		}
	}
	return names
}
