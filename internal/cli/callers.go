package cli

import (
	"context"
	"errors"
	"fmt"
	"os"
	"time"

	"github.com/hocketvoice/hocket/internal/app"
	"github.com/hocketvoice/hocket/server/api"
)

// callersCmd looks after what a store keeps of one caller.
type callersCmd struct {
	List   callerListCmd   `cmd:"" help:"The conversations and the delegated work of a caller."`
	Export callerExportCmd `cmd:"" help:"All that is kept of a caller, as JSON lines."`
	Delete callerDeleteCmd `cmd:"" help:"Delete all that is kept of a caller."`
}

// callerFlags name a caller.
type callerFlags struct {
	storeFlags
	Owner  string `placeholder:"KEY" help:"The name of the API key that the caller's conversations were begun with; none for a server without keys."`
	Caller string `arg:"" help:"The caller, as named when the conversations were begun."`
}

// of opens the store for f.
func (o callerFlags) of(f func(context.Context, api.Callers) error) error {
	if o.Caller == "" {
		return badInputf("the caller has no name: expected the one of their conversations")
	}
	return o.with(func(ctx context.Context, store *app.Store) error {
		callers, closing, err := store.Callers(ctx, o.Store)
		if err != nil {
			return err
		}
		return errors.Join(f(ctx, callers), closing())
	})
}

// unreadable warns of conversations that may be the caller's too.
func unreadable(s *streams, n int) error {
	if n == 0 {
		return nil
	}
	_, err := fmt.Fprintf(s.err, "note: conversations that cannot be read, and may be the caller's too: %d; name the key in the config, as store.keys\n", n)
	return err
}

// callerListCmd lists what is kept.
type callerListCmd struct {
	callerFlags
	JSON bool `name:"json" help:"Print one JSON object."`
}

// Run is the command.
func (c *callerListCmd) Run(s *streams) error {
	return c.of(func(ctx context.Context, callers api.Callers) error {
		data, err := callers.List(ctx, c.Owner, c.Caller)
		if err != nil {
			return err
		}
		if c.JSON {
			return s.writeIndented(data)
		}
		for _, one := range data.Conversations {
			state := one.Phase
			if one.Ended {
				state = "ended"
			}
			if err := s.printf("%s  %s  %s, %d turns, %s\n", one.ID, one.Saved.Format(time.DateTime), one.Agent, one.Turns, state); err != nil {
				return err
			}
		}
		for _, k := range data.Tasks {
			if err := s.printf("task %s  %s  %s of %s, %s\n", k.Key, k.Created.Format(time.DateTime), k.Tool, k.Agent, k.State); err != nil {
				return err
			}
		}
		return unreadable(s, data.Unreadable)
	})
}

// callerExportCmd writes what is kept.
type callerExportCmd struct {
	callerFlags
	Output string `placeholder:"FILE" help:"Write it here, where nobody else may read it."`
}

// Run is the command.
func (c *callerExportCmd) Run(s *streams) error {
	return c.of(func(ctx context.Context, callers api.Callers) error {
		if c.Output == "" {
			return callers.Export(ctx, c.Owner, c.Caller, s.out)
		}
		f, err := os.OpenFile(c.Output, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
		if err != nil {
			return badInput{err}
		}
		return errors.Join(callers.Export(ctx, c.Owner, c.Caller, f), f.Close())
	})
}

// callerDeleteCmd deletes what is kept.
type callerDeleteCmd struct{ callerFlags }

// Run is the command.
func (c *callerDeleteCmd) Run(s *streams) error {
	return c.of(func(ctx context.Context, callers api.Callers) error {
		gone, err := callers.Delete(ctx, c.Owner, c.Caller)
		for _, id := range gone.Conversations {
			if err := s.printf("%s is deleted\n", id); err != nil {
				return err
			}
		}
		if err != nil {
			return err
		}
		if err := s.printf("%d tasks are deleted\n", gone.Tasks); err != nil {
			return err
		}
		if err := unreadable(s, gone.Unreadable); err != nil {
			return err
		}
		for _, l := range gone.Left {
			if _, err := fmt.Fprintf(s.err, "%s is left: %s\n", l.ID, l.Message); err != nil {
				return err
			}
		}
		if len(gone.Left) > 0 {
			return errFinding
		}
		return nil
	})
}
