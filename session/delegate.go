package session

import (
	"context"
	"errors"
	"time"

	"github.com/hocketvoice/hocket/conv"
	"github.com/hocketvoice/hocket/internal/wait"
	"github.com/hocketvoice/hocket/port"
)

// Delegation says where delegated work runs that outlives the turn, the
// conversation and the process (seed 001, WAITING_AMPLIFIER). The zero value runs a
// long tool in the session, with which it ends.
type Delegation struct {
	Tasks port.Tasks // nil: see above
	// Sealed: Tasks encrypts what it keeps. Where it does not, work that is given a secret
	// runs in the session.
	Sealed bool
	Agent  string // whose tools they are: [port.Task]'s
	// Caller is who holds the conversation, if that is known: the results that
	// earlier conversations of theirs have left are told in this one.
	Caller string
}

const (
	// askAgain is the pause before a service that could not be reached is asked
	// again.
	askAgain = time.Second
	// leaveLimit bounds how long the end of a conversation waits for it.
	leaveLimit = 30 * time.Second
)

// outlives reports whether a call runs where it outlives the session.
func (t *tools) outlives(id string) bool {
	d := &t.s.o.Delegation
	if d.Tasks == nil || d.Sealed {
		return d.Tasks != nil
	}
	for i := range t.s.conv.State().Calls {
		if call := &t.s.conv.State().Calls[i]; call.ID == id {
			return len(call.Secrets) == 0
		}
	}
	return true
}

// delegate runs a call as a task, and posts what came of it.
func (t *tools) delegate(id string, call port.ToolCall) {
	tool := t.s.toolbox.pick(t.s.conv, id)
	d := &t.s.o.Delegation
	call.ID = t.s.keys() + call.ID
	task := port.Task{
		Key: call.ID, Call: call, Agent: d.Agent, Action: isAction(t.s.conv, id), Conversation: t.s.o.ID, Caller: d.Caller,
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

// begin starts a task, once a state is written that knows of it.
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

// follow waits for the result of a task that runs already.
func (t *tools) follow(id, key string) {
	t.launch(id, key, func(ctx context.Context, progress func(string)) (string, error) {
		return t.result(ctx, key, progress)
	})
}

// result follows a task to its end.
func (t *tools) result(ctx context.Context, key string, progress func(string)) (output string, err error) {
	err = persist(ctx, func() (err error) {
		output, err = t.s.o.Delegation.Tasks.Follow(ctx, key, progress)
		return err
	})
	return output, err
}

// launch runs a job for a task in the background. When ctx ends before the job does, or
// the conversation is somebody else's, nobody is told: the task goes on without this
// session.
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
			<-over // or a start that is on its way would come behind its end
			t.callOff(ctx, key)
			if t.s.keeper.saved(ctx, state) {
				t.forget(ctx, key)
			}
		})
	}}
}

// callOff ends a task. Its key is forgotten later: who resumes an older state finds
// that it was called off, and does not begin it anew.
func (t *tools) callOff(ctx context.Context, key string) {
	ctx, cancel := wait.Longer(ctx, saveLimit)
	defer cancel()
	_ = persist(ctx, func() error { return t.s.o.Delegation.Tasks.Cancel(ctx, key) }) // else it has a limit of its own
}

// forget has a task forgotten whose result nobody waits for any more.
func (t *tools) forget(ctx context.Context, key string) {
	ctx, cancel := wait.Longer(ctx, saveLimit)
	defer cancel()
	_ = persist(ctx, func() error { return t.s.o.Delegation.Tasks.Settle(ctx, key) }) // else it is told again, or grows old
}

// settled has a task forgotten whose result has been told. Not before that is
// written: who resumes an older state asks for the result again.
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

// adopt takes over what earlier conversations of the caller have left.
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

// leave says that the conversation has ended, so that what it has left running waits
// for the caller.
func (t *tools) leave() {
	d := &t.s.o.Delegation
	if d.Tasks == nil {
		return
	}
	t.s.spawn(func(ctx context.Context) {
		t.taking.Wait() // what comes behind the end would wait for nobody
		ctx, cancel := wait.Longer(ctx, leaveLimit)
		defer cancel()
		_ = persist(ctx, func() error { return d.Tasks.Leave(ctx, t.s.o.ID) }) // who looks for abandoned conversations says it again
	})
}

// persist asks again until it gets an answer, a [port.Failure], or ctx ends: a task
// is not lost because its database is away for a while.
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
