package task

import (
	"bytes"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/hocketvoice/hocket/internal/waittest"
	"github.com/hocketvoice/hocket/port"
	"github.com/hocketvoice/hocket/porttest"
)

func contains(text, part string) bool { return strings.Contains(text, part) }

func key32(b byte) []byte { return bytes.Repeat([]byte{b}, 32) }

// found returns the words that occur in any file of a database.
func found(t *testing.T, o Options, words []string) (there []string) {
	t.Helper()
	in := make(map[string][]string)
	if o.URL != "" {
		in = server.Words(t, o.URL, words)
	} else {
		files, err := os.ReadDir(filepath.Dir(o.Path))
		if err != nil || len(files) == 0 {
			t.Fatalf("%d files, error %v", len(files), err)
		}
		for _, f := range files {
			b, err := os.ReadFile(filepath.Join(filepath.Dir(o.Path), f.Name()))
			if err != nil {
				t.Fatal(err)
			}
			for _, w := range words {
				if bytes.Contains(b, []byte(w)) {
					in[w] = append(in[w], f.Name())
				}
			}
		}
	}
	for _, w := range words {
		if len(in[w]) > 0 {
			there = append(there, w)
		}
	}
	return there
}

// TestSealed checks that with a key, none of a task's content is in the database's
// files, and that without one all of it is.
func TestSealed(t *testing.T) {
	both(t, func(t *testing.T, at Options) {
		for i, keys := range [][][]byte{nil, {key32(1)}} {
			words := make([]string, 6)
			for n, w := range []string{"Argument", "Progress", "Output", "Message", "Partial", "Caller"} {
				words[n] = fmt.Sprintf("%s%sNo%dOf%d", w, "Secret", i, time.Now().UnixNano())
			}
			o := at
			o.Keys = keys
			tool := &porttest.Tool{Known: []port.ToolSpec{{Name: "work"}}}
			tool.Run = func(_ context.Context, c port.ToolCall, progress func(string)) (string, error) {
				progress(words[1])
				if contains(c.ID, "fails") {
					return "", &port.Failure{Code: "X", Message: words[3], Partial: words[4]}
				}
				return words[2], nil
			}
			o.Resolve = one(tool)
			tasks, err := Open(t.Context(), o)
			if err != nil {
				t.Fatal(err)
			}
			ctx, cancel := context.WithCancel(t.Context())
			ended := make(chan error, 1)
			go func() { ended <- tasks.Run(ctx) }()
			for _, key := range []string{fmt.Sprint(i), fmt.Sprint(i, "fails")} {
				task := asked(key, "work", fmt.Sprintf(`{"a":%q}`, words[0]))
				task.Caller = words[5]
				started(t, tasks, task)
			}
			wantOutput(t, tasks, fmt.Sprint(i), words[2])
			if f := wantFailure(t, tasks, fmt.Sprint(i, "fails"), "X"); f.Message != words[3] || f.Partial != words[4] {
				t.Errorf("%+v", f)
			}
			if o.URL != "" {
				if _, err := tasks.db.writer.ExecContext(t.Context(), "CHECKPOINT"); err != nil {
					t.Fatal(err)
				}
			}
			there := found(t, o, words)
			if want := len(words) * (1 - i); len(there) != want {
				t.Errorf("with %d keys there are %v, expected %d of %v", len(keys), there, want, words)
			}
			cancel()
			if err := errors.Join(take(t, ended), tasks.Close()); err != nil {
				t.Fatal(err)
			}
			if there := found(t, o, words); len(keys) > 0 && len(there) > 0 {
				t.Errorf("after the end there are %v", there)
			}
		}
	})
}

// TestKeyReplaced checks that with a new key in front of the old one, old tasks can be
// read and their callers found, and that without the old key reading them fails with a
// clear error.
func TestKeyReplaced(t *testing.T) {
	path := newPath(t)
	open := func(keys ...[]byte) *Tasks {
		return opened(t, Options{Path: path, Keys: keys, Resolve: one(&porttest.Tool{Known: []port.ToolSpec{{Name: "work"}}})})
	}
	task := asked("k", "work", `{"a":1}`)
	task.Caller = "carla"
	old := open(key32(1))
	stop := working(t, old)
	started(t, old, task)
	wantOutput(t, old, "k", `{"a":1}`)
	stop()
	if err := old.Leave(waittest.Context(t), "conv"); err != nil {
		t.Fatal(err)
	}
	if f := wantFailure(t, open(key32(2)), "k", codeServerError); !contains(f.Message, "not among the keys") {
		t.Errorf("%+v", f)
	}
	if f := wantFailure(t, open(), "k", codeServerError); !contains(f.Message, "no key is set") {
		t.Errorf("%+v", f)
	}
	both := open(key32(2), key32(1))
	wantOutput(t, both, "k", `{"a":1}`)
	got, err := both.Adopt(waittest.Context(t), "carla", "conv 2")
	if err != nil || len(got) != 1 || got[0].Caller != "carla" || got[0].Call.Arguments != `{"a":1}` {
		t.Errorf("%+v, error %v", got, err)
	}
}

// tables returns the names of all tables, including the engine's.
func tables() []string {
	return []string{"hocket_tasks", "instances", "pending_events", "history", "activities", "attributes"}
}

// rows counts the rows of all tables.
func rows(t *testing.T, tasks *Tasks) map[string]int {
	t.Helper()
	n := make(map[string]int)
	for _, table := range tables() {
		var count int
		if err := tasks.db.reader.QueryRowContext(t.Context(), "SELECT count(*) FROM "+table).Scan(&count); err != nil {
			t.Fatal(err)
		}
		n[table] = count
	}
	return n
}

func empty(n map[string]int) bool {
	for _, count := range n {
		if count > 0 {
			return false
		}
	}
	return true
}

// TestNothingStays checks that tasks that are settled, or not settled in time, are
// removed from all tables, including the engine's.
func TestNothingStays(t *testing.T) {
	both(t, func(t *testing.T, o Options) {
		ahead := atomic.Int64{}
		o.Now = func() time.Time { return time.Now().Add(time.Duration(ahead.Load())) }
		b := newBench()
		o.Resolve, o.Grace, o.beat = one(b), time.Millisecond, 50*time.Millisecond
		tasks := opened(t, o)
		stop := working(t, tasks)
		for i := range 20 {
			key := fmt.Sprint(i)
			b.goOn <- "ok"
			started(t, tasks, asked(key, "work", "{}"))
			wantOutput(t, tasks, key, "ok")
			if i%2 == 0 {
				if err := tasks.Settle(waittest.Context(t), key); err != nil {
					t.Fatal(err)
				}
			}
		}
		started(t, tasks, asked("running", "work", "{}"))
		waittest.Until(t, "it runs", nil, func() bool { return take(t, b.begun) != "" && len(b.Calls()) == 21 })
		if err := tasks.Settle(waittest.Context(t), "running"); err != nil {
			t.Fatal(err)
		}
		take(t, b.ended)
		waittest.Until(t, "ten ended tasks and no workflows", nil, func() bool {
			n := rows(t, tasks)
			kept := n["hocket_tasks"]
			delete(n, "hocket_tasks")
			return kept == 10 && empty(n)
		})
		stop()
		sweep := func() {
			if err := tasks.Sweep(waittest.Context(t)); err != nil {
				t.Fatal(err)
			}
		}
		ahead.Store(int64(DefaultKeep - time.Hour))
		if sweep(); rows(t, tasks)["hocket_tasks"] != 10 {
			t.Error("the task was deleted too early")
		}
		ahead.Store(int64(DefaultKeep + time.Hour))
		if sweep(); !empty(rows(t, tasks)) {
			t.Errorf("still there: %v", rows(t, tasks))
		}
		wantFailure(t, tasks, "1", codeNotFound)
	})
}

// TestFileDoesNotGrow checks that the space of settled tasks is reused.
func TestFileDoesNotGrow(t *testing.T) {
	tool := &porttest.Tool{Known: []port.ToolSpec{{Name: "work"}}}
	tasks := opened(t, Options{Path: newPath(t), Resolve: one(tool)})
	working(t, tasks)
	text := fmt.Sprintf("%q", strings.Repeat("long ", 1000))
	run := func(from, to int) (pages int) {
		for i := from; i < to; i++ {
			key := fmt.Sprint(i)
			started(t, tasks, asked(key, "work", text))
			wantOutput(t, tasks, key, text)
			if err := tasks.Settle(waittest.Context(t), key); err != nil {
				t.Fatal(err)
			}
		}
		if err := tasks.db.writer.QueryRowContext(t.Context(), "PRAGMA page_count").Scan(&pages); err != nil {
			t.Fatal(err)
		}
		return pages
	}
	few := run(0, 20)
	if many := run(20, 200); many > few+8 {
		t.Errorf("the file had %d pages after 20 tasks, and has %d after 200", few, many)
	}
}

// TestFiles checks that a file of another program or of a newer version is not changed,
// and that a file whose creation was interrupted can be used.
func TestFiles(t *testing.T) {
	ctx := t.Context()
	try := func(text string) error {
		path := newPath(t)
		db, err := sql.Open("sqlite", path)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := db.ExecContext(ctx, text); err != nil {
			t.Fatal(err)
		}
		if err := db.Close(); err != nil {
			t.Fatal(err)
		}
		tasks, err := Open(ctx, Options{Path: path})
		if err == nil {
			if info, e := os.Stat(path); e != nil || info.Mode().Perm() != 0o600 {
				t.Errorf("others may read it: %v, error %v", info, e)
			}
			err = tasks.Close()
		}
		return err
	}
	for path, want := range map[string]string{
		filepath.Join(newPath(t), "tasks.db"): "does not exist: expected one",
		t.TempDir():                           "it is a folder: expected a file",
	} {
		if _, err := Open(ctx, Options{Path: path}); err == nil || !contains(err.Error(), want) {
			t.Errorf("%v, expected that %s", err, want)
		}
	}
	if err := try("CREATE TABLE mine (a)"); err == nil || !contains(err.Error(), "another program") {
		t.Errorf("%v", err)
	}
	if err := try(fmt.Sprintf("PRAGMA application_id = %d; PRAGMA user_version = 99", applicationID)); err == nil || !contains(err.Error(), "newer program") {
		t.Errorf("%v", err)
	}
	broken := "CREATE TABLE schema_migrations (version uint64, dirty bool); INSERT INTO schema_migrations VALUES (1, true); CREATE TABLE instances (id)"
	if err := try(fmt.Sprintf("PRAGMA application_id = %d; %s", applicationID, broken)); err != nil {
		t.Errorf("broken off: %v", err)
	}
}

// TestTimesAreOfOneZone checks that times are stored in UTC, since the engine compares
// them as text.
func TestTimesAreOfOneZone(t *testing.T) {
	tasks := opened(t, Options{Path: newPath(t)})
	at := time.Date(2026, 10, 25, 2, 30, 0, 0, time.FixedZone("summer", 7200))
	var text string
	if err := tasks.db.writer.QueryRowContext(t.Context(), "SELECT CAST(? AS TEXT)", at).Scan(&text); err != nil || !strings.HasPrefix(text, "2026-10-25 00:30:00 +0000") {
		t.Errorf("%q, error %v", text, err)
	}
}
