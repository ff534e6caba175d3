// Command desk provides the two assistants of the example examples/research: a
// delegate that reads notes and summarizes them, a program for tools.command; and
// an archive that is searched, an MCP server. Both report progress, are
// deliberately slow, and can be cancelled. They read only built-in notes.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"syscall"
	"time"
)

func main() {
	pace := flag.Duration("pace", 0, "how long each step takes")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	err := run(ctx, flag.Arg(0), *pace)
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "desk:", err)
		os.Exit(1)
	}
}

// run runs one of the assistants.
func run(ctx context.Context, name string, pace time.Duration) error {
	switch name {
	case "research":
		return research(ctx, os.Stdin, os.Stdout, pace)
	case "archive":
		return archive(pace).Run(ctx, transport())
	default:
		return errors.New("expected research or archive")
	}
}

// wait waits for the duration of a step or the end of ctx.
func wait(ctx context.Context, pace time.Duration) error {
	timer := time.NewTimer(pace)
	defer timer.Stop()
	select {
	case <-timer.C:
		return ctx.Err()
	case <-ctx.Done():
		return ctx.Err()
	}
}
