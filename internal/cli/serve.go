package cli

import (
	"context"
	"fmt"
	"log/slog"
	"os"
	"os/signal"
	"regexp"
	"syscall"

	"github.com/hocketvoice/hocket/internal/app"
	"github.com/hocketvoice/hocket/session"
)

// serveCmd runs the server.
type serveCmd struct {
	Agent  []string `sep:"none" placeholder:"PATH" help:"An agent: a YAML file, or a folder of YAML files. May be repeated. Without this flag, hocket serves its built-in flight agent."`
	Config string   `placeholder:"FILE" help:"A config file."`
	Addr   string   `placeholder:"HOST:PORT" help:"The address to listen on (default: that of the config, or 127.0.0.1:8080)."`
	Store  string   `placeholder:"STORE" help:"The store of the conversations: a file, postgres://..., or $${NAME} for a variable that holds one of them; off saves nothing. The default is store.path of the config; without a config, a file in $$XDG_STATE_HOME/hocket or ~/.local/state/hocket, encrypted with the key next to it."`
}

// Help returns the long help.
func (serveCmd) Help() string {
	return `Serves the panel and the control API until it is interrupted, and then waits for the conversations to end. Writes a log to the standard error, as JSON lines that contain nothing that was said. SIGHUP reloads the agents, the API keys and the certificate; a changed config needs a restart, and the log says so.`
}

// hashIDs replaces the ids of conversations in the log, also those in errors (seed 000,
// SEC-001): a reader can correlate lines, but cannot find a conversation.
func hashIDs(_ []string, a slog.Attr) slog.Attr {
	if a.Key == "conversation" {
		a.Value = slog.StringValue(session.HashID(a.Value.String()))
		return a
	}
	text, ok := a.Value.Any().(string)
	if err, failed := a.Value.Any().(error); failed {
		text, ok = err.Error(), true
	}
	if ok && conversationID.MatchString(text) {
		a.Value = slog.StringValue(conversationID.ReplaceAllStringFunc(text, session.HashID))
	}
	return a
}

// conversationID matches the ids of conversations: see [app.NewID].
var conversationID = regexp.MustCompile(`\bconv_[a-z2-7]{8,}`)

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
