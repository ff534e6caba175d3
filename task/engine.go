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

// engine changes the engine's backend in three ways: a request for work waits until
// there is some, so that work created by this process does not wait for a poll; a
// finished workflow is removed at once; and the failure of an activity is not reported,
// so that its lock expires and a worker takes it again. It is safe for concurrent use
// with one poller of each kind.
type engine struct {
	backend.Backend
	workflows, activities chan struct{} // each contains a token when there may be work
	cache                 *cache
	outage                *outage

	// steps is locked while a step is taken or completed. It guards last, the step of each
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

// ring puts a token into c unless there is one.
func ring(c chan struct{}) {
	select {
	case c <- struct{}{}:
	default: // there is a token already
	}
}

// await calls get until it returns work or an error, or ctx ends.
func await[T any](ctx context.Context, away *outage, bell chan struct{}, get func() (*T, error)) (*T, error) {
	for {
		work, err := get()
		if err == nil {
			away.answered(ctx)
		}
		if err != nil && ctx.Err() == nil {
			_ = wait.For(ctx, time.Second) // the database does not answer: wait before the next try
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

// complete writes the result of a step, unless the step was taken again by this process
// because its lock had expired. The database only distinguishes processes, and a step
// written twice would make the workflow's history unreadable.
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

var errTakenAgain = errors.New("the lock of the step has expired, and the step was taken again")

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
		// The lock has expired. The task is brought to a worker again, and its row
		// determines what happens.
		e.Options().Logger.DebugContext(ctx, "the lock of a task was lost", "err", err)
		return nil
	}
	return err
}
