// Command desk has the two assistants of the example examples/research: a delegate
// that reads notes and sums them up, as a program of tools.command is, and an
// archive that is searched, as a server of the Model Context Protocol. Both tell
// how they get on, take their time on purpose, and end when they are told to. They
// read nothing but the notes that are built into them.
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

// run is one of the assistants.
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

// wait is a step's time, or the end of ctx.
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
