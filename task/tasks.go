package task

import (
	"cmp"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"sync/atomic"

	"github.com/cschleiden/go-workflows/client"

	"github.com/hocketvoice/hocket/port"
	"github.com/hocketvoice/hocket/server/node"
)

// Tasks is a database of tasks. It is safe for concurrent use by several goroutines and
// processes.
type Tasks struct {
	o      Options
	vault  vault
	db     *database
	engine *engine
	client *client.Client
	watch  *watch
	name   string // of this process as a worker

	attempts atomic.Int64 // number of attempts, used in the names of their workers
	running  atomic.Bool  // Run is running

	mu    sync.Mutex            // guards calls
	calls map[string]*execution // tools running in this process, by worker

	sweeping sync.Mutex       // guards swept; only one sweep runs at a time
	swept    map[string]int64 // the beats of running tasks at the last sweep

	stop   context.CancelFunc
	closed atomic.Bool
	loops  sync.WaitGroup
}

var (
	_ port.Tasks       = (*Tasks)(nil)
	_ port.TaskArchive = (*Tasks)(nil)
)

// Open opens the database, creates its tables if necessary, and migrates them to the
// version of this program. ctx is used only by Open.
func Open(ctx context.Context, o Options) (*Tasks, error) {
	if err := o.Validate(); err != nil {
		return nil, err
	}
	t := &Tasks{o: o.withDefaults(), watch: newWatch(), calls: make(map[string]*execution)}
	away := &outage{log: t.o.Log.Handler()}
	t.o.Log = slog.New(quiet{away.log, away})
	var err error
	if t.vault, err = newVault(o.Keys); err != nil {
		return nil, err
	}
	t.name = node.Name()
	if o.Path != "" {
		t.db, err = openFile(ctx, t.o, t.name)
	} else {
		t.db, err = openURL(ctx, t.o, t.name)
	}
	if err != nil {
		return nil, fmt.Errorf("tasks: open %s: %w", cmp.Or(o.Path, "the database"), err)
	}
	t.db.outage = away
	t.engine = newEngine(t.db)
	t.client = client.New(t.engine)
	loops, stop := context.WithCancel(context.WithoutCancel(ctx)) // cancelled by Close
	t.stop = stop
	t.loops.Go(func() { t.pollAll(loops) })
	if t.db.postgres {
		t.loops.Go(func() { t.listen(loops) })
	}
	return t, nil
}

// Close closes the connections. It must be called once, after Run has returned.
func (t *Tasks) Close() error {
	t.closed.Store(true)
	t.stop()
	t.loops.Wait()
	if err := t.db.close(); err != nil {
		return fmt.Errorf("tasks: close: %w", err)
	}
	return nil
}

// Cancel cancels a task, whichever node runs it. The context of its tool ends.
func (t *Tasks) Cancel(ctx context.Context, key string) error {
	var keys []string
	err := t.db.within(ctx, func(tx *sql.Tx) error {
		rows, err := t.runningOf(ctx, tx, `key = ?`, key)
		if err == nil {
			keys, err = t.callOff(ctx, tx, rows, "")
		}
		return err
	})
	if err == nil {
		t.watch.poke(keys...)
	}
	return fail("cancel", key, err)
}

// runningOf returns the running tasks that satisfy a condition, the oldest first. They
// do not change until the transaction ends.
func (t *Tasks) runningOf(ctx context.Context, tx *sql.Tx, condition string, args ...any) (all []row, err error) {
	query := `SELECT key, tool, task, attempt, progress_text FROM hocket_tasks WHERE ended IS NULL AND ` + condition + ` ORDER BY seq`
	if t.db.postgres {
		query += ` FOR UPDATE` // a SQLite file has only one writer
	}
	rows, err := tx.QueryContext(ctx, t.db.text(query), args...)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, rows.Close()) }()
	for rows.Next() {
		var r row
		if err := rows.Scan(&r.key, &r.tool, &r.task, &r.attempt, &r.text); err != nil {
			return nil, err
		}
		all = append(all, r)
	}
	return all, rows.Err()
}

// callOff ends tasks that are running. why is appended to the message of each.
func (t *Tasks) callOff(ctx context.Context, tx *sql.Tx, rows []row, why string) (keys []string, err error) {
	for _, r := range rows {
		f := t.calledOff(r)
		f.Message += why
		sealed, err := t.vault.put("result", r.key, outcome{Failure: f})
		if err != nil {
			return nil, err
		}
		if _, err := tx.ExecContext(ctx, t.db.text(finishing), t.o.Now().UnixMilli(), sealed, r.key); err != nil {
			return nil, err
		}
		keys = append(keys, r.key)
	}
	return keys, nil
}

// calledOff returns the failure of a cancelled task.
func (t *Tasks) calledOff(r row) *port.Failure {
	f := &port.Failure{Code: codeCancelled, Message: r.tool + " was called off", Partial: t.lastText(r)}
	if r.attempt > 0 && t.irreversible(r) {
		f.Message += " while it ran, and it is not known whether it was done"
	}
	return f
}

// irreversible reports whether this process knows the task's tool to be irreversible.
func (t *Tasks) irreversible(r row) bool {
	if t.o.Resolve == nil {
		return false
	}
	task, err := t.open(r)
	if err != nil {
		return false
	}
	_, spec, err := t.find(task)
	return err == nil && spec.Irreversible
}

// Settle deletes a task.
func (t *Tasks) Settle(ctx context.Context, key string) error {
	_, err := t.db.exec(ctx, `DELETE FROM hocket_tasks WHERE key = ?`, key)
	t.watch.poke(key)
	return fail("settle", key, err)
}

// Leave lets the tasks of a conversation wait for their caller, and deletes those
// without one.
func (t *Tasks) Leave(ctx context.Context, conversation string) error {
	if _, err := t.db.exec(ctx, `UPDATE hocket_tasks SET waiting = 1 WHERE conversation = ? AND caller IS NOT NULL`, conversation); err != nil {
		return fail("leave", conversation, err)
	}
	keys, err := t.db.keys(ctx, t.db.writer, `DELETE FROM hocket_tasks WHERE conversation = ? AND caller IS NULL RETURNING key`, conversation)
	t.watch.poke(keys...)
	return fail("leave", conversation, err)
}

func fail(what, which string, err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("tasks: %s %q: %w", what, which, err)
}
