package task

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/cschleiden/go-workflows/backend"
	"github.com/cschleiden/go-workflows/core"
	"github.com/cschleiden/go-workflows/workflow/executor"
)

// closing is an executor that counts the calls of Close.
type closing struct{ closed int }

func (c *closing) ExecuteTask(context.Context, *backend.WorkflowTask) (*executor.ExecutionResult, error) {
	return nil, nil //nolint:nilnil // not called
}
func (c *closing) Close() { c.closed++ }

// TestStepsHaveTheirOwnExecutor checks that two concurrent steps of one workflow have
// different executors, that the end of a step closes its executor, and that executors
// of failed steps are closed later.
func TestStepsHaveTheirOwnExecutor(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCache()
		var steps [3]*core.WorkflowInstance
		var executors [3]closing
		for i := range steps {
			steps[i] = core.NewWorkflowInstance("task", "execution")
			if e, ok, err := c.Get(t.Context(), steps[i]); ok || err != nil {
				t.Fatalf("step %d gets %v, error %v", i, e, err)
			}
			if err := c.Store(t.Context(), steps[i], &executors[i]); err != nil {
				t.Fatal(err)
			}
		}
		want := func(closed ...int) {
			t.Helper()
			for i, n := range closed {
				if executors[i].closed != n {
					t.Errorf("executor %d was ended %d times, expected %d", i, executors[i].closed, n)
				}
			}
		}
		want(0, 0, 0)
		for range 2 {
			if err := c.Evict(t.Context(), steps[1]); err != nil {
				t.Fatal(err)
			}
		}
		want(0, 1, 0)
		time.Sleep(failedStep + time.Second)
		if err := c.Store(t.Context(), steps[2], &executors[2]); err != nil { // the step continues
			t.Fatal(err)
		}
		want(1, 1, 0)
		c.clear()
		want(1, 1, 1)
	})
}
