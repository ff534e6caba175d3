package task

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/hocketvoice/hocket/internal/wait"
	"github.com/hocketvoice/hocket/internal/waittest"
	"github.com/hocketvoice/hocket/port"
	"github.com/hocketvoice/hocket/porttest"
)

// The environment of a worker process: the database, the file in which its tool counts
// calls, and whether it uses the default options.
const (
	childPath  = "HOCKET_TASK_TEST_PATH"
	childURL   = "HOCKET_TASK_TEST_URL"
	childCount = "HOCKET_TASK_TEST_COUNT"
	childCalm  = "HOCKET_TASK_TEST_CALM"
)

// hurried returns options for tests that wait for dead workers.
func hurried(o Options) Options {
	o.beat, o.Takeover, o.Attempts = 100*time.Millisecond, time.Second, 1000
	return o
}

// child is a worker that runs until it is killed. Its tool records the begin and the
// end of each call in a file and on standard output.
func child() int {
	count, err := os.OpenFile(os.Getenv(childCount), os.O_APPEND|os.O_WRONLY, 0)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	tool := &porttest.Tool{Known: []port.ToolSpec{{Name: "work", Long: true}, {Name: "ship", Long: true, Irreversible: true}}}
	tool.Run = func(ctx context.Context, c port.ToolCall, progress func(string)) (string, error) {
		tell := func(what string) error {
			line := what + " " + c.Name + " " + c.ID + "\n"
			_, err := count.WriteString(line)
			fmt.Fprint(os.Stdout, line)
			return err
		}
		if err := tell("begin"); err != nil {
			return "", err
		}
		progress("at it")
		_ = wait.For(ctx, time.Duration(rand.IntN(300))*time.Millisecond)
		return "done " + c.ID, tell("end")
	}
	o := Options{Path: os.Getenv(childPath), URL: os.Getenv(childURL), Resolve: one(tool), Parallel: 4}
	if os.Getenv(childCalm) == "" {
		o = hurried(o)
	}
	tasks, err := Open(context.Background(), o)
	if err == nil {
		fmt.Fprintln(os.Stdout, "open")
		err = errors.Join(tasks.Run(context.Background()), tasks.Close())
	}
	fmt.Fprintln(os.Stderr, err)
	return 1
}

// workerProcess is a child process.
type workerProcess struct {
	cmd   *exec.Cmd
	lines chan string // its output; closed at its end
}

func spawned(t testing.TB, o Options, count string, more ...string) *workerProcess {
	t.Helper()
	program, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	w := &workerProcess{cmd: exec.CommandContext(context.WithoutCancel(t.Context()), program, "-test.run=^$"), lines: make(chan string, 1000)}
	w.cmd.Env = append(os.Environ(), childPath+"="+o.Path, childURL+"="+o.URL, childCount+"="+count)
	w.cmd.Env = append(w.cmd.Env, more...)
	w.cmd.Stderr = os.Stderr
	out, err := w.cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := w.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	go func() {
		defer close(w.lines)
		for s := bufio.NewScanner(out); s.Scan(); {
			w.lines <- s.Text()
		}
	}()
	return w
}

// line waits for a line of output. It returns false if no work is left.
func (w *workerProcess) line(t *testing.T, tasks *Tasks) bool {
	t.Helper()
	tick := time.NewTicker(50 * time.Millisecond)
	defer tick.Stop()
	for {
		select {
		case _, ok := <-w.lines:
			if !ok {
				t.Fatal("the worker has ended by itself")
			}
			return true
		case <-tick.C:
			if done(t, tasks) {
				return false
			}
		}
	}
}

// kill kills a worker and waits for its end.
func (w *workerProcess) kill(t testing.TB) {
	t.Helper()
	if err := w.cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	for range w.lines {
	}
	if err := w.cmd.Wait(); err == nil || w.cmd.ProcessState.Exited() {
		t.Fatalf("the worker was not killed: %v", w.cmd.ProcessState)
	}
}

// counted returns how often calls were begun and ended, by "begin ship k" and "end ship
// k".
func counted(t *testing.T, path string) map[string]int {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	n := make(map[string]int)
	for line := range strings.Lines(string(b)) {
		n[strings.TrimSuffix(line, "\n")]++
	}
	return n
}

// outcomes follows tasks. The returned function waits for their results.
func outcomes(t *testing.T, tasks *Tasks, keys []string) (wait func() map[string]string) {
	var mu sync.Mutex
	var g sync.WaitGroup
	got := make(map[string]string)
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Minute)
	for _, key := range keys {
		g.Go(func() {
			out, err := tasks.Follow(ctx, key, nil)
			if f, ok := errors.AsType[*port.Failure](err); ok {
				out = f.Code
			} else if err != nil {
				out = err.Error()
			}
			mu.Lock()
			defer mu.Unlock()
			got[key] = out
		})
	}
	return func() map[string]string {
		g.Wait()
		cancel()
		return got
	}
}

// TestKilledWorkers kills workers repeatedly, at seeded points of their work. It checks
// that each task ends once, that an irreversible tool is called at most once, that a
// repeatable tool returns a result in the end, and that the reported results agree with
// the calls.
func TestKilledWorkers(t *testing.T) {
	t.Parallel()
	both(t, func(t *testing.T, o Options) {
		seed := uint64(time.Now().UnixNano())
		t.Logf("seed %d", seed)
		random := rand.New(rand.NewPCG(seed, 0))
		workers, kills, each := 1, 4, 12
		if o.URL != "" {
			workers = 2
		}
		if testing.Short() {
			kills, each = 2, 6
		}
		count := filepath.Join(t.TempDir(), "count")
		if err := os.WriteFile(count, nil, 0o600); err != nil {
			t.Fatal(err)
		}
		asks := opened(t, hurried(o))
		var keys []string
		for i := range each {
			for _, tool := range []string{"work", "ship"} {
				key := fmt.Sprint(tool, i)
				keys = append(keys, key)
				started(t, asks, asked(key, tool, "{}"))
			}
		}
		first := outcomes(t, asks, keys)
		living := make([]*workerProcess, workers)
		for i := range living {
			living[i] = spawned(t, o, count)
		}
		killed := 0
		for range kills {
			i := random.IntN(workers)
			w := living[i]
			for n := random.IntN(12); n >= 0 && w.line(t, asks); n-- {
			}
			_ = wait.For(t.Context(), time.Duration(random.IntN(int(20*time.Millisecond)))) // at any time between two lines
			w.kill(t)
			killed++
			living[i] = spawned(t, o, count)
		}
		got := first()
		for _, w := range living {
			w.kill(t)
		}
		again := outcomes(t, asks, keys)()
		wantTidied(t, o)
		calls := counted(t, count)
		interrupted, repeated := 0, 0
		for _, key := range keys {
			tool := key[:4]
			begun, ended := calls["begin "+tool+" "+key], calls["end "+tool+" "+key]
			out := got[key]
			switch {
			case again[key] != out:
				t.Errorf("%s ended with %q, and then with %q", key, out, again[key])
			case tool == "work" && (out != "done "+key || ended < 1):
				t.Errorf("%s ended with %q; begun %d times, done %d times", key, out, begun, ended)
			case tool == "ship" && begun > 1:
				t.Errorf("%s was called %d times", key, begun)
			case tool == "ship" && out != codeInterrupted && (out != "done "+key || ended != 1):
				t.Errorf("%s ended with %q; begun %d times, done %d times", key, out, begun, ended)
			}
			if out == codeInterrupted {
				interrupted++
			}
			if begun > 1 {
				repeated++
			}
		}
		t.Logf("%d tasks, %d workers killed: %d interrupted, %d repeated", len(keys), killed, interrupted, repeated)
	})
}

// TestServerKilledAgainAndAgain checks a server that is killed more often than the time
// after which a silent worker counts as dead. It must detect by the process number that
// its predecessor has died and restart its tasks at once, or a conversation would wait
// forever.
func TestServerKilledAgainAndAgain(t *testing.T) {
	t.Parallel()
	count := filepath.Join(t.TempDir(), "count")
	if err := os.WriteFile(count, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	o := hurried(Options{Path: newPath(t)})
	tool := &porttest.Tool{Known: []port.ToolSpec{{Name: "work"}}}
	tool.Run = func(context.Context, port.ToolCall, func(string)) (string, error) { return "again", nil }
	o.Resolve, o.Takeover = one(tool), time.Hour
	tasks := opened(t, o)
	key := ""
	for i := 0; key == ""; i++ {
		next := fmt.Sprint(i)
		started(t, tasks, asked(next, "work", "{}"))
		w := spawned(t, o, count)
		for line := ""; line != "begin work "+next; {
			line = take(t, w.lines)
		}
		w.kill(t)
		if r, ok, err := tasks.read(t.Context(), next); err != nil || !ok {
			t.Fatalf("there %v, error %v", ok, err)
		} else if !r.ended.Valid { // otherwise it has ended already
			key = next
		}
	}
	working(t, tasks)
	wantOutput(t, tasks, key, "again")
}

// wantTidied checks that a worker finishes the workflows that dead workers have left.
func wantTidied(t *testing.T, o Options) {
	t.Helper()
	o = hurried(o)
	o.Resolve = one(&porttest.Tool{})
	tasks := opened(t, o)
	stop := working(t, tasks)
	defer stop()
	waittest.Until(t, "nothing is left in the engine's tables", nil, func() bool {
		if err := tasks.Sweep(waittest.Context(t)); err != nil {
			t.Fatal(err)
		}
		left := rows(t, tasks)
		delete(left, "hocket_tasks")
		return empty(left)
	})
}

// done reports whether no task is running.
func done(t *testing.T, tasks *Tasks) bool {
	t.Helper()
	var n int
	if err := tasks.db.reader.QueryRowContext(t.Context(), "SELECT count(*) FROM hocket_tasks WHERE ended IS NULL").Scan(&n); err != nil {
		t.Fatal(err)
	}
	return n == 0
}
