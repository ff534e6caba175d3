package cli

import (
	"context"
	"fmt"
	"log/slog"
	"os"
	"os/signal"
	"syscall"

	"github.com/hocketvoice/hocket/internal/app"
	"github.com/hocketvoice/hocket/session"
)

// serveCmd runs the server.
type serveCmd struct {
	Agent  []string `sep:"none" placeholder:"PATH" help:"An agent: a YAML file, or a folder of them. It may be repeated. Without one the flight agent is served that is part of the program."`
	Config string   `placeholder:"FILE" help:"A config file."`
	Addr   string   `placeholder:"HOST:PORT" help:"Where to listen; 127.0.0.1:8080 if neither this nor the config file says so."`
	Store  string   `placeholder:"STORE" help:"Where conversations are kept: a file, postgres://..., or what $${NAME} holds; off keeps nothing. Without it, store.path of the config says; without a config, a file in $$XDG_STATE_HOME/hocket or ~/.local/state/hocket, sealed with the key beside it."`
}

// Help returns the long help.
func (serveCmd) Help() string {
	return `Serves the panel and the control API until it is interrupted, and then lets the conversations end. The log goes to the standard error, as JSON lines without anything that was said. SIGHUP has API keys and certificate read again.`
}

// hashIDs replaces the ids of conversations in the log (seed 000, SEC-001): a reader
// can correlate lines, but cannot find a conversation.
func hashIDs(_ []string, a slog.Attr) slog.Attr {
	if a.Key == "conversation" {
		a.Value = slog.StringValue(session.HashID(a.Value.String()))
	}
	return a
}

// Run runs the command.
func (c *serveCmd) Run(s *streams) error {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	defer context.AfterFunc(ctx, stop)() // a second signal ends the program at once
	reload := make(chan os.Signal, 1)
	signal.Notify(reload, syscall.SIGHUP)
	defer signal.Stop(reload)
	note := func(note string) { fmt.Fprintln(s.err, "note: "+note) }
	store := c.Store
	if store == "" && c.Config == "" {
		var err error
		if store, err = app.StateStore(); err != nil {
			return callError(err)
		}
	}
	server, err := app.NewServer(app.ServeOptions{
		Agents: c.Agent, Config: c.Config, Addr: c.Addr, Store: store, Reload: reload,
		Log:  slog.New(slog.NewJSONHandler(s.err, &slog.HandlerOptions{ReplaceAttr: hashIDs})),
		Note: note,
	})
	if err != nil {
		return callError(err)
	}
	if store != c.Store {
		note("conversations are kept in " + store + ", sealed with the key beside it")
	}
	if err := s.printf("hocket serves on %s\n", server.URL()); err != nil {
		return err
	}
	return server.Run(ctx)
}
