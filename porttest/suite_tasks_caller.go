package porttest

import (
	"context"
	"slices"
	"time"

	"github.com/hocketvoice/hocket/port"
)

// This file tests the rules for [port.TaskArchive], which an implementation of port.Tasks
// need not have.

// archive returns the tasks as an archive, or skips the test.
func (t *tasksTest) archive() port.TaskArchive {
	a, ok := t.Tasks.(port.TaskArchive)
	if !ok {
		t.Skip("the tasks of a caller are not listed")
	}
	return a
}

// startFor starts a task of a caller in a conversation.
func (t *tasksTest) startFor(caller, conversation, key string) {
	t.Helper()
	task := t.task(key)
	task.Caller, task.Conversation, task.Limit = caller, conversation, time.Minute
	t.start(task)
}

// keysOf are the keys of a caller's tasks.
func (t *tasksTest) keysOf(a port.TaskArchive, caller string) []string {
	t.Helper()
	list, err := a.TasksOf(t.soon(), caller)
	t.ok(err)
	keys := make([]string, len(list))
	for i, r := range list {
		keys[i] = r.Key
	}
	return keys
}

func taskListed(t *tasksTest) {
	a := t.archive()
	t.run = func(ctx context.Context, call port.ToolCall, progress func(string)) (string, error) {
		switch call.ID {
		case "fails":
			return "", &port.Failure{Code: "SAD", Message: "it is sad"}
		case "runs":
			progress("half of it")
			<-ctx.Done()
			return "", ctx.Err()
		default:
			return "good", nil
		}
	}
	t.startFor("carla", "conv 1", "ends")
	t.startFor("carla", "conv 2", "fails")
	t.startFor("carla", "conv 2", "runs")
	t.startFor("dora", "conv 3", "others")
	t.start(t.task("nobody's"))
	t.wantOutput("ends", "good")
	t.wantFailure("fails", "SAD")
	t.wantOutput("others", "good")
	ctx, cancel := context.WithCancel(t.soon())
	defer cancel()
	_, _ = t.Follow(ctx, "runs", func(text string) { // until it is known what it has reported
		if text != "" {
			cancel()
		}
	})
	list, err := a.TasksOf(t.soon(), "carla")
	t.ok(err)
	if len(list) != 3 {
		t.Fatalf("%+v, expected three", list)
	}
	for i, want := range []struct{ key, conversation, output, code, progress string }{
		{"ends", "conv 1", "good", "", ""}, {"fails", "conv 2", "", "SAD", ""}, {"runs", "conv 2", "", "", "half of it"},
	} {
		got, task := list[i], t.task(want.key)
		code := ""
		if got.Failure != nil {
			code = got.Failure.Code
		}
		if got.Key != want.key || got.Call != task.Call || got.Conversation != want.conversation || got.Caller != "carla" || got.Output != want.output ||
			code != want.code || got.Progress != want.progress || got.Created.IsZero() || got.Ended.IsZero() != (want.key == "runs") || got.Unreadable {
			t.Errorf("%+v, expected %+v", got, want)
		}
	}
	for _, nobody := range []string{"", "emil"} {
		if keys := t.keysOf(a, nobody); len(keys) != 0 {
			t.Errorf("the tasks of %q are %v", nobody, keys)
		}
	}
}

func taskDeleted(t *tasksTest) {
	a := t.archive()
	begun, ended := t.blocks()
	t.startFor("carla", "conv 1", "runs")
	t.wait(begun, "runs")
	t.run = func(context.Context, port.ToolCall, func(string)) (string, error) { return "good", nil }
	t.startFor("carla", "conv 2", "waits")
	t.startFor("carla", "conv 3", "spared")
	t.startFor("dora", "conv 2", "others")
	t.start(t.task("nobody's"))
	for _, key := range []string{"waits", "spared", "others", "nobody's"} {
		t.wantOutput(key, "good")
	}
	t.ok(t.Leave(t.soon(), "conv 2"))
	for _, nobody := range []string{"", "emil"} {
		if n, err := a.DeleteTasksOf(t.soon(), nobody, nil); n != 0 || err != nil {
			t.Errorf("of %q %d are deleted, error %v", nobody, n, err)
		}
	}
	n, err := a.DeleteTasksOf(t.soon(), "carla", func(conversation string) bool { return conversation == "conv 3" })
	if n != 2 || err != nil {
		t.Errorf("%d are deleted, error %v, expected 2", n, err)
	}
	t.wait(ended, "runs")
	t.wantFailure("runs", "NOT_FOUND")
	t.wantFailure("waits", "NOT_FOUND")
	if keys := t.keysOf(a, "carla"); !slices.Equal(keys, []string{"spared"}) {
		t.Errorf("left are %v", keys)
	}
	t.wantOutput("others", "good")
	t.wantOutput("nobody's", "good")
	if given, err := a.TasksOf(t.soon(), "dora"); err != nil || len(given) != 1 {
		t.Errorf("%+v, error %v", given, err)
	}
	if n, err := a.DeleteTasksOf(t.soon(), "carla", nil); n != 1 || err != nil {
		t.Errorf("%d are deleted, error %v, expected 1", n, err)
	}
}
