package porttest

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/hocketvoice/hocket/port"
)

// TestTasks is the conformance suite of port.Tasks. open must return an empty store
// of tasks with a worker that runs the tool for every agent; the tool's "ship" is
// irreversible.
func TestTasks(t *testing.T, open func(t *testing.T, tool port.Tool) port.Tasks) {
	for _, rule := range []struct {
		name string
		test func(*tasksTest)
	}{
		{"a task runs once and ends with what its tool says", taskRuns},
		{"a key is one task", taskOnce},
		{"progress is heard, the last for certain", taskProgress},
		{"a failure keeps its class", taskFails},
		{"a tool that panics fails", taskPanics},
		{"a limit ends it, and what there is of a result stays", taskLimit},
		{"cancel ends it and its tool", taskCancelled},
		{"cancel leaves a result alone", taskCancelledLate},
		{"what nobody knows is a failure, and no error to end", taskUnknown},
		{"who stops following leaves it alone", taskLeftAlone},
		{"several follow one task", taskFollowers},
		{"what is settled is forgotten", taskSettled},
		{"a caller's tasks outlive the conversation", taskLeft},
		{"nobody's tasks end with it", taskNobodys},
		{"a waiting task is given to one conversation", taskAdopted},
		{"what is kept of a caller is listed", taskListed},
		{"what is kept of a caller is deleted", taskDeleted},
	} {
		t.Run(rule.name, func(t *testing.T) {
			tt := &tasksTest{T: t}
			tt.tool = &Tool{Known: []port.ToolSpec{{Name: "work", Long: true}, {Name: "ship", Long: true, Irreversible: true}}}
			tt.tool.Run = func(ctx context.Context, call port.ToolCall, progress func(string)) (string, error) {
				return tt.run(ctx, call, progress)
			}
			tt.run = func(_ context.Context, call port.ToolCall, _ func(string)) (string, error) {
				return "done: " + call.Arguments, nil
			}
			tt.Tasks = open(t, tt.tool)
			rule.test(tt)
		})
	}
}

type tasksTest struct {
	*testing.T
	port.Tasks
	tool *Tool
	run  func(ctx context.Context, call port.ToolCall, progress func(string)) (string, error)
}

// soon returns a context that bounds what a rule waits for.
func (t *tasksTest) soon() context.Context {
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	t.Cleanup(cancel)
	return ctx
}

func (t *tasksTest) task(key string) port.Task {
	return port.Task{Key: key, Call: port.ToolCall{ID: key, Name: "work", Arguments: `{"n":1}`}, Agent: "a", Conversation: "conv"}
}

func (t *tasksTest) start(task port.Task) {
	t.Helper()
	if err := t.Start(t.soon(), task); err != nil {
		t.Fatalf("start %s: %v", task.Key, err)
	}
}

func (t *tasksTest) ok(err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func (t *tasksTest) wantOutput(key, want string) {
	t.Helper()
	if got, err := t.Follow(t.soon(), key, nil); err != nil || got != want {
		t.Fatalf("task %s gives %q, error %v, expected %q", key, got, err, want)
	}
}

func (t *tasksTest) wantFailure(key, code string) port.Failure {
	t.Helper()
	got, err := t.Follow(t.soon(), key, nil)
	var f *port.Failure
	if !errors.As(err, &f) || f.Code != code || got != "" {
		t.Fatalf("task %s gives %q, error %v, expected a failure %s", key, got, err, code)
	}
	return *f
}

// blocks makes the tool wait for the end of its context and report it. Its sign of
// life must not replace its last progress.
func (t *tasksTest) blocks() (begun, ended chan string) {
	begun, ended = make(chan string, 100), make(chan string, 100)
	t.run = func(ctx context.Context, call port.ToolCall, progress func(string)) (string, error) {
		progress("half of it")
		progress("")
		begun <- call.ID
		<-ctx.Done()
		ended <- call.ID
		return "", ctx.Err()
	}
	return begun, ended
}

func (t *tasksTest) wait(c <-chan string, want string) {
	t.Helper()
	select {
	case got := <-c:
		if got != want {
			t.Fatalf("%q, expected %q", got, want)
		}
	case <-t.soon().Done():
		t.Fatalf("nothing, expected %q", want)
	}
}

func taskRuns(t *tasksTest) {
	task := t.task("k")
	t.start(task)
	t.wantOutput("k", `done: {"n":1}`)
	t.wantOutput("k", `done: {"n":1}`) // the result is kept
	if calls := t.tool.Calls(); len(calls) != 1 || calls[0] != task.Call {
		t.Errorf("calls %+v, expected one, %+v", calls, task.Call)
	}
}

func taskOnce(t *tasksTest) {
	var g sync.WaitGroup
	for range 8 {
		g.Go(func() {
			if err := t.Start(t.soon(), t.task("k")); err != nil {
				t.Errorf("start: %v", err)
			}
		})
	}
	g.Wait()
	t.wantOutput("k", `done: {"n":1}`)
	t.start(t.task("k"))
	t.start(t.task("other"))
	t.wantOutput("k", `done: {"n":1}`)
	t.wantOutput("other", `done: {"n":1}`)
	if calls := t.tool.Calls(); len(calls) != 2 {
		t.Errorf("%d calls, expected one of each key: %+v", len(calls), calls)
	}
}

func taskProgress(t *tasksTest) {
	heard := make(chan string, 1000)
	goOn := make(chan struct{})
	t.run = func(ctx context.Context, _ port.ToolCall, progress func(string)) (string, error) {
		for i := range 50 {
			progress(fmt.Sprint("step ", i))
		}
		progress("")
		select {
		case <-goOn:
		case <-ctx.Done():
		}
		progress("nearly there")
		return "ok", nil
	}
	t.start(t.task("k"))
	done := make(chan error, 1)
	go func() {
		_, err := t.Follow(t.soon(), "k", func(s string) { heard <- s })
		done <- err
	}()
	var texts []string
	until := func(want string) {
		for len(texts) == 0 || texts[len(texts)-1] != want {
			select {
			case s := <-heard:
				if s != "" {
					texts = append(texts, s)
				}
			case <-t.soon().Done():
				t.Fatalf("heard %q, expected %q", texts, want)
			}
		}
	}
	until("step 49")
	close(goOn)
	until("nearly there")
	if err := <-done; err != nil {
		t.Fatal(err)
	}
}

func taskFails(t *tasksTest) {
	want := port.Failure{Code: "RATE_LIMIT", Message: "not now: ä\x00\n", Retryable: true, After: 3 * time.Second, Partial: "some of it"}
	t.run = func(_ context.Context, call port.ToolCall, _ func(string)) (string, error) {
		if call.ID == "plain" {
			return "", errors.New("broken")
		}
		return "", fmt.Errorf("wrapped: %w", &want)
	}
	t.start(t.task("k"))
	if got := t.wantFailure("k", "RATE_LIMIT"); got != want {
		t.Errorf("%+v, expected %+v", got, want)
	}
	t.start(t.task("plain"))
	if got := t.wantFailure("plain", "TOOL_ERROR"); got.Message != "broken" {
		t.Errorf("%+v", got)
	}
	missing := t.task("missing")
	missing.Call.Name = "nonesuch"
	t.start(missing)
	t.wantFailure("missing", "TOOL_ERROR")
}

func taskPanics(t *tasksTest) {
	t.run = func(context.Context, port.ToolCall, func(string)) (string, error) { panic("oh dear") }
	t.start(t.task("k"))
	t.wantFailure("k", "TOOL_ERROR")
}

func taskLimit(t *tasksTest) {
	begun, ended := t.blocks()
	task := t.task("k")
	task.Limit = time.Second
	t.start(task)
	t.wait(begun, "k")
	f := t.wantFailure("k", "TASK_TIMEOUT")
	t.wait(ended, "k")
	if f.Partial != "half of it" {
		t.Errorf("%+v, expected the last progress as partial result", f)
	}
}

func taskCancelled(t *tasksTest) {
	begun, ended := t.blocks()
	t.start(t.task("k"))
	t.wait(begun, "k")
	t.ok(t.Cancel(t.soon(), "k"))
	t.wait(ended, "k")
	t.wantFailure("k", "CANCELLED")
	t.ok(t.Cancel(t.soon(), "k"))
	t.wantFailure("k", "CANCELLED")
	t.start(t.task("k")) // the key is known
	t.wantFailure("k", "CANCELLED")
}

func taskCancelledLate(t *tasksTest) {
	t.start(t.task("k"))
	t.wantOutput("k", `done: {"n":1}`)
	t.ok(t.Cancel(t.soon(), "k"))
	t.wantOutput("k", `done: {"n":1}`)
}

func taskUnknown(t *tasksTest) {
	t.wantFailure("k", "NOT_FOUND")
	t.ok(t.Cancel(t.soon(), "k"))
	t.ok(t.Settle(t.soon(), "k"))
	t.ok(t.Leave(t.soon(), "nowhere"))
	if tasks, err := t.Adopt(t.soon(), "nobody", "conv"); err != nil || len(tasks) != 0 {
		t.Errorf("%v, error %v", tasks, err)
	}
	if tasks, err := t.Adopt(t.soon(), "", "conv"); err != nil || len(tasks) != 0 {
		t.Errorf("no caller: %v, error %v", tasks, err)
	}
}
