package editor

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"log/slog"

	"github.com/hocketvoice/hocket/port"
	"github.com/hocketvoice/hocket/server/hub"
)

// Engine holds the conversations. It is safe for concurrent use.
type Engine interface {
	// Hub has the conversations.
	Hub() *hub.Hub
	// URL is the address of the pages and of the API, on this machine.
	URL() string
	// Speech reports whether the agent can be spoken with, Language is the agent's.
	Speech() bool
	Language() string
	// Text begins a conversation by text.
	Text(timezone string) (*hub.Conversation, error)
	// Page returns the address of the page with which the user's browser begins a
	// conversation by voice. It is valid once, for a minute.
	Page(ctx context.Context) (string, error)
	// Run serves until ctx ends, and returns when everything has ended.
	Run(ctx context.Context) error
}

// Setup is what an [Engine] is made of.
type Setup struct {
	// Agent is the agent as a file of YAML.
	Agent []byte
	// Config is the path of a config file, or empty.
	Config string
	// Model answers for the agent; nil: that of the config.
	Model port.Model
	// Tools are those of the editor.
	Tools port.Tool
	// Note receives remarks for the user, one line each.
	Note func(string)
}

// Options configures [Run].
type Options struct {
	// In and Out are the connection. In must end when the editor dies. Run closes Closer, so
	// that a read of In ends.
	In     io.Reader
	Out    io.Writer
	Closer io.Closer
	// Open opens an engine. An error is told to the editor, which may try other settings.
	Open func(Setup) (Engine, error)
	// Version is that of the program.
	Version string
	// Log receives messages for operators; nil discards them.
	Log *slog.Logger
}

// Validate returns an error if an option is missing.
func (o Options) Validate() error {
	if o.In == nil || o.Out == nil || o.Closer == nil || o.Open == nil {
		return errors.New("editor: In, Out, Closer and Open must be set")
	}
	return nil
}

// object is a JSON object in its text form.
type object = map[string]json.RawMessage
