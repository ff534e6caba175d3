package task

import (
	"context"
	"database/sql"
	"errors"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/hocketvoice/hocket/internal/waittest"
	"github.com/hocketvoice/hocket/port"
	"github.com/hocketvoice/hocket/porttest"
)

// both runs a test with a new database of each kind.
func both(t *testing.T, test func(t *testing.T, at Options)) {
	t.Helper()
	t.Run("sqlite", func(t *testing.T) { test(t, Options{Path: newPath(t)}) })
	t.Run("postgres", func(t *testing.T) { test(t, Options{URL: server.Database(t)}) })
}

// bench is a tool whose calls wait until the test tells them how to end.
type bench struct {
	*porttest.Tool
	begun chan string
	goOn  chan string // the output of a call
	ended chan error  // the error of a call's context
}

func newBench() *bench {
	b := &bench{begun: make(chan string, 100), goOn: make(chan string, 100), ended: make(chan error, 100)}
	b.Tool = &porttest.Tool{
		Known: []port.ToolSpec{{Name: "work", Long: true}, {Name: "ship", Long: true, Irreversible: true}},
		Run: func(ctx context.Context, call port.ToolCall, progress func(string)) (string, error) {
			progress("begun " + call.Arguments)
			b.begun <- call.ID
			select {
			case out := <-b.goOn:
				return out, nil
			case <-ctx.Done():
				b.ended <- context.Cause(ctx)
				return "", ctx.Err()
			}
		},
	}
	return b
}

func take[T any](t testing.TB, c <-chan T) (value T) {
	t.Helper()
	select {
	case value = <-c:
	case <-waittest.Context(t).Done():
		t.Fatal("nothing happened in time")
	}
	return value
}

func asked(key, tool, arguments string) port.Task {
	return port.Task{Key: key, Call: port.ToolCall{ID: key, Name: tool, Arguments: arguments}, Agent: "agent", Conversation: "conv"}
}

func started(t testing.TB, tasks *Tasks, task port.Task) {
	t.Helper()
	if err := tasks.Start(waittest.Context(t), task); err != nil {
		t.Fatal(err)
	}
}

func wantOutput(t testing.TB, tasks *Tasks, key, want string) {
	t.Helper()
	if got, err := tasks.Follow(waittest.Context(t), key, nil); err != nil || got != want {
		t.Fatalf("task %s gives %q, error %v, expected %q", key, got, err, want)
	}
}

func wantFailure(t testing.TB, tasks *Tasks, key, code string) port.Failure {
	t.Helper()
	out, err := tasks.Follow(waittest.Context(t), key, nil)
	f, ok := errors.AsType[*port.Failure](err)
	if !ok || f.Code != code {
		t.Fatalf("task %s gives %q, error %v, expected a failure %s", key, out, err, code)
	}
	return *f
}

// said reports whether a task has written any progress.
func said(t testing.TB, tasks *Tasks, key string) bool {
	t.Helper()
	r, _, err := tasks.read(t.Context(), key)
	if err != nil {
		t.Fatal(err)
	}
	return r.progress > 0
}

// TestTwoNodes checks that a task started by one process can be run by another, which
// learns of its cancellation, and that a stopped worker leaves its task to another one,
// unless the tool is irreversible and was called.
func TestTwoNodes(t *testing.T) {
	both(t, func(t *testing.T, o Options) {
		o.Grace, o.beat, o.Takeover = time.Millisecond, 100*time.Millisecond, time.Second
		asks := opened(t, o)
		var works [2]*Tasks
		var tools [2]*bench
		for i := range works {
			tools[i] = newBench()
			o.Resolve = one(tools[i])
			works[i] = opened(t, o)
		}
		stop := working(t, works[0])
		started(t, asks, asked("cancelled", "work", "{}"))
		take(t, tools[0].begun)
		if err := asks.Cancel(waittest.Context(t), "cancelled"); err != nil {
			t.Fatal(err)
		}
		if err := take(t, tools[0].ended); !errors.Is(err, errOver) {
			t.Errorf("the tool's context ends with %v", err)
		}
		wantFailure(t, asks, "cancelled", codeCancelled)

		started(t, asks, asked("repeatable", "work", "{}"))
		started(t, asks, asked("irreversible", "ship", "{}"))
		take(t, tools[0].begun)
		take(t, tools[0].begun)
		heard := make(chan string, 100)
		followed := make(chan error, 1)
		go func() {
			_, err := asks.Follow(waittest.Context(t), "repeatable", func(s string) { heard <- s })
			followed <- err
		}()
		if s := take(t, heard); s != "begun {}" {
			t.Errorf("heard %q", s)
		}
		waittest.Until(t, "what it says is written", nil, func() bool { return said(t, asks, "irreversible") })
		working(t, works[1])
		stop()
		f := wantFailure(t, asks, "irreversible", codeInterrupted)
		if f.Partial != "begun {}" {
			t.Errorf("%+v", f)
		}
		if key := take(t, tools[1].begun); key != "repeatable" {
			t.Errorf("%s is run again", key)
		}
		tools[1].goOn <- "by the second"
		wantOutput(t, asks, "repeatable", "by the second")
		if err := take(t, followed); err != nil {
			t.Error(err)
		}
		if n := len(tools[1].Calls()); n != 1 {
			t.Errorf("the second worker has made %d calls", n)
		}
	})
}

// TestGrace checks that a tool that ends within the grace period returns its result.
func TestGrace(t *testing.T) {
	b := newBench()
	tasks := opened(t, Options{Path: newPath(t), Resolve: one(b), Grace: time.Minute})
	stop := working(t, tasks)
	started(t, tasks, asked("k", "ship", "{}"))
	take(t, b.begun)
	stopped := make(chan struct{})
	go func() {
		defer close(stopped)
		stop()
	}()
	b.goOn <- "just in time"
	take(t, stopped)
	wantOutput(t, tasks, "k", "just in time")
}

// TestSignsOfLife checks that the follower of a tool without progress receives signs of
// life.
func TestSignsOfLife(t *testing.T) {
	t.Parallel()
	b := newBench()
	tasks := opened(t, Options{Path: newPath(t), Resolve: one(b), Grace: time.Millisecond, beat: 50 * time.Millisecond, Life: 600 * time.Millisecond})
	stop := working(t, tasks)
	started(t, tasks, asked("k", "work", "{}"))
	take(t, b.begun)
	heard := make(chan string, 1000)
	ctx, cancel := context.WithCancel(t.Context())
	followed := make(chan error, 1)
	go func() {
		_, err := tasks.Follow(ctx, "k", func(s string) { heard <- s })
		followed <- err
	}()
	for _, want := range []string{"begun {}", "", ""} {
		if s := take(t, heard); s != want {
			t.Errorf("heard %q, expected %q", s, want)
		}
	}
	stop() // the task waits for a worker
	waittest.Until(t, "the worker has given its task back", nil, func() bool {
		r, ok, err := tasks.read(t.Context(), "k")
		return err == nil && ok && r.worker == ""
	})
	for len(heard) > 0 {
		<-heard
	}
	beat := func() int64 {
		r, _, err := tasks.read(t.Context(), "k")
		if err != nil {
			t.Fatal(err)
		}
		return r.beat
	}
	if a, z := beat(), beat(); a != z {
		t.Errorf("there are signs of life, although no worker runs")
	}
	cancel()
	if err := take(t, followed); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
}

// TestDeafTool checks that the result of a tool that ignores the end of its context is
// dropped.
func TestDeafTool(t *testing.T) {
	goOn := make(chan struct{})
	end := sync.OnceFunc(func() { close(goOn) })
	tool := &porttest.Tool{Known: []port.ToolSpec{{Name: "work"}}}
	tool.Run = func(_ context.Context, _ port.ToolCall, progress func(string)) (string, error) {
		progress("half")
		<-goOn
		return "too late", nil
	}
	ahead := atomic.Int64{}
	o := Options{Path: newPath(t), Resolve: one(tool), Grace: time.Millisecond, sweep: 100 * time.Millisecond}
	o.Now = func() time.Time { return time.Now().Add(time.Duration(ahead.Load())) }
	tasks := opened(t, o)
	working(t, tasks)
	defer end() // the worker waits for the tool
	started(t, tasks, asked("k", "work", "{}"))
	waittest.Until(t, "what it says is written", nil, func() bool { return said(t, tasks, "k") })
	ahead.Store(int64(DefaultLimit + late + time.Second))
	f := wantFailure(t, tasks, "k", codeTimeout)
	if f.Partial != "half" {
		t.Errorf("%+v", f)
	}
	end()
	wantFailure(t, tasks, "k", codeTimeout)
}

// TestTooLateToBegin checks that a task whose deadline has passed when a worker takes
// it is not begun.
func TestTooLateToBegin(t *testing.T) {
	b := newBench()
	ahead := atomic.Int64{}
	o := Options{Path: newPath(t), Resolve: one(b), Now: func() time.Time { return time.Now().Add(time.Duration(ahead.Load())) }}
	tasks := opened(t, o)
	started(t, tasks, asked("k", "ship", "{}"))
	ahead.Store(int64(DefaultLimit + time.Millisecond))
	working(t, tasks)
	wantFailure(t, tasks, "k", codeTimeout)
	if n := len(b.Calls()); n != 0 {
		t.Errorf("%d calls", n)
	}
}

// TestCalledOffIrreversible checks that the failure of a cancelled task says whether it
// is unknown that the tool was done.
func TestCalledOffIrreversible(t *testing.T) {
	b := newBench()
	tasks := opened(t, Options{Path: newPath(t), Resolve: one(b), Grace: time.Millisecond})
	started(t, tasks, asked("waits", "ship", "{}"))
	if err := tasks.Cancel(waittest.Context(t), "waits"); err != nil {
		t.Fatal(err)
	}
	if f := wantFailure(t, tasks, "waits", codeCancelled); f.Message != "ship was called off" {
		t.Errorf("%+v", f)
	}
	working(t, tasks)
	started(t, tasks, asked("runs", "ship", "{}"))
	take(t, b.begun)
	if err := tasks.Cancel(waittest.Context(t), "runs"); err != nil {
		t.Fatal(err)
	}
	if f := wantFailure(t, tasks, "runs", codeCancelled); f.Message != "ship was called off while it ran, and it is not known whether it was done" {
		t.Errorf("%+v", f)
	}
	if n := len(b.Calls()); n != 1 {
		t.Errorf("%d calls, expected none of the task that waited", n)
	}
}

// TestLostStart checks that a process that dies between the two steps of Start loses
// nothing.
func TestLostStart(t *testing.T) {
	both(t, func(t *testing.T, o Options) {
		b := newBench()
		o.Resolve = one(b)
		ahead := atomic.Int64{}
		o.Now = func() time.Time { return time.Now().Add(time.Duration(ahead.Load())) }
		tasks := opened(t, o)
		tx, err := tasks.db.writer.BeginTx(t.Context(), nil)
		if err != nil {
			t.Fatal(err)
		}
		if _, _, err := tasks.insert(t.Context(), tx, asked("k", "work", "{}")); err != nil {
			t.Fatal(err)
		}
		if err := tx.Commit(); err != nil {
			t.Fatal(err)
		}
		ahead.Store(int64(time.Minute))
		if err := tasks.Sweep(waittest.Context(t)); err != nil {
			t.Fatal(err)
		}
		working(t, tasks)
		b.goOn <- "found"
		wantOutput(t, tasks, "k", "found")
	})
}

// TestLostWorkflow checks that a task whose workflow is lost is brought to another
// worker when its own has died.
func TestLostWorkflow(t *testing.T) {
	t.Parallel()
	b := newBench()
	ahead := atomic.Int64{}
	o := hurried(Options{Path: newPath(t), Resolve: one(b), sweep: 100 * time.Millisecond})
	o.Now = func() time.Time { return time.Now().Add(time.Duration(ahead.Load())) }
	tasks := opened(t, o)
	if err := tasks.db.within(t.Context(), func(tx *sql.Tx) error {
		_, _, err := tasks.insert(t.Context(), tx, asked("k", "work", "{}"))
		return err
	}); err != nil {
		t.Fatal(err)
	}
	if _, err := tasks.db.exec(t.Context(), "UPDATE hocket_tasks SET attempt = 1, worker = 'dead'"); err != nil {
		t.Fatal(err)
	}
	ahead.Store(int64(time.Minute))
	working(t, tasks)
	b.goOn <- "found"
	wantOutput(t, tasks, "k", "found")
}

func secret(host string) string {
	return "postgres://u:" + "hush-hush@" + host + "/d?connect_timeout=1"
}

// TestOptions checks that invalid options are refused.
func TestOptions(t *testing.T) {
	path := newPath(t)
	for _, o := range []Options{
		{},
		{Path: path, URL: "postgres://x"},
		{URL: "mysql://x"},
		{Path: path, Keep: -1},
		{Path: path, Parallel: -1},
		{Path: path, Takeover: time.Second},
		{Path: path, Keys: [][]byte{{1, 2, 3}}},
		{Path: filepath.Join(path, "no", "folder")},
		{URL: secret("127.0.0.1:1")},
		{URL: secret("[::bad")},
	} {
		tasks, err := Open(t.Context(), o)
		if err == nil {
			t.Errorf("%+v was accepted", o)
			_ = tasks.Close()
		} else if msg := err.Error(); len(msg) == 0 || contains(msg, "hush") {
			t.Errorf("the error contains the password: %s", msg)
		}
	}
	tasks := opened(t, Options{Path: path})
	if err := tasks.Run(t.Context()); err == nil {
		t.Error("Run succeeded without Resolve")
	}
}

// TestStartIsRefused checks that an invalid task is a failure, so that the caller does
// not retry.
func TestStartIsRefused(t *testing.T) {
	both(t, func(t *testing.T, o Options) {
		tasks := opened(t, o)
		for name, task := range map[string]port.Task{
			"no key":         asked("", "work", "{}"),
			"a long key":     asked(strings.Repeat("k", maxKey+1), "work", "{}"),
			"no text":        asked("k\xff", "work", "{}"),
			"a zero":         asked("k\x00", "work", "{}"),
			"long arguments": asked("k", "work", string(make([]byte, MaxArguments+1))),
		} {
			err := tasks.Start(t.Context(), task)
			if f, ok := errors.AsType[*port.Failure](err); !ok || f.Code != codeInvalidArgs {
				t.Errorf("%s: %v", name, err)
			}
		}
	})
}
