package task

import (
	"database/sql"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/hocketvoice/hocket/internal/pgtest"
	"github.com/hocketvoice/hocket/port"
	"github.com/hocketvoice/hocket/porttest"
)

var server pgtest.Server //nolint:gochecknoglobals // one for the tests of this package; TestMain stops it

func TestPortPostgres(t *testing.T) {
	porttest.TestTasks(t, func(t *testing.T, tool port.Tool) port.Tasks {
		tasks := opened(t, Options{URL: server.Database(t), Resolve: one(tool), Grace: 10 * time.Millisecond})
		working(t, tasks)
		return tasks
	})
}

// TestURL: several open a new database at once; a first opening that was broken off
// is begun anew; settings of other pools do no harm; and other tables stay.
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

// TestFileAtOnce: several open a new file at once.
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
