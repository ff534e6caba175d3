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

// Run is this process's worker: it runs tasks until ctx ends, takes no more then,
// gives the tools that run [Options.Grace] to end, ends their contexts, waits for
// them, and gives back what another worker can do again. It runs once at a time.
func (t *Tasks) Run(ctx context.Context) error {
	if t.o.Resolve == nil {
		return errors.New("tasks: Resolve is nil, expected what finds an agent's tool")
	}
	if !t.running.CompareAndSwap(false, true) {
		return errors.New("tasks: they run already")
	}
	defer t.running.Store(false)

	// What runs is not ended with ctx, but by the grace after it.
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

// bring is the workflow of a task: it brings its key to a worker.
func bring(ctx workflow.Context, key string) error {
	_, err := workflow.ExecuteActivity[any](ctx, workflow.ActivityOptions{RetryOptions: workflow.RetryOptions{MaxAttempts: 1}}, activityName, key).Get(ctx)
	return err
}

// beats give signs of life of the tools that run here.
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
			t.o.Log.Warn("the tasks that run cannot be said to live", "err", err)
		}
		cancel()
	}
}
