package porttest

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/hocketvoice/hocket/port"
)

// This file tests the rules for tasks with several followers or none.

func taskLeftAlone(t *tasksTest) {
	goOn := make(chan struct{})
	t.run = func(ctx context.Context, _ port.ToolCall, _ func(string)) (string, error) {
		select {
		case <-goOn:
			return "ok", nil
		case <-ctx.Done():
			return "", ctx.Err()
		}
	}
	t.start(t.task("k"))
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	if _, err := t.Follow(ctx, "k", nil); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("error %v, expected that of the context", err)
	}
	close(goOn)
	t.wantOutput("k", "ok")
}

func taskFollowers(t *tasksTest) {
	begun := make(chan struct{})
	t.run = func(context.Context, port.ToolCall, func(string)) (string, error) {
		<-begun
		return "ok", nil
	}
	t.start(t.task("k"))
	var g sync.WaitGroup
	for range 5 {
		g.Go(func() {
			if got, err := t.Follow(t.soon(), "k", func(string) {}); err != nil || got != "ok" {
				t.Errorf("%q, error %v", got, err)
			}
		})
	}
	close(begun)
	g.Wait()
}

func taskSettled(t *tasksTest) {
	t.start(t.task("k"))
	t.wantOutput("k", `done: {"n":1}`)
	t.ok(t.Settle(t.soon(), "k"))
	t.wantFailure("k", "NOT_FOUND")

	begun, ended := t.blocks()
	t.start(t.task("running"))
	t.wait(begun, "running")
	followed := make(chan error, 1)
	go func() {
		_, err := t.Follow(t.soon(), "running", nil)
		followed <- err
	}()
	t.ok(t.Settle(t.soon(), "running"))
	t.wait(ended, "running")
	var f *port.Failure
	if err := <-followed; !errors.As(err, &f) {
		t.Errorf("Follow of a settled task returned %v, expected a failure", err)
	}
	t.wantFailure("running", "NOT_FOUND")
}

func taskLeft(t *tasksTest) {
	goOn := make(chan struct{})
	t.run = func(ctx context.Context, call port.ToolCall, _ func(string)) (string, error) {
		if call.ID == "ended" {
			return "early", nil
		}
		select {
		case <-goOn:
			return "late", nil
		case <-ctx.Done():
			return "", ctx.Err()
		}
	}
	for _, key := range []string{"running", "ended"} {
		task := t.task(key)
		task.Caller, task.Limit = "carla", time.Minute
		t.start(task)
	}
	t.wantOutput("ended", "early")
	t.ok(t.Leave(t.soon(), "conv"))
	t.ok(t.Leave(t.soon(), "conv"))
	close(goOn)
	t.wantOutput("running", "late")
	t.wantOutput("ended", "early")
	got, err := t.Adopt(t.soon(), "carla", "conv 2")
	t.ok(err)
	if len(got) != 2 {
		t.Fatalf("%+v, expected both", got)
	}
	for i, key := range []string{"running", "ended"} {
		want := t.task(key)
		want.Caller, want.Conversation, want.Limit = "carla", "conv 2", time.Minute
		if got[i] != want {
			t.Errorf("adopted %+v, expected %+v", got[i], want)
		}
	}
	t.wantOutput("running", "late")
}

func taskNobodys(t *tasksTest) {
	begun, ended := t.blocks()
	t.start(t.task("k"))
	t.wait(begun, "k")
	other := t.task("other")
	other.Conversation = "another"
	t.start(other)
	t.wait(begun, "other")
	t.ok(t.Leave(t.soon(), "conv"))
	t.wait(ended, "k")
	t.wantFailure("k", "NOT_FOUND")
	t.ok(t.Cancel(t.soon(), "other"))
	t.wait(ended, "other")
}

func taskAdopted(t *tasksTest) {
	const tasks = 12
	var keys []string
	for i := range tasks {
		task := t.task(fmt.Sprint("k", i))
		task.Caller = "carla"
		if i == 3 {
			task.Caller = "karl"
		} else {
			keys = append(keys, task.Key)
		}
		t.start(task)
	}
	if got, err := t.Adopt(t.soon(), "carla", "early"); err != nil || len(got) != 0 {
		t.Fatalf("Adopt before Leave returned %v, error %v", got, err)
	}
	t.ok(t.Leave(t.soon(), "conv"))
	var given [6][]port.Task
	var g sync.WaitGroup
	var failed atomic.Int32
	for i := range given {
		g.Go(func() {
			var err error
			if given[i], err = t.Adopt(t.soon(), "carla", fmt.Sprint("conv", i)); err != nil {
				failed.Add(1)
			}
		})
	}
	g.Wait()
	if failed.Load() > 0 {
		t.Fatal("adopt failed")
	}
	var got []string
	for _, some := range given {
		var ours []string
		for _, task := range some {
			ours = append(ours, task.Key)
			got = append(got, task.Key)
		}
		if !slices.IsSortedFunc(ours, func(a, b string) int { return slices.Index(keys, a) - slices.Index(keys, b) }) {
			t.Errorf("%v, expected the oldest first", ours)
		}
	}
	slices.Sort(got)
	slices.Sort(keys)
	if !slices.Equal(got, keys) {
		t.Errorf("adopted %v, expected each of %v once", got, keys)
	}
	// A conversation that has lost the result of Adopt (its process died) calls it
	// again.
	for i, some := range given {
		if len(some) > 0 {
			t.ok(t.Settle(t.soon(), some[0].Key))
			some = some[1:]
		}
		again, err := t.Adopt(t.soon(), "carla", fmt.Sprint("conv", i))
		if err != nil || !slices.EqualFunc(again, some, func(a, b port.Task) bool { return a.Key == b.Key }) {
			t.Errorf("Adopt returned %v the second time, expected %v; error %v", again, some, err)
		}
	}
}
