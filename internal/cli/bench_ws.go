package cli

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"os/signal"
	"syscall"
	"time"

	"github.com/hocketvoice/hocket/internal/app"
	"github.com/hocketvoice/hocket/internal/bench"
)

// benchWSCmd measures clients of the OpenAI Realtime protocol.
type benchWSCmd struct {
	Calls     int           `default:"60" help:"The number of simultaneous conversations, 1 to 1000."`
	Duration  time.Duration `default:"20s" help:"How long to measure."`
	Recognize bool          `help:"Run the real recognizer. Without this flag, a stand-in returns words without computing anything."`
	Faults    bool          `help:"Measure healthy conversations while a few clients misbehave: first each kind of fault alone for --duration, then all of them together. Exit status 1 if a healthy conversation was harmed or resources were not released."`
	Serve     string        `placeholder:"HOST:PORT" help:"Run only a server, to be measured by another process with --url. Its voice and recognizer compute nothing, it accepts at most --calls conversations, and it runs until it is interrupted."`
	URL       string        `name:"url" placeholder:"URL" help:"Measure the memory and processor time that conversations cost the server at this URL, which runs in another process."`
	Text      bool          `help:"With --url: hold conversations by text in which nobody speaks."`
	Agent     string        `placeholder:"NAME" help:"With --url: the agent (default: the server's first)."`
	KeyEnv    string        `placeholder:"NAME" default:"HOCKET_API_KEY" help:"With --url: the environment variable with the API key (default HOCKET_API_KEY)."`
	JSON      bool          `name:"json" help:"Print JSON."`
}

// Help returns the long help.
func (benchWSCmd) Help() string {
	return `Runs the clients and the server in this process, over the loopback interface, with real speech, which is synthesized and encoded before the measurement.`
}

// Run runs the command.
func (c *benchWSCmd) Run(s *streams) error {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	o := app.BenchWebRTCOptions{Calls: c.Calls, Duration: c.Duration, Recognize: c.Recognize}
	switch {
	case c.Serve != "":
		return c.serve(ctx, s)
	case c.Faults:
		return c.faults(ctx, s, o)
	case c.URL != "":
		return c.footprint(ctx, s, o)
	}
	r, err := app.BenchWS(ctx, o)
	switch {
	case err != nil:
		return callError(err)
	case c.JSON:
		return s.writeLine(r)
	}
	return s.printf(`%d conversations for %.0f s
CPU a conversation     %.2f %% of a core, its client included
memory a conversation  %.0f KB, its client included
pieces of sound        %d, later than the sound before them by %.1f ms (half), %.1f ms (99 %%), %.1f ms (all)
responses              %d; first sound %.0f ms (half) after the end of speech
goroutines             %d before, %d during, %d after
`, r.Calls, r.Seconds, r.CPU, r.Memory, r.Deltas, r.P50, r.P99, r.Max, r.Turns, r.Answer, r.Before, r.During, r.After)
}

// footprint measures the process of a running server.
func (c *benchWSCmd) footprint(ctx context.Context, s *streams, o app.BenchWebRTCOptions) error {
	r, err := app.BenchFootprint(ctx, app.BenchFootprintOptions{
		BenchWebRTCOptions: o, URL: c.URL, Key: os.Getenv(c.KeyEnv), Agent: c.Agent, Text: c.Text,
	})
	switch {
	case err != nil:
		return callError(err)
	case c.JSON:
		return s.writeLine(r)
	}
	if err := s.printf("%-9s %14s %14s %8s %8s %10s %11s %6s\n", "KB each", "conversations", "live heap", "heap", "stacks", "resident", "goroutines", "CPU %"); err != nil {
		return err
	}
	rows := []struct {
		name string
		f    *bench.Footprint
	}{{"idle", &r.Idle}, {"talking", r.Talking}}
	for _, row := range rows {
		if f := row.f; f != nil {
			if err := s.printf("%-9s %14d %14.0f %8.0f %8.0f %10.0f %11.1f %6.2f\n", row.name, f.Sample, f.Live, f.Heap, f.Stacks, f.Resident, f.Goroutines, f.CPU); err != nil {
				return err
			}
		}
	}
	return s.printf("goroutines of the server: %d before, %d after\n", r.Before, r.After)
}

// serve runs a server that another process can measure.
func (c *benchWSCmd) serve(ctx context.Context, s *streams) (err error) {
	server, end, err := app.BenchServe(ctx, app.ServeOptions{
		Addr: c.Serve, MaxConversations: c.Calls, Log: slog.New(slog.NewJSONHandler(s.err, &slog.HandlerOptions{Level: slog.LevelWarn})),
	})
	if err != nil {
		return callError(err)
	}
	defer func() { err = errors.Join(err, end()) }()
	if err := s.printf("hocket serves on %s\n", server.URL()); err != nil {
		return err
	}
	return server.Run(ctx)
}

// faults measures the effect of misbehaving clients on others.
func (c *benchWSCmd) faults(ctx context.Context, s *streams, o app.BenchWebRTCOptions) error {
	r, err := app.BenchFaults(ctx, o)
	if err != nil {
		return callError(err)
	}
	if c.JSON {
		err = s.writeIndented(r)
	} else {
		err = printFaults(s, &r)
	}
	if err != nil {
		return err
	}
	if hurt := r.Hurt(); hurt != "" {
		fmt.Fprintln(s.err, hurt)
		return errFinding
	}
	return nil
}

func printFaults(s *streams, r *bench.FaultsReport) error {
	if err := s.printf("%d healthy conversations\n%-23s %7s %7s %7s %6s %7s %7s %13s %15s\n", r.Calls,
		"lateness in ms", "half", "99 %", "all", "ratio", "pieces", "hurt", "goroutines", "memory in MB"); err != nil {
		return err
	}
	for i := range r.Rows {
		f := &r.Rows[i]
		if err := s.printf("%-23s %7.1f %7.1f %7.1f %6.1f %7d %7d %6d %6d %7.1f %7.1f\n", f.Name, f.P50, f.P99, f.Max, f.Ratio, f.Deltas, f.Closed+f.Cut+f.Short,
			f.GoroutinesBefore, f.GoroutinesAfter, f.MemoryBefore, f.MemoryAfter); err != nil {
			return err
		}
	}
	if err := s.printf("goroutines: %d before, %d after all of it\n\nwhat the clients were told\n", r.Before, r.After); err != nil {
		return err
	}
	for i := range r.Rows {
		if f := &r.Rows[i]; f.Told != "" {
			if err := s.printf("%-23s %s\n", f.Name, f.Told); err != nil {
				return err
			}
		}
	}
	return nil
}
