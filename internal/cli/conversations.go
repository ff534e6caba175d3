package cli

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"time"

	"github.com/hocketvoice/hocket/conv"
	"github.com/hocketvoice/hocket/internal/app"
	"github.com/hocketvoice/hocket/journal"
)

// conversationsCmd manages the conversations of a store.
type conversationsCmd struct {
	List   listCmd   `cmd:"" help:"List the conversations that were saved last, newest first."`
	Show   showCmd   `cmd:"" help:"Print what was said in a conversation, and its state."`
	Export exportCmd `cmd:"" help:"Print a conversation with its whole state as JSON; --trace also writes its trace."`
	Delete deleteCmd `cmd:"" help:"Delete conversations."`
}

// storeFlags select a store.
type storeFlags struct {
	Store  string `required:"" env:"HOCKET_STORE" placeholder:"STORE" help:"The store: a file, postgres://..., or $${NAME} for a variable that holds one of them."`
	Config string `placeholder:"FILE" help:"A config file, whose store.keys names the keys of an encrypted store."`
}

// with opens the store, calls f and closes it.
func (o storeFlags) with(f func(context.Context, *app.Store) error) error {
	return withStore(o.Store, o.Config, f)
}

// withStore opens a store, calls f and closes the store.
func withStore(place, config string, f func(context.Context, *app.Store) error) (err error) {
	opts, err := loadOptions(config)
	if err != nil {
		return err
	}
	opts.Store.Keep = 0 // do not delete old conversations
	ctx := context.Background()
	store, err := app.OpenStore(ctx, place, opts.Store, false)
	if err != nil {
		return callError(err)
	}
	defer func() { err = errors.Join(err, store.Close()) }()
	if err := f(ctx, store); err != nil {
		return callError(err)
	}
	return nil
}

// listCmd lists conversations.
type listCmd struct {
	storeFlags
	Limit int  `default:"100" placeholder:"N" help:"The maximum number of conversations."`
	JSON  bool `name:"json" help:"Print a JSON line for each conversation."`
}

// Run runs the command.
func (c *listCmd) Run(s *streams) error {
	if c.Limit < 1 {
		return badInputf("--limit is %d: expected 1 or more", c.Limit)
	}
	return c.with(func(ctx context.Context, store *app.Store) error {
		list, err := store.List(ctx, c.Limit)
		if err != nil {
			return err
		}
		for _, k := range list {
			if err := c.line(s, k); err != nil {
				return err
			}
		}
		return nil
	})
}

func (c *listCmd) line(s *streams, k app.StoredConversation) error {
	state := k.Phase
	if k.Ended {
		state = "ended"
	}
	why := ""
	if k.Error != nil {
		state, why = "unreadable", k.Error.Error()
	}
	if c.JSON {
		return s.writeLine(struct {
			ID      string    `json:"id"`
			Agent   string    `json:"agent"`
			State   string    `json:"state"`
			Turns   int       `json:"turns"`
			Started time.Time `json:"started,omitzero"`
			Saved   time.Time `json:"saved"`
			Size    int       `json:"size"`
			Error   string    `json:"error,omitempty"`
		}{k.ID, k.Agent, state, k.Turns, k.Started, k.Saved, k.Size, why})
	}
	if why != "" {
		return s.printf("%s  %s  %s: %s\n", k.ID, k.Saved.Format(time.DateTime), state, why)
	}
	return s.printf("%s  %s  %s, %d turns, %s\n", k.ID, k.Saved.Format(time.DateTime), k.Agent, k.Turns, state)
}

// showCmd prints a conversation in readable form.
type showCmd struct {
	storeFlags
	ID string `arg:"" help:"The id of the conversation."`
}

// Run runs the command.
func (c *showCmd) Run(s *streams) error {
	return c.with(func(ctx context.Context, store *app.Store) error {
		k, err := store.Load(ctx, c.ID)
		if err != nil {
			return err
		}
		machine, err := conv.Restore(conv.Options{}, k.Snapshot)
		if err != nil {
			return err
		}
		return show(s, k, machine.State())
	})
}

func show(s *streams, k journal.Checkpoint, st *conv.State) error {
	state := k.Phase
	if k.Ended {
		state = "ended"
	}
	if err := s.printf("%s with %s by %s: %s\nbegan %s, saved %s\n", k.ID, k.Agent, k.Transport, state,
		k.Started.Format(time.DateTime), k.Saved.Format(time.DateTime)); err != nil {
		return err
	}
	if d := &st.Dialogue; d.CurrentFlow != "" && !k.Ended {
		if err := s.printf("flow %s, step %s, %s\n", d.CurrentFlow, d.CurrentStep, d.ConversationState); err != nil {
			return err
		}
	}
	for i := range st.History {
		it := &st.History[i]
		who, text := string(it.Role), it.Text
		if it.Role == conv.RoleTool {
			who, text = "tool", fmt.Sprintf("%s(%s): %s", it.Name, it.Arguments, it.Text)
		}
		if it.Interrupted {
			text += " ..."
		}
		if err := s.printf("%6d  %-6s %s\n", it.Turn, who, text); err != nil {
			return err
		}
	}
	return nil
}

// exportCmd prints a conversation as JSON.
type exportCmd struct {
	storeFlags
	ID    string `arg:"" help:"The id of the conversation."`
	Trace string `placeholder:"FILE" help:"Write the trace to this file, for hocket replay."`
}

// Run runs the command.
func (c *exportCmd) Run(s *streams) error {
	return c.with(func(ctx context.Context, store *app.Store) error {
		k, err := store.Load(ctx, c.ID)
		if err != nil {
			return err
		}
		b, err := k.Marshal()
		if err != nil {
			return err
		}
		var text bytes.Buffer
		if err := json.Indent(&text, b, "", "  "); err != nil {
			return err
		}
		if c.Trace != "" {
			if err := writeTrace(ctx, store, c.ID, c.Trace); err != nil {
				return err
			}
		}
		return s.printf("%s\n", text.String())
	})
}

// storedTrace returns the trace of a conversation.
func storedTrace(ctx context.Context, store *app.Store, id string) ([]byte, error) {
	var trace bytes.Buffer
	if err := store.Trace(ctx, id, &trace); err != nil {
		return nil, err
	}
	if trace.Len() == 0 {
		return nil, badInputf("no trace of the conversation %s is kept", id)
	}
	return trace.Bytes(), nil
}

// writeTrace writes the trace to a file that only the user can read.
func writeTrace(ctx context.Context, store *app.Store, id, path string) error {
	trace, err := storedTrace(ctx, store, id)
	if err != nil {
		return err
	}
	if err := os.WriteFile(path, trace, 0o600); err != nil {
		return badInput{err}
	}
	return nil
}

// deleteCmd deletes conversations.
type deleteCmd struct {
	storeFlags
	IDs []string `arg:"" name:"id" help:"The ids of the conversations."`
}

// Run runs the command.
func (c *deleteCmd) Run(s *streams) error {
	return c.with(func(ctx context.Context, store *app.Store) error {
		for _, id := range c.IDs {
			if err := store.Delete(ctx, id); err != nil {
				return err
			}
			if err := s.printf("%s is deleted\n", id); err != nil {
				return err
			}
		}
		return nil
	})
}
