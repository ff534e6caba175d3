package cli

import (
	"context"
	"fmt"
	"os"
	"os/signal"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/hocketvoice/hocket/internal/app"
	"github.com/hocketvoice/hocket/internal/config"
)

// live tries the services of the config among the files, or of the environment alone, and prints
// a table.
func live(s *streams, files []checked) error {
	var c *config.Config
	for _, f := range files {
		if !f.config {
			continue
		}
		if c != nil {
			return badInputf("--live: %s is a second config: expected one", f.path)
		}
		var err error
		if c, err = config.Load(f.path); err != nil {
			return badInput{err}
		}
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	table := tabwriter.NewWriter(s.out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(table, "SERVICE\tMODEL\tFIRST\tCANCEL\tRESULT")
	count, failed := 0, 0
	err := app.CheckLive(ctx, c, func(l app.Live) {
		count++
		result, first, cancel := "ok", milliseconds(l.First), milliseconds(l.Cancel)
		if l.Err != nil {
			failed++
			result = strings.ReplaceAll(l.Err.Error(), "\n", "; ")
		}
		fmt.Fprintf(table, "%s %s\t%s\t%s\t%s\t%s\n", l.Name, l.Kind, l.Model, first, cancel, result)
	})
	switch {
	case err != nil:
		return err
	case count == 0:
		return s.printf("no key of a vendor is in the environment, and no config names a model or a vendor of speech\n")
	}
	if err := table.Flush(); err != nil {
		return err
	}
	if failed > 0 {
		return fmt.Errorf("%d of %d services failed", failed, count)
	}
	return nil
}

// milliseconds prints a duration, or a dash if there was none.
func milliseconds(d time.Duration) string {
	if d == 0 {
		return "-"
	}
	return fmt.Sprintf("%.1f ms", float64(d.Microseconds())/1000)
}
