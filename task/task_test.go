package task

import (
	"context"
	"log/slog"
	"path/filepath"
	"testing"
	"time"

	"github.com/hocketvoice/hocket/port"
	"github.com/hocketvoice/hocket/porttest"
)

// one returns a Resolve function with the same tool for all agents.
func one(tool port.Tool) func(port.Task) (port.Tool, error) {
	return func(port.Task) (port.Tool, error) { return tool, nil }
}

func newPath(t testing.TB) string { return filepath.Join(t.TempDir(), "tasks.db") }

func opened(t testing.TB, o Options) *Tasks {
	t.Helper()
	if o.Log == nil {
		o.Log = slog.New(slog.NewTextHandler(t.Output(), &slog.HandlerOptions{Level: slog.LevelWarn}))
	}
	tasks, err := Open(context.WithoutCancel(t.Context()), o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := tasks.Close(); err != nil {
			t.Error(err)
		}
	})
	return tasks
}

// working runs a worker until the test ends or stop is called.
func working(t testing.TB, tasks *Tasks) (stop func()) {
	t.Helper()
	ctx, cancel := context.WithCancel(context.WithoutCancel(t.Context()))
	ended := make(chan error, 1)
	go func() { ended <- tasks.Run(ctx) }()
	stopped := false
	stop = func() {
		cancel()
		if stopped {
			return
		}
		stopped = true
		if err := <-ended; err != nil {
			t.Error(err)
		}
	}
	t.Cleanup(stop)
	return stop
}

func TestPort(t *testing.T) {
	t.Parallel()
	porttest.TestTasks(t, func(t *testing.T, tool port.Tool) port.Tasks {
		tasks := opened(t, Options{Path: newPath(t), Resolve: one(tool), Grace: 10 * time.Millisecond})
		working(t, tasks)
		return tasks
	})
}
