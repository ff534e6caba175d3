package task

import (
	"database/sql"
	"errors"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/hocketvoice/hocket/internal/pgtest"
	"github.com/hocketvoice/hocket/internal/waittest"
	"github.com/hocketvoice/hocket/port"
	"github.com/hocketvoice/hocket/porttest"
)

var server pgtest.Server //nolint:gochecknoglobals // one for the tests of this package; TestMain stops it

func TestPortPostgres(t *testing.T) {
	t.Parallel()
	url := server.Database(t)
	porttest.TestTasks(t, func(t *testing.T, tool port.Tool) port.Tasks { // the same database, emptied: creating one takes longer than most rules
		tasks := opened(t, Options{URL: url, Resolve: one(tool), Grace: 10 * time.Millisecond})
		if _, err := tasks.db.writer.ExecContext(t.Context(), "TRUNCATE "+strings.Join(tables(), ", ")); err != nil {
			t.Fatal(err)
		}
		working(t, tasks)
		return tasks
	})
}

// TestURL checks that several processes can open a new database at once, that an
// interrupted creation is repeated, that pool settings in the URL are accepted, and
// that other tables are not changed.
func TestURL(t *testing.T) {
	o := Options{URL: server.Database(t) + "&pool_max_conns=3"}
	db, err := sql.Open("pgx", strings.TrimSuffix(o.URL, "&pool_max_conns=3"))
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := db.Close(); err != nil {
			t.Error(err)
		}
	}()
	for _, text := range []string{
		"CREATE TABLE instances (mine int)", "INSERT INTO instances VALUES (1)",
		"CREATE SCHEMA hocket_tasks", "CREATE TABLE hocket_tasks.history (half int)",
		"CREATE TABLE hocket_tasks.schema_migrations (version bigint PRIMARY KEY, dirty boolean NOT NULL)",
		"INSERT INTO hocket_tasks.schema_migrations VALUES (1, true)",
	} {
		if _, err := db.ExecContext(t.Context(), text); err != nil {
			t.Fatal(err)
		}
	}
	var g sync.WaitGroup
	var all [4]*Tasks
	for i := range all {
		g.Go(func() {
			tasks, err := Open(t.Context(), o)
			if err != nil {
				t.Errorf("open: %v", err)
				return
			}
			all[i] = tasks
		})
	}
	g.Wait()
	for _, tasks := range all {
		if tasks == nil {
			continue
		}
		started(t, tasks, asked("k", "work", "{}"))
		if n := rows(t, tasks)["hocket_tasks"]; n != 1 {
			t.Errorf("%d tasks, expected 1", n)
		}
		if err := tasks.Close(); err != nil {
			t.Error(err)
		}
	}
	var mine int
	if err := db.QueryRowContext(t.Context(), "SELECT mine FROM public.instances").Scan(&mine); err != nil || mine != 1 {
		t.Errorf("another's table: %d, error %v", mine, err)
	}
}

// TestFileAtOnce checks that several processes can open a new file at once.
func TestFileAtOnce(t *testing.T) {
	path := newPath(t)
	var g sync.WaitGroup
	for range 4 {
		g.Go(func() {
			tasks, err := Open(t.Context(), Options{Path: path})
			if err != nil {
				t.Errorf("open: %v", err)
				return
			}
			if err := tasks.Close(); err != nil {
				t.Error(err)
			}
		})
	}
	g.Wait()
}

// inTheWay runs a statement in a transaction, starts functions that must wait for it,
// ends the transaction when they wait, and returns their errors.
func inTheWay(t *testing.T, tasks *Tasks, text, arg string, do ...func() error) (err error) {
	t.Helper()
	tx, err := tasks.db.writer.BeginTx(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := tx.ExecContext(t.Context(), text, arg); err != nil {
		t.Fatal(err)
	}
	done := make(chan error, len(do))
	for _, f := range do {
		go func() { done <- f() }()
	}
	waittest.Until(t, "they wait for the transaction", nil, func() bool {
		if _, err := tx.ExecContext(t.Context(), "SELECT pg_stat_clear_snapshot()"); err != nil { // otherwise it would not see changes
			t.Fatal(err)
		}
		var n int
		if err := tx.QueryRowContext(t.Context(), "SELECT count(*) FROM pg_stat_activity WHERE pg_backend_pid() = ANY (pg_blocking_pids(pid))").Scan(&n); err != nil {
			t.Fatal(err)
		}
		return n == len(do)
	})
	if err := tx.Commit(); err != nil {
		t.Fatal(err)
	}
	for range do {
		err = errors.Join(err, take(t, done))
	}
	return err
}

// TestCalledOffAsItBegins checks that if an irreversible tool is called at the moment
// when its task is cancelled or replaced, the failure says that it is not known whether
// it was done.
func TestCalledOffAsItBegins(t *testing.T) {
	const begins = "UPDATE hocket_tasks SET attempt = 1, worker = 'w' WHERE key = $1"
	tasks := opened(t, Options{
		URL: server.Database(t), Resolve: one(newBench()),
		Duplicates: func(string, string) Policy { return Policy{Mode: Replace} },
	})
	for key, do := range map[string]func() error{
		"cancelled": func() error { return tasks.Cancel(waittest.Context(t), "cancelled") },
		"replaced":  func() error { return tasks.Start(waittest.Context(t), asked("another", "ship", "{}")) },
	} {
		started(t, tasks, asked(key, "ship", "{}"))
		if err := inTheWay(t, tasks, begins, key, do); err != nil {
			t.Fatal(err)
		}
		if f := wantFailure(t, tasks, key, codeCancelled); !contains(f.Message, "it is not known whether it was done") {
			t.Errorf("%s: %+v", key, f)
		}
	}
}

// TestNoDuplicateOfItself checks that a task that two processes start at once is one
// task, whatever the policy for duplicates.
func TestNoDuplicateOfItself(t *testing.T) {
	for _, mode := range []Mode{Reject, Replace} {
		o := Options{URL: server.Database(t), Duplicates: func(string, string) Policy { return Policy{Mode: mode} }}
		tasks, other := opened(t, o), opened(t, o)
		err := inTheWay(t, tasks, "SELECT pg_advisory_xact_lock(hashtextextended($1, 0))", "agent\x1fwork\x1fconv",
			func() error { return tasks.Start(waittest.Context(t), asked("k", "work", "{}")) },
			func() error { return other.Start(waittest.Context(t), asked("k", "work", "{}")) })
		if err != nil {
			t.Errorf("%s: %v", mode, err)
		}
		if r, ok, err := tasks.read(t.Context(), "k"); err != nil || !ok || r.ended.Valid {
			t.Errorf("%s: there %v, ended %v, error %v", mode, ok, r.ended, err)
		}
	}
}
