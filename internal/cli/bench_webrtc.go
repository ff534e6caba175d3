package cli

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"os/signal"
	"syscall"
	"time"

	"github.com/hocketvoice/hocket/internal/app"
)

// benchWebRTCCmd measures calls of browsers.
type benchWebRTCCmd struct {
	Calls     int           `default:"60" help:"The number of simultaneous calls, 1 to 1000."`
	Duration  time.Duration `default:"20s" help:"How long to measure."`
	Recognize bool          `help:"Run the real recognizer. Without this flag, a stand-in returns words without computing anything."`
	JSON      bool          `name:"json" help:"Print JSON."`
}

// Help returns the long help.
func (benchWebRTCCmd) Help() string {
	return `Runs the callers and the server in this process, over the loopback interface, with encryption and real speech. The speech is synthesized and the callers' packets are encoded before the measurement.`
}

// Run runs the command.
func (c *benchWebRTCCmd) Run(s *streams) error {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	r, err := app.BenchWebRTC(ctx, app.BenchWebRTCOptions{Calls: c.Calls, Duration: c.Duration, Recognize: c.Recognize})
	switch {
	case errors.Is(err, app.ErrInput):
		return badInput{err}
	case err != nil:
		return err
	case c.JSON:
		return json.NewEncoder(s.out).Encode(r)
	}
	return s.printf(`%d calls for %.0f s
CPU a call            %.2f %% of a core, its caller included
memory a call         %.0f KB, its caller included
frames                %d sent, %d heard, %d turns
out after their time  %.1f ms (half of them), %.1f ms (99 %%), %.1f ms (all); %d stalls
packets lost          %d
goroutines            %d before, %d during, %d after
`, r.Calls, r.Seconds, r.CPU, r.Memory, r.Frames, r.Heard, r.Turns, r.P50, r.P99, r.Max, r.Stalls, r.Lost, r.Before, r.During, r.After)
}
