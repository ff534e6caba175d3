package cli

import (
	"context"
	"os"
	"os/signal"
	"syscall"

	"github.com/hocketvoice/hocket/internal/app"
)

// benchLatencyCmd measures a running server.
type benchLatencyCmd struct {
	URL    string `name:"url" placeholder:"URL" default:"http://127.0.0.1:8080" help:"The server (default http://127.0.0.1:8080)."`
	Agent  string `placeholder:"NAME" help:"The agent (default: the server's first)."`
	KeyEnv string `placeholder:"NAME" default:"HOCKET_API_KEY" help:"The environment variable with the API key (default HOCKET_API_KEY)."`
	Runs   int    `default:"10" placeholder:"N" help:"The number of conversations of each kind, 1 to 1000 (default 10)."`
	JSON   bool   `name:"json" help:"Print JSON."`
}

// Help returns the long help.
func (benchLatencyCmd) Help() string {
	return `Holds conversations with a running server, by text and as a browser, and prints how long it takes to answer, next to the limits of the seeds. Exit status 1 if half of the runs took longer than a limit.`
}

// Run runs the command.
func (c *benchLatencyCmd) Run(s *streams) error {
	if c.Runs < 1 {
		return badInputf("--runs is %d: expected 1 or more", c.Runs)
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	list, err := app.BenchLatency(ctx, app.BenchLatencyOptions{URL: c.URL, Agent: c.Agent, Key: os.Getenv(c.KeyEnv), Runs: c.Runs})
	if err != nil {
		return callError(err)
	}
	missed := false
	for _, l := range list {
		missed = missed || l.P50 > l.Limit
	}
	if c.JSON {
		if err := s.writeIndented(list); err != nil {
			return err
		}
	} else {
		if err := s.printf("%-33s %8s %8s %8s %8s %6s\n", "milliseconds", "limit", "half", "90 %", "all", "runs"); err != nil {
			return err
		}
		for _, l := range list {
			if err := s.printf("%-33s %8.0f %8.1f %8.1f %8.1f %6d\n", l.Name, l.Limit, l.P50, l.P90, l.Max, l.Runs); err != nil {
				return err
			}
		}
	}
	if missed {
		return errFinding
	}
	return nil
}
