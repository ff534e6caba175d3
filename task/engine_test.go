package task

import (
	"context"
	"errors"
	"testing"

	"github.com/cschleiden/go-workflows/backend"
	"github.com/cschleiden/go-workflows/backend/history"
	"github.com/cschleiden/go-workflows/core"
	"github.com/cschleiden/go-workflows/workflow"
)

// forgetful returns the same step repeatedly, as if its lock had expired, and accepts
// every result.
type forgetful struct {
	backend.Backend
	completed int
}

func (*forgetful) GetWorkflowTask(context.Context, []workflow.Queue) (*backend.WorkflowTask, error) {
	return &backend.WorkflowTask{WorkflowInstance: core.NewWorkflowInstance("task", "execution")}, nil
}

func (f *forgetful) CompleteWorkflowTask(context.Context, *backend.WorkflowTask, core.WorkflowInstanceState,
	[]*history.Event, []*history.Event, []*history.Event, []*history.WorkflowEvent,
) error {
	f.completed++
	return nil
}

// TestStepTakenAgain checks that only the last of two identical steps taken by this
// process is completed.
func TestStepTakenAgain(t *testing.T) {
	f := &forgetful{}
	e := newEngine(&database{engine: f, outage: &outage{}})
	var steps [2]*backend.WorkflowTask
	for i := range steps {
		var err error
		if steps[i], err = e.GetWorkflowTask(t.Context(), nil); err != nil {
			t.Fatal(err)
		}
	}
	complete := func(step *backend.WorkflowTask) error {
		return e.CompleteWorkflowTask(t.Context(), step, core.WorkflowInstanceStateActive, nil, nil, nil, nil)
	}
	for _, c := range []struct {
		step *backend.WorkflowTask
		want error
	}{{steps[0], errTakenAgain}, {steps[1], nil}, {steps[0], errTakenAgain}, {steps[1], errTakenAgain}} {
		if err := complete(c.step); !errors.Is(err, c.want) {
			t.Errorf("error %v, expected %v", err, c.want)
		}
	}
	if f.completed != 1 {
		t.Errorf("%d steps were completed, expected one", f.completed)
	}
}
