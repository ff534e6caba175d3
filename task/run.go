package task

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"github.com/cschleiden/go-workflows/registry"
	"github.com/cschleiden/go-workflows/worker"
	"github.com/cschleiden/go-workflows/workflow"

	"github.com/hocketvoice/hocket/internal/wait"
)

const (
	workflowName = "task"
	activityName = "call"
)

// Run is the worker of this process. It runs tasks until ctx ends. Then it takes no
// more tasks, waits up to [Options.Grace] for running tools, cancels their contexts,
// waits for them, and releases the tasks that another worker can run again. Run must
// not be called while it is running.
func (t *Tasks) Run(ctx context.Context) error {
	if t.o.Resolve == nil {
		return errors.New("tasks: Resolve must be set")
	}
	if !t.running.CompareAndSwap(false, true) {
		return errors.New("tasks: Run is already running")
	}
	defer t.running.Store(false)

	// Running tools are not cancelled when ctx ends, but after the grace period.
	alive, die := context.WithCancel(context.WithoutCancel(ctx))
	defer die()
	tools, endTools := context.WithCancelCause(alive)
	defer endTools(nil)
	w := worker.New(t.engine, &worker.Options{
		WorkflowWorkerOptions: worker.WorkflowWorkerOptions{
			WorkflowPollers: 1, MaxParallelWorkflowTasks: 16, WorkflowHeartbeatInterval: t.o.beat,
			WorkflowExecutorCache: t.engine.cache,
		},
		ActivityWorkerOptions: worker.ActivityWorkerOptions{
			ActivityPollers: 1, MaxParallelActivityTasks: t.o.Parallel, ActivityHeartbeatInterval: t.o.beat,
		},
	})
	call := func(_ context.Context, key string) error { return t.carryOut(ctx, tools, key) }
	if err := errors.Join(
		w.RegisterWorkflow(bring, registry.WithName(workflowName)),
		w.RegisterActivity(call, registry.WithName(activityName)),
	); err != nil {
		return fmt.Errorf("tasks: register: %w", err)
	}
	if err := w.Start(ctx); err != nil {
		return fmt.Errorf("tasks: start the worker: %w", err)
	}
	var loops sync.WaitGroup
	loops.Go(func() { t.beats(alive) })
	loops.Go(func() { t.sweeps(ctx) })
	loops.Go(func() {
		<-ctx.Done()
		_ = wait.For(alive, t.o.Grace)
		endTools(errStopping)
	})
	<-ctx.Done()
	err := w.WaitForCompletion()
	t.engine.cache.clear()
	die()
	loops.Wait()
	return err
}

// bring is the workflow of a task: it passes the task's key to a worker.
func bring(ctx workflow.Context, key string) error {
	_, err := workflow.ExecuteActivity[any](ctx, workflow.ActivityOptions{RetryOptions: workflow.RetryOptions{MaxAttempts: 1}}, activityName, key).Get(ctx)
	return err
}

// beats gives signs of life for the tools that run in this process.
func (t *Tasks) beats(ctx context.Context) {
	for wait.For(ctx, t.o.beat) == nil {
		var workers []string
		t.mu.Lock()
		for w := range t.calls {
			workers = append(workers, w)
		}
		t.mu.Unlock()
		if len(workers) == 0 {
			continue
		}
		timeout, cancel := context.WithTimeout(ctx, t.o.Takeover)
		if err := t.beatAll(timeout, workers); err != nil && ctx.Err() == nil {
			t.o.Log.Warn("cannot give signs of life for running tasks", "err", err)
		}
		cancel()
	}
}
