package porttest

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/hocketvoice/hocket/port"
)

var (
	_ port.Tasks       = (*Tasks)(nil)
	_ port.TaskArchive = (*Tasks)(nil)
)

// Tasks keeps tasks in memory and runs them at once, in its own goroutines. It is
// safe for concurrent use. Close ends all tasks.
type Tasks struct {
	Tool port.Tool // serves every agent

	mu    sync.Mutex // guards the fields below
	order []*memoryTask
	runs  sync.WaitGroup
}

type memoryTask struct {
	port.Task
	waiting bool
	adopted bool // begun by another conversation
	stop    context.CancelFunc

	text    string        // the last progress
	count   int           // number of progress texts
	signs   int           // number of signs of life
	ended   bool          // with output or err
	changed chan struct{} // closed at the next change
	output  string
	err     error

	created, over time.Time
}

func (t *memoryTask) change() {
	close(t.changed)
	t.changed = make(chan struct{})
}

// end requires the lock.
func (t *memoryTask) end(output string, err error) {
	if t.ended {
		return
	}
	t.ended, t.output, t.err, t.over = true, output, err, time.Now()
	t.stop()
	t.change()
}

func called(code, message string) *port.Failure { return &port.Failure{Code: code, Message: message} }

func (m *Tasks) find(key string) *memoryTask {
	for _, t := range m.order {
		if t.Key == key {
			return t
		}
	}
	return nil
}

// drop requires the lock.
func (m *Tasks) drop(which func(*memoryTask) bool) {
	var kept []*memoryTask
	for _, t := range m.order {
		if !which(t) {
			kept = append(kept, t)
			continue
		}
		t.end("", called("CANCELLED", "it was called off"))
	}
	m.order = kept
}

// Start runs a task.
func (m *Tasks) Start(ctx context.Context, task port.Task) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.find(task.Key) != nil {
		return nil
	}
	t := &memoryTask{Task: task, changed: make(chan struct{}), created: time.Now()}
	limit := task.Limit
	if limit <= 0 {
		limit = 5 * time.Minute
	}
	run, stop := context.WithTimeout(context.WithoutCancel(ctx), limit)
	t.stop = stop
	m.order = append(m.order, t)
	m.runs.Go(func() { m.run(run, t) })
	return nil
}

func (m *Tasks) run(ctx context.Context, t *memoryTask) {
	defer t.stop()
	output, err := m.call(ctx, t)
	m.mu.Lock()
	defer m.mu.Unlock()
	var f *port.Failure
	switch {
	case err == nil:
	case errors.Is(ctx.Err(), context.DeadlineExceeded):
		late := called("TASK_TIMEOUT", "it took too long")
		if errors.As(err, &f) {
			late.Partial = f.Partial
		}
		if late.Partial == "" {
			late.Partial = t.text
		}
		err = late
	case !errors.As(err, &f):
		err = called("TOOL_ERROR", err.Error())
	default:
		err = f
	}
	t.end(output, err)
}

func (m *Tasks) call(ctx context.Context, t *memoryTask) (output string, err error) {
	defer func() {
		if p := recover(); p != nil {
			err = called("TOOL_ERROR", fmt.Sprint("the tool panicked: ", p))
		}
	}()
	return m.Tool.Call(ctx, t.Call, func(text string) {
		m.mu.Lock()
		defer m.mu.Unlock()
		switch {
		case t.ended:
			return
		case text == "":
			t.signs++
		default:
			t.text, t.count = text, t.count+1
		}
		t.change()
	})
}

// Follow waits for a task.
func (m *Tasks) Follow(ctx context.Context, key string, progress func(string)) (string, error) {
	m.mu.Lock()
	t := m.find(key)
	m.mu.Unlock()
	if t == nil {
		return "", called("NOT_FOUND", fmt.Sprintf("there is no task %q", key))
	}
	if progress == nil {
		progress = func(string) {}
	}
	for heard, felt := 0, 0; ; {
		m.mu.Lock()
		ended, changed, text, count, signs := t.ended, t.changed, t.text, t.count, t.signs
		m.mu.Unlock()
		if count > heard {
			progress(text)
		} else if signs > felt {
			progress("")
		}
		heard, felt = count, signs
		if ended {
			return t.output, t.err
		}
		select {
		case <-ctx.Done():
			return "", ctx.Err()
		case <-changed:
		}
	}
}

// Cancel cancels a task.
func (m *Tasks) Cancel(ctx context.Context, key string) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if t := m.find(key); t != nil {
		t.end("", called("CANCELLED", "it was called off"))
	}
	return nil
}

// Settle deletes a task.
func (m *Tasks) Settle(ctx context.Context, key string) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	m.drop(func(t *memoryTask) bool { return t.Key == key })
	return nil
}

// Leave reports the end of a conversation.
func (m *Tasks) Leave(ctx context.Context, conversation string) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	m.drop(func(t *memoryTask) bool { return !t.waiting && t.Conversation == conversation && t.Caller == "" })
	for _, t := range m.order {
		t.waiting = t.waiting || t.Conversation == conversation
	}
	return nil
}

// Adopt gives the waiting tasks of a caller to a conversation.
func (m *Tasks) Adopt(ctx context.Context, caller, conversation string) ([]port.Task, error) {
	if err := ctx.Err(); err != nil || caller == "" {
		return nil, err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	var given []port.Task
	for _, t := range m.order {
		if t.waiting && t.Caller == caller {
			t.waiting, t.adopted, t.Conversation = false, true, conversation
		}
		if t.adopted && !t.waiting && t.Conversation == conversation {
			given = append(given, t.Task)
		}
	}
	return given, nil
}

// TasksOf returns the tasks of a caller.
func (m *Tasks) TasksOf(ctx context.Context, caller string) ([]port.TaskRecord, error) {
	if err := ctx.Err(); err != nil || caller == "" {
		return nil, err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	var list []port.TaskRecord
	for _, t := range m.order {
		if t.Caller != caller {
			continue
		}
		r := port.TaskRecord{Task: t.Task, Created: t.created, Ended: t.over, Progress: t.text, Output: t.output}
		if f, ok := errors.AsType[*port.Failure](t.err); ok {
			r.Failure = f
		}
		list = append(list, r)
	}
	return list, nil
}

// DeleteTasksOf deletes the tasks of a caller.
func (m *Tasks) DeleteTasksOf(ctx context.Context, caller string, spare func(string) bool) (deleted int, err error) {
	if err := ctx.Err(); err != nil || caller == "" {
		return 0, err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	before := len(m.order)
	m.drop(func(t *memoryTask) bool { return t.Caller == caller && (spare == nil || !spare(t.Conversation)) })
	return before - len(m.order), nil
}

// Keys returns the keys of the known tasks, the oldest first.
func (m *Tasks) Keys() []string {
	m.mu.Lock()
	defer m.mu.Unlock()
	var keys []string
	for _, t := range m.order {
		keys = append(keys, t.Key)
	}
	return keys
}

// Close cancels all tasks and waits until their tools have returned.
func (m *Tasks) Close() {
	m.mu.Lock()
	m.drop(func(*memoryTask) bool { return true })
	m.mu.Unlock()
	m.runs.Wait()
}
