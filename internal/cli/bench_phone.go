package cli

import (
	"context"
	"os"
	"os/signal"
	"syscall"
	"time"

	"github.com/hocketvoice/hocket/internal/app"
	"github.com/hocketvoice/hocket/internal/bench"
)

// benchPhoneCmd measures telephone calls.
type benchPhoneCmd struct {
	Calls    int           `default:"100" help:"The number of simultaneous calls, 1 to 1000."`
	Duration time.Duration `default:"20s" help:"How long to measure each kind of server."`
	JSON     bool          `name:"json" help:"Print JSON."`
}

// Help returns the long help.
func (benchPhoneCmd) Help() string {
	return `Runs callers as Twilio streams them, 50 frames a second in both directions, and a server that says what it hears, in this process, over the loopback interface: first an echo of WebSocket messages without any of our code, then the leg of a call, then the leg with the detector of voices. Prints the time from a frame to its echo.`
}

// Run runs the command.
func (c *benchPhoneCmd) Run(s *streams) error {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	r, err := app.BenchPhone(ctx, app.BenchWebRTCOptions{Calls: c.Calls, Duration: c.Duration})
	switch {
	case err != nil:
		return callError(err)
	case c.JSON:
		return s.writeLine(r)
	}
	if err := s.printf("%d calls for %.0f s each; milliseconds from a frame to its echo, and what a call costs with its caller\n\n"+
		"              p50     p90     p99   p99.9     max   CPU of a core    memory\n", r.Bare.Calls, r.Bare.Seconds); err != nil {
		return err
	}
	for _, row := range []struct {
		name string
		bench.PhoneRow
	}{{"bare echo", r.Bare}, {"leg", r.Echo}, {"leg, detector", r.Detector}} {
		if err := s.printf("%-13s%5.1f   %5.1f   %5.1f   %5.1f   %5.1f   %9.2f %%   %6.0f KB\n",
			row.name, row.P50, row.P90, row.P99, row.P999, row.Max, row.CPU, row.Memory); err != nil {
			return err
		}
	}
	return nil
}
