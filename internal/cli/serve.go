package cli

import (
	"context"
	"fmt"
	"log/slog"
	"os"
	"os/signal"
	"syscall"
	"time"

	"github.com/hocketvoice/hocket/internal/app"
)

// serveCmd is the server.
type serveCmd struct {
	Agent  []string      `sep:"none" placeholder:"PATH" help:"An agent: a YAML file, or a folder of them. It may be repeated. Without one the flight agent is served that is part of the program."`
	Config string        `placeholder:"FILE" help:"A config file."`
	Addr   string        `placeholder:"HOST:PORT" help:"Where to listen; 127.0.0.1:8080 if nothing else is set."`
	Drain  time.Duration `default:"20s" hidden:""`
}

// Help is the long help.
func (serveCmd) Help() string {
	return `Serves the panel and the control API until it is interrupted, and then lets the conversations end.`
}

// Run is the command.
func (c *serveCmd) Run(s *streams) error {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	server, err := app.NewServer(app.ServeOptions{
		Agents: c.Agent, Config: c.Config, Addr: c.Addr,
		Log:  slog.New(slog.NewJSONHandler(s.err, nil)),
		Note: func(note string) { fmt.Fprintln(s.err, "note: "+note) },
	})
	if err != nil {
		return callError(err)
	}
	if err := s.printf("hocket serves on http://%s\n", server.Addr()); err != nil {
		return err
	}
	return server.Run(ctx, c.Drain)
}
