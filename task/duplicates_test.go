package task

import (
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/hocketvoice/hocket/internal/waittest"
	"github.com/hocketvoice/hocket/port"
)

// TestDuplicates checks each policy for a second task of a tool.
func TestDuplicates(t *testing.T) {
	both(t, func(t *testing.T, o Options) {
		b := newBench()
		o.Resolve, o.Grace = one(b), time.Millisecond
		var policy Policy
		o.Duplicates = func(agent, tool string) Policy {
			if agent != "agent" || tool != "work" {
				t.Errorf("asked for %s of %s", tool, agent)
			}
			return policy
		}
		tasks := opened(t, o)
		working(t, tasks)

		started(t, tasks, asked("1", "work", `{"a": 1, "b": 2}`))
		started(t, tasks, asked("2", "work", `{"a": 1, "b": 2}`)) // both are allowed
		for range 2 {
			take(t, b.begun)
		}
		if err := tasks.Cancel(waittest.Context(t), "2"); err != nil {
			t.Fatal(err)
		}
		take(t, b.ended)

		policy = Policy{Reject, ByArguments}
		err := tasks.Start(waittest.Context(t), asked("3", "work", `{"b":2,"a":1}`))
		if f, ok := errors.AsType[*port.Failure](err); !ok || f.Code != codeDuplicate || f.Message != "work runs already, as task 1" {
			t.Errorf("the same arguments: %v", err)
		}
		wantFailure(t, tasks, "3", codeNotFound)
		started(t, tasks, asked("1", "work", `{"b":2,"a":1}`)) // the key is known, so this is not a second task
		started(t, tasks, asked("4", "work", `{"a": 2}`))
		take(t, b.begun)
		others := asked("5", "work", `{"a":1,"b":2}`)
		others.Caller = "karl"
		started(t, tasks, others)
		take(t, b.begun)

		waittest.Until(t, "what it says is written", nil, func() bool { return said(t, tasks, "1") })
		policy = Policy{Mode: Replace}
		started(t, tasks, asked("6", "work", `{}`))
		f := wantFailure(t, tasks, "1", codeCancelled)
		wantFailure(t, tasks, "4", codeCancelled)
		if f.Message != "work was called off; another one has replaced it" || f.Partial != `begun {"a": 1, "b": 2}` {
			t.Errorf("%+v", f)
		}
		take(t, b.ended)
		take(t, b.ended)
		if key := take(t, b.begun); key != "6" {
			t.Errorf("%s begins", key)
		}
		b.goOn <- "done"
		b.goOn <- "done"
		wantOutput(t, tasks, "5", "done") // tasks of other callers are not duplicates
		wantOutput(t, tasks, "6", "done")
	})
}

// TestDuplicatesAtOnce checks that only one of several simultaneous duplicates is
// accepted.
func TestDuplicatesAtOnce(t *testing.T) {
	both(t, func(t *testing.T, o Options) {
		o.Duplicates = func(string, string) Policy { return Policy{Mode: Reject} }
		tasks := opened(t, o)
		var taken atomic.Int32
		var g sync.WaitGroup
		for i := range 10 {
			g.Go(func() {
				err := tasks.Start(waittest.Context(t), asked(fmt.Sprint(i), "work", "{}"))
				if f, ok := errors.AsType[*port.Failure](err); err != nil && (!ok || f.Code != codeDuplicate) {
					t.Errorf("start: %v", err)
				}
				if err == nil {
					taken.Add(1)
				}
			})
		}
		g.Wait()
		if n := taken.Load(); n != 1 {
			t.Errorf("%d were accepted, expected 1", n)
		}
	})
}
