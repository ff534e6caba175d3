package task

import (
	"context"
	"errors"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/hocketvoice/hocket/internal/waittest"
)

// trouble is a log handler that keeps its records and counts the failed signs of life.
type trouble struct {
	slog.Handler
	beats *atomic.Int64

	mu    *sync.Mutex // guards lines
	lines *[]string
}

func newTrouble() trouble {
	return trouble{slog.DiscardHandler, new(atomic.Int64), new(sync.Mutex), new([]string)}
}

func (l trouble) Enabled(context.Context, slog.Level) bool { return true }

func (l trouble) Handle(_ context.Context, r slog.Record) error {
	if r.Message == "cannot give signs of life for running tasks" {
		l.beats.Add(1)
	}
	if r.Level >= slog.LevelInfo {
		l.mu.Lock()
		defer l.mu.Unlock()
		text := r.Message
		r.Attrs(func(a slog.Attr) bool {
			text += " " + a.String()
			return true
		})
		*l.lines = append(*l.lines, text)
	}
	return nil
}

func (l trouble) WithAttrs([]slog.Attr) slog.Handler { return l }
func (l trouble) WithGroup(string) slog.Handler      { return l }

func (l trouble) told() []string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return slices.Clone(*l.lines)
}

// TestDatabaseAway checks that while the database is unavailable running tools
// continue, no worker counts as dead, and results are stored afterwards. The log of
// each worker must contain one line for the beginning and one for the end.
func TestDatabaseAway(t *testing.T) {
	o := Options{URL: server.Database(t), Grace: time.Millisecond, beat: 100 * time.Millisecond, Takeover: time.Second}
	logs := [2]trouble{newTrouble(), newTrouble()}
	var works [2]*Tasks
	var tools [2]*bench
	for i := range works {
		tools[i] = newBench()
		o.Resolve, o.Log = one(tools[i]), slog.New(logs[i])
		works[i] = opened(t, o)
	}
	working(t, works[0])
	started(t, works[0], asked("k", "ship", "{}"))
	started(t, works[0], asked("ends meanwhile", "ship", "{}"))
	take(t, tools[0].begun)
	take(t, tools[0].begun)
	working(t, works[1])
	wait := outcomes(t, works[1], []string{"k", "ends meanwhile"})

	server.Halt(t)
	waittest.Until(t, "the signs of life have failed for longer than a takeover", nil, func() bool { return logs[0].beats.Load() > 15 })
	tools[0].goOn <- "in the dark"
	waittest.Until(t, "one of the tools has ended", nil, func() bool { return len(tools[0].goOn) == 0 })
	server.Continue(t)
	waittest.Until(t, "the result is written", nil, func() bool {
		var n int
		err := works[1].db.reader.QueryRowContext(t.Context(), "SELECT count(*) FROM hocket_tasks WHERE ended IS NOT NULL").Scan(&n)
		return err == nil && n == 1
	})
	tools[0].goOn <- "in the light"
	got := wait()
	if a, b := got["k"], got["ends meanwhile"]; a == b || a+b != "in the darkin the light" && a+b != "in the lightin the dark" {
		t.Errorf("they ended with %q", got)
	}
	if n, m := len(tools[0].Calls()), len(tools[1].Calls()); n != 2 || m != 0 {
		t.Errorf("called %d and %d times, expected 2 and 0", n, m)
	}
	for i, log := range logs {
		waittest.Until(t, "the end of the outage is told", nil, func() bool { return len(log.told()) >= 2 })
		if told := log.told(); len(told) != 2 || !strings.HasPrefix(told[0], "the database of tasks does not answer") || !strings.HasPrefix(told[1], "the database of tasks answers again") {
			t.Errorf("the log of worker %d: %q", i, told)
		}
	}
}

// TestLineDead checks that a worker whose connection is broken counts as dead, and that
// its later results are ignored.
func TestLineDead(t *testing.T) {
	o := Options{URL: server.Database(t), Grace: time.Millisecond, beat: 100 * time.Millisecond, Takeover: time.Second}
	proxy, through := server.Proxy(t, o.URL)
	cut, alive := newBench(), newBench()
	far := o
	far.URL, far.Resolve = through, one(cut)
	o.Resolve = one(alive)
	far.Log = slog.New(slog.DiscardHandler)
	a, b := opened(t, far), opened(t, o)
	working(t, a)
	started(t, b, asked("repeatable", "work", "{}"))
	started(t, b, asked("irreversible", "ship", "{}"))
	take(t, cut.begun)
	take(t, cut.begun)
	working(t, b)
	for _, key := range []string{"repeatable", "irreversible"} {
		waittest.Until(t, "what it says is written", nil, func() bool { return said(t, b, key) })
	}
	proxy.Die()
	if f := wantFailure(t, b, "irreversible", codeInterrupted); f.Partial != "begun {}" {
		t.Errorf("%+v", f)
	}
	take(t, alive.begun)
	alive.goOn <- "by the living"
	wantOutput(t, b, "repeatable", "by the living")
	proxy.Revive()
	for range 2 {
		if err := take(t, cut.ended); !errors.Is(err, errOver) {
			t.Errorf("the context of the one that was cut ends with %v", err)
		}
	}
	wantOutput(t, b, "repeatable", "by the living")
	wantFailure(t, b, "irreversible", codeInterrupted)
}

// TestStopWithoutDatabase checks that a worker can be stopped while its database is
// unavailable.
func TestStopWithoutDatabase(t *testing.T) {
	b := newBench()
	o := Options{URL: server.Database(t), Resolve: one(b), Grace: time.Millisecond, Log: slog.New(slog.DiscardHandler)}
	tasks := opened(t, o)
	stop := working(t, tasks)
	for _, tool := range []string{"work", "ship"} {
		started(t, tasks, asked(tool, tool, "{}"))
		take(t, b.begun)
	}
	server.Halt(t)
	defer server.Continue(t)
	b.goOn <- "nobody hears it"
	waittest.Until(t, "one of the tools has ended", nil, func() bool { return len(b.goOn) == 0 })
	stopped := make(chan struct{})
	go func() {
		defer close(stopped)
		stop()
	}()
	take(t, stopped)
}
