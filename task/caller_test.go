package task

import (
	"bytes"
	"context"
	"os"
	"testing"
	"time"

	"github.com/hocketvoice/hocket/port"
	"github.com/hocketvoice/hocket/porttest"
)

// TestDeletedCallerLeavesNothing: of the tasks of a caller who was deleted neither the file
// nor its log has a word, and what cannot be opened for want of a key is listed and deleted
// too.
func TestDeletedCallerLeavesNothing(t *testing.T) {
	t.Parallel()
	tool := &porttest.Tool{Known: []port.ToolSpec{{Name: "work", Long: true}}}
	tool.Run = func(_ context.Context, _ port.ToolCall, progress func(string)) (string, error) {
		progress("umbrellas by the dozen")
		return "umbrellas were found", nil
	}
	path := newPath(t)
	tasks := opened(t, Options{Path: path, Resolve: one(tool)})
	working(t, tasks)
	start := func(key string) {
		t.Helper()
		if err := tasks.Start(t.Context(), port.Task{
			Key: key, Call: port.ToolCall{ID: key, Name: "work", Arguments: `{"what":"umbrellas"}`}, Agent: "a", Conversation: "c", Caller: "office/anna", Limit: time.Minute,
		}); err != nil {
			t.Fatal(err)
		}
		if _, err := tasks.Follow(t.Context(), key, nil); err != nil {
			t.Fatal(err)
		}
	}
	start("one")
	holds := func() (n int) {
		for _, name := range []string{path, path + "-wal"} {
			b, err := os.ReadFile(name)
			if err != nil {
				t.Fatal(err)
			}
			n += bytes.Count(b, []byte("umbrellas"))
		}
		return n
	}
	if holds() == 0 {
		t.Fatal("the words are not in the file: the test shows nothing")
	}
	if n, err := tasks.DeleteTasksOf(t.Context(), "office/anna", nil); n != 1 || err != nil {
		t.Fatalf("%d are deleted, error %v", n, err)
	}
	if n := holds(); n != 0 {
		t.Errorf("the words are left %d times", n)
	}
}

// TestCallerWithoutTheKey: what was sealed with a key that is gone is listed without its
// words.
func TestCallerWithoutTheKey(t *testing.T) {
	t.Parallel()
	tasks := opened(t, Options{Path: newPath(t), Resolve: one(&porttest.Tool{})})
	if err := tasks.Start(t.Context(), port.Task{Key: "k", Call: port.ToolCall{ID: "k", Name: "work", Arguments: `{"secret":1}`}, Conversation: "c", Caller: "anna"}); err != nil {
		t.Fatal(err)
	}
	if _, err := tasks.db.exec(t.Context(), `UPDATE hocket_tasks SET task = ?`, []byte("sealed with another key")); err != nil {
		t.Fatal(err)
	}
	list, err := tasks.TasksOf(t.Context(), "anna")
	if err != nil || len(list) != 1 || !list[0].Unreadable || list[0].Key != "k" || list[0].Conversation != "c" || list[0].Call.Arguments != "" {
		t.Errorf("%+v, error %v", list, err)
	}
	if n, err := tasks.DeleteTasksOf(t.Context(), "anna", nil); n != 1 || err != nil {
		t.Errorf("%d are deleted, error %v", n, err)
	}
}
