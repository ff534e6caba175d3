package task

import (
	"context"
	"errors"
	"log/slog"
	"testing"
	"time"

	"github.com/hocketvoice/hocket/port"
)

// FuzzRow checks that for any content of a row, a follower receives a result or a
// failure with a message, Adopt returns a task or none, and with a key nothing is read
// that was not encrypted with it.
func FuzzRow(f *testing.F) {
	open := func(keys [][]byte) *Tasks {
		return opened(f, Options{Path: newPath(f), Keys: keys, Log: slog.New(slog.DiscardHandler)})
	}
	plain, sealed := open(nil), open([][]byte{key32(1)})
	good, err := plain.vault.put("task", "k", asked("k", "tool", "{}"))
	if err != nil {
		f.Fatal(err)
	}
	f.Add(good, []byte(`"looking"`), []byte(`{"output":"x"}`), int64(1), int64(1))
	f.Add([]byte(`{"Call":null}`), []byte(`7`), []byte(`{"failure":{"Code":"X","Partial":"half"}}`), int64(-1), int64(1<<62))
	f.Add([]byte("hksl1"), []byte("hksl1"), []byte("hksl1"), int64(0), int64(0))
	f.Add([]byte{}, []byte(nil), []byte(`{"failure":{}}`), int64(1<<62), int64(-1<<62))
	f.Fuzz(func(t *testing.T, task, text, result []byte, progress, deadline int64) {
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		for _, tasks := range []*Tasks{plain, sealed} {
			row := []any{tasks.vault.digests("caller", "somebody")[0], task, text, result, progress, deadline}
			for _, q := range []struct {
				text string
				args []any
			}{
				{"DELETE FROM hocket_tasks", nil},
				{`INSERT INTO hocket_tasks (key, agent, tool, conversation, arguments, waiting, created, ended, caller, task, progress_text, result, progress, deadline)
					VALUES ('k', 'agent', 'tool', 'other', '', 1, 0, 1, ?, ?, ?, ?, ?, ?)`, row},
			} {
				if _, err := tasks.db.exec(ctx, q.text, q.args...); err != nil {
					t.Fatal(err)
				}
			}
			output, err := tasks.Follow(ctx, "k", func(text string) {
				if tasks == sealed && text != "" {
					t.Fatalf("%q was read as progress", text)
				}
			})
			failure, ok := errors.AsType[*port.Failure](err)
			if err != nil && (!ok || failure.Error() == "") {
				t.Fatalf("%q is followed to %q", result, err)
			}
			if tasks == sealed && err == nil {
				t.Fatalf("%q was opened as %q", result, output)
			}
			adopted, err := tasks.Adopt(ctx, "somebody", "mine")
			if err != nil || tasks == sealed && len(adopted) > 0 {
				t.Fatalf("%q is adopted as %+v, error %v", task, adopted, err)
			}
		}
	})
}
