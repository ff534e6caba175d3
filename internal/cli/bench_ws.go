package cli

import (
	"context"
	"os"
	"os/signal"
	"syscall"
	"time"

	"github.com/hocketvoice/hocket/internal/app"
)

// benchWSCmd measures clients of the OpenAI Realtime protocol.
type benchWSCmd struct {
	Calls     int           `default:"60" help:"Conversations at once, 1 to 1000."`
	Duration  time.Duration `default:"20s" help:"How long to measure."`
	Recognize bool          `help:"Measure the recognizer too. Without it, every utterance has words without any work."`
	JSON      bool          `name:"json" help:"Print JSON."`
}

// Help is the long help.
func (benchWSCmd) Help() string {
	return `Clients and server are in this process and meet over the loopback interface, with real speech, which is made and encoded before the measurement.`
}

// Run is the command.
func (c *benchWSCmd) Run(s *streams) error {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	r, err := app.BenchWS(ctx, app.BenchWebRTCOptions{Calls: c.Calls, Duration: c.Duration, Recognize: c.Recognize})
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
