package app

import (
	"context"
	"time"

	"github.com/hocketvoice/hocket/internal/provider/httpaction"
	"github.com/hocketvoice/hocket/port"
	"github.com/hocketvoice/hocket/session"
)

// ChatOptions describe a conversation by text.
type ChatOptions struct {
	Agent  string // path of a file or folder
	Config string // path of a config file; may be empty
	// Note takes remarks about the set-up, a line each.
	Note func(string)
}

// NewChat prepares a conversation by text with an agent.
func NewChat(o ChatOptions) (*session.Text, error) {
	agent, err := LoadAgent(o.Agent)
	if err != nil {
		return nil, inputError{err}
	}
	opts, err := agentOptions(agent, o.Config)
	if err != nil {
		return nil, inputError{err}
	}
	tools, err := NewTools(agent)
	if err != nil {
		return nil, inputError{err}
	}
	if o.Note != nil {
		for _, p := range agent.Problems {
			o.Note(p.String())
		}
	}
	conversation := opts.Conversation
	conversation.Agent = agent.Agent
	return session.NewText(session.TextOptions{Conv: conversation, Tools: tools, Wait: wait})
}

// NewTools makes the tools that an agent's actions need.
func NewTools(agent *Agent) (port.Tool, error) {
	return httpaction.New(httpaction.Options{Actions: agent.Actions()})
}

// wait waits by the clock.
func wait(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}
