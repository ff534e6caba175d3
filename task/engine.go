package task

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/cschleiden/go-workflows/backend"
	"github.com/cschleiden/go-workflows/backend/history"
	"github.com/cschleiden/go-workflows/core"
	"github.com/cschleiden/go-workflows/workflow"

	"github.com/hocketvoice/hocket/internal/wait"
)

// engine is the engine's backend with three habits of ours: who asks for work waits
// until there is some, so that none of this process's waits for a poll; a finished
// workflow is removed at once; and an activity that has failed is not told of, so
// that its lock runs out and a worker takes it again. It is safe for concurrent use
// of one poller of each kind.
type engine struct {
	backend.Backend
	workflows, activities chan struct{} // hold one: there may be work
	cache                 *cache
	outage                *outage

	// steps is held while a step is taken or completed, and guards last: the step of each
	// workflow that was taken last.
	steps sync.Mutex
	last  map[string]*backend.WorkflowTask
}

func newEngine(d *database) *engine {
	return &engine{
		Backend: d.engine, workflows: make(chan struct{}, 1), activities: make(chan struct{}, 1), cache: newCache(), outage: d.outage,
		last: make(map[string]*backend.WorkflowTask),
	}
}

func ring(c chan struct{}) {
	select {
	case c <- struct{}{}:
	default: // it rings already
	}
}

// await asks for work until there is some, and until the end of ctx.
func await[T any](ctx context.Context, away *outage, bell chan struct{}, get func() (*T, error)) (*T, error) {
	for {
		work, err := get()
		if err == nil {
			away.answered(ctx)
		}
		if err != nil && ctx.Err() == nil {
			_ = wait.For(ctx, time.Second) // the database is gone: no need to hurry
		}
		if err != nil || work != nil {
			return work, err
		}
		timer := time.NewTimer(poll)
		select {
		case <-ctx.Done():
			timer.Stop()
			return nil, ctx.Err()
		case <-bell:
		case <-timer.C:
		}
		timer.Stop()
	}
}

func (e *engine) CreateWorkflowInstance(ctx context.Context, i *workflow.Instance, event *history.Event) error {
	err := e.Backend.CreateWorkflowInstance(ctx, i, event)
	ring(e.workflows)
	return err
}

func (e *engine) GetWorkflowTask(ctx context.Context, queues []workflow.Queue) (*backend.WorkflowTask, error) {
	return await(ctx, e.outage, e.workflows, func() (*backend.WorkflowTask, error) {
		e.steps.Lock()
		defer e.steps.Unlock()
		task, err := e.Backend.GetWorkflowTask(ctx, queues)
		if task != nil {
			e.last[task.WorkflowInstance.ExecutionID] = task
		}
		return task, err
	})
}

// complete writes what a step has done, unless it was taken again meanwhile because its
// lock had run out: the database tells only processes from each other, and what is done
// twice makes a history that nobody can read any more.
func (e *engine) complete(task *backend.WorkflowTask, write func() error) error {
	e.steps.Lock()
	defer e.steps.Unlock()
	id := task.WorkflowInstance.ExecutionID
	if e.last[id] != task {
		return errTakenAgain
	}
	delete(e.last, id)
	return write()
}

var errTakenAgain = errors.New("the step was taken again, its lock had run out")

func (e *engine) GetActivityTask(ctx context.Context, queues []workflow.Queue) (*backend.ActivityTask, error) {
	return await(ctx, e.outage, e.activities, func() (*backend.ActivityTask, error) { return e.Backend.GetActivityTask(ctx, queues) })
}

func (e *engine) CompleteWorkflowTask(ctx context.Context, task *backend.WorkflowTask, state core.WorkflowInstanceState,
	executed, activities, timers []*history.Event, workflows []*history.WorkflowEvent,
) error {
	if err := e.cache.Evict(ctx, task.WorkflowInstance); err != nil {
		return err
	}
	if err := e.complete(task, func() error {
		return e.Backend.CompleteWorkflowTask(ctx, task, state, executed, activities, timers, workflows)
	}); err != nil {
		return err
	}
	if len(activities) > 0 {
		ring(e.activities)
	}
	if state == core.WorkflowInstanceStateFinished {
		return e.remove(ctx, task.WorkflowInstance)
	}
	return nil
}

func (e *engine) remove(ctx context.Context, i *workflow.Instance) error {
	err := e.RemoveWorkflowInstance(ctx, i)
	if errors.Is(err, backend.ErrInstanceNotFound) {
		return nil
	}
	return err
}

func (e *engine) CompleteActivityTask(ctx context.Context, task *backend.ActivityTask, result *history.Event) error {
	if result.Type == history.EventType_ActivityFailed {
		return nil
	}
	err := e.Backend.CompleteActivityTask(ctx, task, result)
	ring(e.workflows)
	if err != nil && !unanswered(err) {
		// Its lock has run out: the key is brought again, and the row says what is true.
		e.Options().Logger.DebugContext(ctx, "the lock of a task was lost", "err", err)
		return nil
	}
	return err
}
