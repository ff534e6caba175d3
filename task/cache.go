package task

import (
	"context"
	"sync"
	"time"

	"github.com/cschleiden/go-workflows/core"
	"github.com/cschleiden/go-workflows/workflow/executor"
)

// cache keeps the engine's executors for the step that they are made for, and no
// longer: a task waits for minutes, its history is short, and each executor has a
// goroutine that somebody has to end. A step whose lock has run out may be carried out
// twice at once; an executor is not made for that, and each of the two has its own. It is
// safe for concurrent use.
type cache struct {
	mu   sync.Mutex                     // guards kept
	kept map[*core.WorkflowInstance]own // each step has an instance of its own
}

// own is a step's executor.
type own struct {
	executor executor.WorkflowExecutor
	since    time.Time
}

// failedStep is how old an executor is whose step has failed: nobody tells of those.
const failedStep = 10 * time.Minute

var _ executor.Cache = (*cache)(nil)

func newCache() *cache { return &cache{kept: make(map[*core.WorkflowInstance]own)} }

// Get finds the executor of a step that runs.
func (c *cache) Get(_ context.Context, i *core.WorkflowInstance) (executor.WorkflowExecutor, bool, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	e, ok := c.kept[i]
	return e.executor, ok, nil
}

// Store keeps one, and ends those of steps that failed long ago.
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

// Evict ends one.
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

// StartEviction does nothing: each step evicts its own.
func (c *cache) StartEviction(context.Context) {}

// clear ends those of steps that failed.
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
