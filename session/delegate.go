package session

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/hocketvoice/hocket/conv"
	"github.com/hocketvoice/hocket/internal/wait"
	"github.com/hocketvoice/hocket/port"
)

// Delegation says where delegated work runs that can outlive the turn, the conversation and
// the process (seed 001, WAITING_AMPLIFIER). The zero value runs such work in the session; it
// ends with the session.
type Delegation struct {
	// Tasks runs the delegated work. If it is nil, the session does.
	Tasks port.Tasks
	// Sealed says that Tasks encrypts what it stores. Otherwise a call with a secret runs in
	// the session.
	Sealed bool
	// Agent is the agent whose tools run, see [port.Task].
	Agent string
	// Caller identifies the person, or is empty if they are not known. Results that the
	// person's earlier conversations have not told are told in this one.
	Caller string
}

const (
	// askAgain is the pause before the next try after Tasks could not be reached.
	askAgain = time.Second
	// leaveLimit limits how long a conversation at its end tries to reach Tasks.
	leaveLimit = 30 * time.Second
)

// outlives reports whether a call runs as a task, which outlives the session.
func (t *tools) outlives(id string) bool {
	d := &t.s.o.Delegation
	if d.Tasks == nil || d.Sealed {
		return d.Tasks != nil
	}
	return !t.secret(id)
}

// secret reports whether a call has secret arguments.
func (t *tools) secret(id string) bool {
	return slices.ContainsFunc(t.s.conv.State().Calls, func(call conv.Call) bool { return call.ID == id && len(call.Secrets) > 0 })
}

// delegate runs a call as a task and posts its result.
func (t *tools) delegate(id string, call port.ToolCall) {
	tool := t.s.toolbox.pick(t.s.conv, id)
	d := &t.s.o.Delegation
	call.ID = t.s.keys() + call.ID
	task := port.Task{
		Key: call.ID, Call: call, Agent: d.Agent, Action: isAction(t.s.conv, id), Conversation: t.s.o.ID, Caller: d.Caller, Secret: t.secret(id),
		Limit: t.s.conv.Options().Limits.Task,
	}
	state := t.s.keeper.position()
	t.taking.Add(1)
	t.launch(id, task.Key, func(ctx context.Context, progress func(string)) (string, error) {
		err := t.begin(ctx, tool, task, state)
		t.taking.Done()
		if err != nil {
			return "", err
		}
		return t.result(ctx, task.Key, progress)
	})
}

// begin starts a task after the state with its call is written.
func (t *tools) begin(ctx context.Context, tool port.Tool, task port.Task, state int) error {
	call, err := checked(tool, task.Call)
	if err != nil {
		return err
	}
	task.Call = call
	if !t.s.keeper.settle(ctx, state) {
		return port.ErrFenced
	}
	return persist(ctx, func() error { return t.s.o.Delegation.Tasks.Start(ctx, task) })
}

// follow waits for the result of a task that was started before, and posts it.
func (t *tools) follow(id, key string) {
	t.launch(id, key, func(ctx context.Context, progress func(string)) (string, error) {
		return t.result(ctx, key, progress)
	})
}

// result waits for the result of a task and returns it.
func (t *tools) result(ctx context.Context, key string, progress func(string)) (output string, err error) {
	err = persist(ctx, func() (err error) {
		output, err = t.s.o.Delegation.Tasks.Follow(ctx, key, progress)
		return err
	})
	return output, err
}

// launch runs job, which waits for a task, in the background and posts its outcome. It posts
// nothing if the session ends before job does, or if another process has the conversation: the
// task then continues without this session.
func (t *tools) launch(id, key string, job func(ctx context.Context, progress func(string)) (string, error)) {
	t.mu.Lock()
	defer t.mu.Unlock()
	over := make(chan struct{})
	stop := t.s.spawn(func(ctx context.Context) {
		output, err := job(ctx, func(text string) { t.s.postFact(conv.TaskProgress{ID: id, Text: text}) })
		close(over)
		if ctx.Err() == nil && !errors.Is(err, port.ErrFenced) {
			t.s.postFact(callEnded(id, true, output, err))
		}
	})
	t.running[id] = runningCall{key, func() {
		stop()
		state := t.s.keeper.position()
		t.s.spawn(func(ctx context.Context) {
			<-over // otherwise the task might be started after it was cancelled
			t.callOff(ctx, key)
			if t.s.keeper.saved(ctx, state) {
				t.forget(ctx, key)
			}
		})
	}}
}

// callOff cancels a task. Tasks still stores its key, so that a process that resumes an older
// state finds the task cancelled and does not start it again. See forget.
func (t *tools) callOff(ctx context.Context, key string) {
	ctx, cancel := wait.Longer(ctx, saveLimit)
	defer cancel()
	_ = persist(ctx, func() error { return t.s.o.Delegation.Tasks.Cancel(ctx, key) }) // on failure, the task ends at its own limit
}

// forget makes Tasks forget a task whose result is no longer needed.
func (t *tools) forget(ctx context.Context, key string) {
	ctx, cancel := wait.Longer(ctx, saveLimit)
	defer cancel()
	_ = persist(ctx, func() error { return t.s.o.Delegation.Tasks.Settle(ctx, key) }) // on failure, the result is told again, or expires
}

// settled makes Tasks forget a task whose result has been told, after the state that says so is
// written: a process that resumes an older state asks for the result again.
func (t *tools) settled(e conv.SettleTask) {
	key := e.Key
	if key == "" {
		key = e.ID
	}
	if !e.Adopted {
		key = t.s.keys() + key
	}
	t.mu.Lock()
	if t.running[e.ID].task == key {
		delete(t.running, e.ID)
	}
	t.mu.Unlock()
	state := t.s.keeper.position()
	t.s.spawn(func(ctx context.Context) {
		if t.s.keeper.saved(ctx, state) {
			t.forget(ctx, key)
		}
	})
}

// adopt takes over the tasks that earlier conversations of the caller have left.
func (t *tools) adopt() {
	d := &t.s.o.Delegation
	if d.Tasks == nil || d.Caller == "" {
		return
	}
	t.taking.Add(1)
	t.s.spawn(func(ctx context.Context) {
		var tasks []port.Task
		err := persist(ctx, func() (err error) {
			tasks, err = d.Tasks.Adopt(ctx, d.Caller, t.s.o.ID)
			return err
		})
		t.taking.Done()
		if err != nil {
			return // ctx has ended
		}
		for _, task := range tasks {
			t.s.postFact(conv.TaskAdopted{Key: task.Key, Name: task.Call.Name, Arguments: task.Call.Arguments})
		}
	})
}

// leave tells Tasks that the conversation has ended. The results of its tasks then wait for the
// next conversation of the caller.
func (t *tools) leave() {
	d := &t.s.o.Delegation
	if d.Tasks == nil {
		return
	}
	t.s.spawn(func(ctx context.Context) {
		t.taking.Wait() // a task that is started or adopted after Leave would be left to no one
		ctx, cancel := wait.Longer(ctx, leaveLimit)
		defer cancel()
		_ = persist(ctx, func() error { return d.Tasks.Leave(ctx, t.s.o.ID) }) // on failure, the search for abandoned conversations repeats it
	})
}

// persist calls ask until it returns nil or a [*port.Failure], or until ctx ends. So a task is
// not lost when its database cannot be reached for a while.
func persist(ctx context.Context, ask func() error) error {
	for {
		err := ask()
		if _, answered := errors.AsType[*port.Failure](err); err == nil || answered {
			return err
		}
		if wait.For(ctx, askAgain) != nil {
			return err
		}
	}
}
