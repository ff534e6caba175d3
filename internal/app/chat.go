package app

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"time"

	"github.com/hocketvoice/hocket/internal/settings"
	"github.com/hocketvoice/hocket/internal/wait"
	"github.com/hocketvoice/hocket/session"
)

// ChatOptions configures a conversation by text.
type ChatOptions struct {
	Agent  string // path of a file or folder
	Config string // path of a config file; may be empty
	Store  string // the store of the conversation; may be empty
	Resume string // id of a stored conversation to resume; may be empty
	// Note, if not nil, receives remarks about the setup, one line each.
	Note func(string)
}

// Chat is a conversation by text. It begins with Start, or with Resume if Resumed is
// true.
type Chat struct {
	*session.Text
	ID       string
	Resumed  bool
	Location *time.Location // of the conversation; nil means that of the process
	Model    *Model         // nil if there is none
}

// NewChat prepares a conversation by text with an agent. The caller must call end after
// the conversation.
func NewChat(ctx context.Context, o ChatOptions) (_ *Chat, end func() error, err error) {
	agent, err := loadAgent(o.Agent, o.Config)
	if err != nil {
		return nil, nil, err
	}
	opts, err := agentOptions(agent, o.Config)
	if err != nil {
		return nil, nil, inputError{err}
	}
	var ends []func() error
	end = func() error {
		var errs []error
		for _, f := range slices.Backward(ends) {
			errs = append(errs, f())
		}
		return errors.Join(errs...)
	}
	st, err := openStorage(ctx, o.Store, o.Resume, agent, settings.AgentName(o.Agent), "text", opts.Store)
	if err != nil {
		return nil, nil, err
	}
	ends = append(ends, st.close)
	if err := st.useVersion(ctx, &agent, &opts, o.Config, o.Note); err != nil {
		return nil, nil, errors.Join(err, end())
	}
	tools, err := OpenTools(ctx, opts.Tools)
	if err != nil {
		return nil, nil, errors.Join(inputError{err}, end())
	}
	ends = append(ends, tools.Close)
	flowTools, modelTools, err := tools.For(ctx, agent)
	if err != nil {
		return nil, nil, errors.Join(inputError{err}, end())
	}
	var open models
	ends = append(ends, open.close)
	mind, err := open.get(opts.Model)
	if err != nil {
		return nil, nil, errors.Join(inputError{err}, end())
	}
	if o.Note != nil {
		st.points.Behind = noteBehind(o.Note)
		opts.remark(agent, settings.AgentName(o.Agent), o.Note)
	}
	if mind != nil && len(agent.Flows()) == 0 { // without the model nothing could answer
		if err := mind.reached(ctx); err != nil {
			return nil, nil, errors.Join(err, end())
		}
	}
	conversation := opts.Conversation
	conversation.Agent = agent.Agent
	location := cmp.Or(st.location, opts.Location)
	text, err := session.NewText(session.TextOptions{
		Conv: conversation, Tools: flowTools, ModelTools: modelTools, Model: mind.port(), Instructions: agent.Instructions(), Wait: wait.For, Location: location,
		ID: st.id, Checkpoints: st.points, Restore: st.restore,
	})
	if err != nil {
		return nil, nil, errors.Join(err, end())
	}
	return &Chat{Text: text, ID: st.id, Resumed: st.restore != nil, Location: location, Model: mind}, end, nil
}

// Noon returns noon of a day in a time zone, or in UTC if location is nil. A conversation
// whose day is given begins at noon, wherever the program runs.
func Noon(day time.Time, location *time.Location) time.Time {
	return time.Date(day.Year(), day.Month(), day.Day(), 12, 0, 0, 0, cmp.Or(location, time.UTC))
}
