package app

import (
	"errors"

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

// NewChat prepares a conversation by text with an agent, and gives what ends it.
func NewChat(o ChatOptions) (_ *session.Text, end func() error, err error) {
	agent, err := LoadAgent(o.Agent)
	if err != nil {
		return nil, nil, inputError{err}
	}
	opts, err := agentOptions(agent, o.Config)
	if err != nil {
		return nil, nil, inputError{err}
	}
	tools, err := NewTools(agent)
	if err != nil {
		return nil, nil, inputError{err}
	}
	model, end, err := NewModel(opts.Model)
	if err != nil {
		return nil, nil, inputError{err}
	}
	if o.Note != nil {
		for _, p := range agent.Problems {
			o.Note(p.String())
		}
	}
	conversation := opts.Conversation
	conversation.Agent = agent.Agent
	text, err := session.NewText(session.TextOptions{
		Conv: conversation, Tools: tools, Model: model, Instructions: agent.Instructions(), Wait: httpaction.Wait,
	})
	if err != nil {
		return nil, nil, errors.Join(err, end())
	}
	return text, end, nil
}

// NewTools makes the tools that an agent's actions need.
func NewTools(agent *Agent) (port.Tool, error) {
	return httpaction.New(httpaction.Options{Actions: agent.Actions()})
}
