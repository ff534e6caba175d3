package task

import (
	"context"
	"sync"
	"time"

	"github.com/cschleiden/go-workflows/core"
	"github.com/cschleiden/go-workflows/workflow/executor"
)

// cache holds the executors of the engine, one for each step, and closes it when the
// step ends. It keeps none for later steps: a task waits for minutes, its history is
// short, and an executor that is kept would need somebody to end its goroutine. If the
// lock of a step expires, the step may run twice at the same time; executors must not
// be shared, so each of the two has its own. cache is safe for concurrent use.
type cache struct {
	mu   sync.Mutex                     // guards kept
	kept map[*core.WorkflowInstance]own // each step has its own instance
}

// own is the executor of a step.
type own struct {
	executor executor.WorkflowExecutor
	since    time.Time
}

// failedStep is the age at which executors are closed. The engine does not evict the
// executors of failed steps.
const failedStep = 10 * time.Minute

var _ executor.Cache = (*cache)(nil)

func newCache() *cache { return &cache{kept: make(map[*core.WorkflowInstance]own)} }

// Get returns the executor of a running step.
func (c *cache) Get(_ context.Context, i *core.WorkflowInstance) (executor.WorkflowExecutor, bool, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	e, ok := c.kept[i]
	return e.executor, ok, nil
}

// Store stores an executor, and closes those of steps that failed long ago.
func (c *cache) Store(_ context.Context, i *core.WorkflowInstance, e executor.WorkflowExecutor) error {
	now := time.Now()
	c.mu.Lock()
	before, kept := c.kept[i]
	c.kept[i] = own{e, now}
	c.mu.Unlock()
	if kept && before.executor != e {
		before.executor.Close()
	}
	c.end(func(o own) bool { return now.Sub(o.since) > failedStep })
	return nil
}

// Evict closes an executor.
func (c *cache) Evict(_ context.Context, i *core.WorkflowInstance) error {
	c.mu.Lock()
	e, ok := c.kept[i]
	delete(c.kept, i)
	c.mu.Unlock()
	if ok {
		e.executor.Close()
	}
	return nil
}

// StartEviction does nothing, since each step evicts its own executor.
func (c *cache) StartEviction(context.Context) {}

// clear closes all remaining executors, which are those of failed steps.
func (c *cache) clear() { c.end(func(own) bool { return true }) }

func (c *cache) end(which func(own) bool) {
	c.mu.Lock()
	var over []own
	for i, o := range c.kept {
		if which(o) {
			over = append(over, o)
			delete(c.kept, i)
		}
	}
	c.mu.Unlock()
	for _, o := range over {
		o.executor.Close()
	}
}
