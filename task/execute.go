package task

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"sync"
	"time"
	"unicode/utf8"

	"github.com/hocketvoice/hocket/internal/wait"
	"github.com/hocketvoice/hocket/port"
	"github.com/hocketvoice/hocket/server/node"
)

var (
	errStopping = errors.New("the program is stopping")
	errOver     = errors.New("the task has ended")
	errNotDone  = errors.New("the task was not ended here") // the engine tries again
)

// carryOut brings a task to its end, by calling its tool or by watching the worker that
// does. If it returns an error, the engine tries again. When taking ends, no more tools
// are called; when tools ends, running tools must stop.
func (t *Tasks) carryOut(taking, tools context.Context, key string) error {
	quiet := silence{limit: t.o.Takeover}
	for {
		if taking.Err() != nil {
			return errNotDone
		}
		r, ok, err := t.read(taking, key)
		if err != nil {
			return err
		}
		if !ok || r.ended.Valid {
			return nil
		}
		if t.runs(r.worker) {
			return errNotDone // the lock expired while the database did not answer; this process still runs the task
		}
		if r.worker == "" || t.diedHere(r.worker) || quiet.over(r, time.Now()) {
			done, err := t.takeOver(taking, tools, r)
			if done || err != nil {
				return err
			}
			continue // another worker was faster
		}
		if wait.For(taking, poll) != nil {
			return errNotDone
		}
	}
}

// runs reports whether a worker belongs to this process.
func (t *Tasks) runs(worker string) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.calls[worker] != nil
}

// diedHere reports whether a worker belonged to a process on this machine that has
// died, such as the previous process with the same number. It returns false for
// PostgreSQL, where two machines may have the same name.
func (t *Tasks) diedHere(worker string) bool { return !t.db.postgres && node.DiedHere(worker) }

// silence detects a dead worker: one that gives no signs of life for a duration,
// measured by the clock of this process from the first look. Clocks of other machines
// are not used, and no worker counts as dead while the database does not answer.
type silence struct {
	limit  time.Duration
	worker string
	beat   int64
	since  time.Time
	last   time.Time
}

func (s *silence) over(r row, now time.Time) bool {
	if r.worker != s.worker || r.beat != s.beat || now.Sub(s.last) > s.limit/2 {
		s.worker, s.beat, s.since = r.worker, r.beat, now
	}
	s.last = now
	return now.Sub(s.since) >= s.limit
}

// takeOver calls the tool of a task that no worker runs, or ends the task if the tool
// must not be called again. done is false if another worker was faster.
func (t *Tasks) takeOver(taking, tools context.Context, r row) (done bool, err error) {
	task, err := t.open(r)
	if err != nil {
		return true, t.finishSure(tools, r.key, outcome{Failure: &port.Failure{Code: codeServerError, Message: "cannot read the task: " + err.Error()}})
	}
	tool, spec, err := t.find(task)
	if err != nil {
		return true, t.finishSure(tools, r.key, outcome{Failure: failure(err)})
	}
	if r.attempt > 0 && (spec.Irreversible || r.attempt >= int64(t.o.Attempts)) {
		f := &port.Failure{Code: codeInterrupted, Message: "the program was interrupted, and it is not known whether " + r.tool + " was done", Partial: t.lastText(r)}
		return true, t.finishSure(tools, r.key, outcome{Failure: f})
	}
	if deadline := time.UnixMilli(r.deadline); !t.o.Now().Before(deadline) {
		return true, t.finishSure(tools, r.key, outcome{Failure: timedOut(r.tool, t.lastText(r))})
	}
	worker := fmt.Sprintf("%s-%d", t.name, t.attempts.Add(1))
	ok, err := t.claim(taking, r, worker)
	if err != nil || !ok {
		return false, err
	}
	e := &execution{t: t, task: task, worker: worker, irreversible: spec.Irreversible, deadline: time.UnixMilli(r.deadline)}
	return true, e.run(tools, tool)
}

// find returns the tool that a task calls.
func (t *Tasks) find(task port.Task) (port.Tool, port.ToolSpec, error) {
	tool, err := t.o.Resolve(task)
	if err != nil {
		return nil, port.ToolSpec{}, err
	}
	if tool != nil {
		for _, spec := range tool.Specs() {
			if spec.Name == task.Call.Name {
				return tool, spec, nil
			}
		}
	}
	return nil, port.ToolSpec{}, &port.Failure{Code: codeToolError, Message: fmt.Sprintf("there is no tool %q", task.Call.Name)}
}

// finishSure ends a task and retries until the end is written or ctx ends.
func (t *Tasks) finishSure(ctx context.Context, key string, end outcome) error {
	return retry(ctx, 1<<30, func() error {
		err := t.finish(ctx, key, end)
		if err != nil && ctx.Err() == nil {
			t.o.Log.Warn("cannot write the end of a task, trying again", "task", key, "err", err)
		}
		return err
	})
}

// failure converts an error to a failure with a class.
func failure(err error) *port.Failure {
	if f, ok := errors.AsType[*port.Failure](err); ok {
		return f
	}
	return &port.Failure{Code: codeToolError, Message: err.Error()}
}

// execution is one attempt. It must be used by the goroutine that runs it, except for
// say.
type execution struct {
	t            *Tasks
	task         port.Task
	worker       string
	irreversible bool
	deadline     time.Time

	mu     sync.Mutex // guards text and number
	text   string
	number int
	said   chan struct{} // contains a token when there is a new text
}

// run calls the tool and ends the task.
func (e *execution) run(tools context.Context, tool port.Tool) error {
	t := e.t
	e.said = make(chan struct{}, 1)
	t.mu.Lock()
	t.calls[e.worker] = e
	t.mu.Unlock()
	defer func() {
		t.mu.Lock()
		delete(t.calls, e.worker)
		t.mu.Unlock()
	}()
	ctx, cancel := context.WithCancelCause(tools)
	defer cancel(nil)
	limited, stop := context.WithTimeoutCause(ctx, e.deadline.Sub(t.o.Now()), context.DeadlineExceeded)
	defer stop()

	var beside sync.WaitGroup
	noted, noMore := context.WithCancel(context.WithoutCancel(tools))
	beside.Go(func() { e.notes(noted) })
	beside.Go(func() { e.listen(limited, cancel) })
	output, err := call(limited, tool, e.task.Call, e.say)
	cause := context.Cause(limited)
	cancel(nil)
	noMore()
	beside.Wait()
	return e.end(tools, output, err, cause)
}

// call calls a tool. A panic of the tool is returned as an error.
func call(ctx context.Context, tool port.Tool, c port.ToolCall, progress func(string)) (output string, err error) {
	defer func() {
		if p := recover(); p != nil {
			output, err = "", &port.Failure{Code: codeToolError, Message: fmt.Sprintf("%s panicked: %v", c.Name, p)}
		}
	}()
	if c.Arguments == "" {
		c.Arguments = "{}"
	}
	if !json.Valid([]byte(c.Arguments)) {
		return "", &port.Failure{Code: codeToolError, Message: fmt.Sprintf("the arguments of %q are not valid JSON", c.Name)}
	}
	return tool.Call(ctx, c, progress)
}

// end records how the tool ended. cause is the cause with which its context ended, or
// nil.
func (e *execution) end(tools context.Context, output string, err, cause error) error {
	e.mu.Lock()
	partial := e.text
	e.mu.Unlock()
	sure, stop := wait.Longer(tools, e.t.o.Grace+time.Second) // must be written even if the program stops
	defer stop()
	f := &port.Failure{Code: codeTimeout, Message: e.task.Call.Name + " took too long"}
	switch {
	case err == nil:
		return e.t.finishSure(sure, e.task.Key, outcome{Output: cut(output, maxOutput)})
	case errors.Is(cause, errOver):
		return nil
	case errors.Is(cause, errStopping) && !e.irreversible:
		return errors.Join(errNotDone, e.t.release(sure, e.task.Key, e.worker))
	case errors.Is(cause, errStopping):
		f = &port.Failure{Code: codeInterrupted, Message: "the program was ended, and it is not known whether " + e.task.Call.Name + " was done"}
	case errors.Is(cause, context.DeadlineExceeded):
	default:
		return e.t.finishSure(sure, e.task.Key, outcome{Failure: failure(err)})
	}
	if own, ok := errors.AsType[*port.Failure](err); ok {
		f.Partial = own.Partial
	}
	if f.Partial == "" {
		f.Partial = partial
	}
	return e.t.finishSure(sure, e.task.Key, outcome{Failure: f})
}

// listen cancels the tool's context when the task is ended by somebody else.
func (e *execution) listen(ctx context.Context, end context.CancelCauseFunc) {
	sub := e.t.watch.follow(e.task.Key)
	defer e.t.watch.leave(sub)
	for {
		r, ok, err := e.t.read(ctx, e.task.Key)
		if err == nil && (!ok || r.ended.Valid) {
			end(errOver)
			return
		}
		select {
		case <-ctx.Done():
			return
		case <-sub.changed:
		}
	}
}

// say records a progress text of the tool without blocking. Only the newest text
// counts. An empty text, which is a sign of life, is ignored: the worker gives its own.
func (e *execution) say(text string) {
	if text == "" {
		return
	}
	e.mu.Lock()
	e.text, e.number = cut(text, maxText), e.number+1
	e.mu.Unlock()
	ring(e.said)
}

// cut shortens a text to at most n bytes without splitting a character.
func cut(text string, n int) string {
	if len(text) <= n {
		return text
	}
	for n > 0 && !utf8.RuneStart(text[n]) {
		n--
	}
	return text[:n]
}

// notes writes the tool's progress until ctx ends, including the last text.
func (e *execution) notes(ctx context.Context) {
	sure := context.WithoutCancel(ctx) // each statement has its own time limit
	written := 0
	write := func() {
		e.mu.Lock()
		text, number := e.text, e.number
		e.mu.Unlock()
		if number == written {
			return
		}
		if err := e.t.note(sure, e.task.Key, e.worker, text); err != nil {
			e.t.o.Log.Warn("cannot write the progress of a task", "task", e.task.Key, "err", err)
			return
		}
		written = number
	}
	for {
		select {
		case <-ctx.Done():
			write()
			return
		case <-e.said:
			write()
			_ = wait.For(ctx, noteEvery)
		}
	}
}
