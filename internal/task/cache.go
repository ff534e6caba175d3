package task

import (
	"context"
	"sync"

	"github.com/cschleiden/go-workflows/core"
	"github.com/cschleiden/go-workflows/workflow/executor"
)

// cache keeps the engine's executors for the step that they are made for, and no
// longer: a task waits for minutes, its history is short, and each executor has a
// goroutine that somebody has to end. It is safe for concurrent use.
type cache struct {
	mu   sync.Mutex // guards kept
	kept map[string]executor.WorkflowExecutor
}

var _ executor.Cache = (*cache)(nil)

func newCache() *cache { return &cache{kept: make(map[string]executor.WorkflowExecutor)} }

// Get finds the executor of a step that runs.
func (c *cache) Get(_ context.Context, i *core.WorkflowInstance) (executor.WorkflowExecutor, bool, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	e, ok := c.kept[i.ExecutionID]
	return e, ok, nil
}

// Store keeps one.
func (c *cache) Store(_ context.Context, i *core.WorkflowInstance, e executor.WorkflowExecutor) error {
	c.mu.Lock()
	before := c.kept[i.ExecutionID]
	c.kept[i.ExecutionID] = e
	c.mu.Unlock()
	if before != nil && before != e {
		before.Close()
	}
	return nil
}

// Evict ends one.
func (c *cache) Evict(_ context.Context, i *core.WorkflowInstance) error {
	c.mu.Lock()
	e := c.kept[i.ExecutionID]
	delete(c.kept, i.ExecutionID)
	c.mu.Unlock()
	if e != nil {
		e.Close()
	}
	return nil
}

// StartEviction does nothing: each step evicts its own.
func (c *cache) StartEviction(context.Context) {}

// clear ends those of steps that failed.
func (c *cache) clear() {
	c.mu.Lock()
	kept := c.kept
	c.kept = make(map[string]executor.WorkflowExecutor)
	c.mu.Unlock()
	for _, e := range kept {
		e.Close()
	}
}
