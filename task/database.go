package task

import (
	"context"
	"database/sql"
	"embed"
	"errors"
	"fmt"
	"io/fs"
	"strconv"
	"strings"
	"time"

	"github.com/cschleiden/go-workflows/backend"
	"github.com/jackc/pgx/v5"
	"github.com/pressly/goose/v3"

	"github.com/hocketvoice/hocket/internal/wait"
)

//go:embed migrations
var migrations embed.FS

// statementLimit bounds a statement: a line to the database may be dead and say
// nothing.
const statementLimit = 10 * time.Second

// database is where the tasks are, of either kind. It is safe for concurrent use.
type database struct {
	postgres bool
	// writer has one connection to a SQLite file, which takes one writer anyway: a
	// queue is fairer than a lock. The engine shares it. reader never waits for it.
	writer, reader *sql.DB
	engine         backend.Backend
	outage         *outage
	config         *pgx.ConnConfig // of PostgreSQL, to listen
}

func (d *database) close() error {
	errs := []error{d.reader.Close()}
	if d.writer != d.reader {
		errs = append(errs, d.writer.Close()) // last: it moves the log into the file
	}
	return errors.Join(errs...)
}

// text is a statement as the database has it: its parameters are written as
// question marks.
func (d *database) text(query string) string {
	if !d.postgres {
		return query
	}
	var b strings.Builder
	for n := 1; ; n++ {
		before, after, found := strings.Cut(query, "?")
		b.WriteString(before)
		if !found {
			return b.String()
		}
		b.WriteString("$" + strconv.Itoa(n))
		query = after
	}
}

// marks are n parameters in a list.
func marks(n int) string { return strings.TrimSuffix(strings.Repeat("?,", n), ",") }

// exec runs a statement and tells how many rows it changed.
func (d *database) exec(ctx context.Context, query string, args ...any) (int64, error) {
	ctx, cancel := context.WithTimeout(ctx, statementLimit)
	defer cancel()
	r, err := d.writer.ExecContext(ctx, d.text(query), args...)
	if err != nil {
		return 0, err
	}
	d.outage.answered(ctx)
	return r.RowsAffected()
}

// keys runs a statement that returns keys.
func (d *database) keys(ctx context.Context, db interface {
	QueryContext(ctx context.Context, query string, args ...any) (*sql.Rows, error)
}, query string, args ...any,
) (keys []string, err error) {
	ctx, cancel := context.WithTimeout(ctx, statementLimit)
	defer cancel()
	rows, err := db.QueryContext(ctx, d.text(query), args...)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, rows.Close()) }()
	for rows.Next() {
		var key string
		if err := rows.Scan(&key); err != nil {
			return nil, err
		}
		keys = append(keys, key)
	}
	return keys, rows.Err()
}

// within runs f in a transaction.
func (d *database) within(ctx context.Context, f func(*sql.Tx) error) (err error) {
	ctx, cancel := context.WithTimeout(ctx, statementLimit)
	defer cancel()
	tx, err := d.writer.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, tx.Rollback())
		}
	}()
	if err := f(tx); err != nil {
		return err
	}
	return tx.Commit()
}

// engineOptions are those of the engine, whatever the database.
func engineOptions(o Options, worker string) []backend.BackendOption {
	return []backend.BackendOption{
		backend.WithLogger(o.Log),
		backend.WithWorkerName(worker),
		backend.WithStickyTimeout(0), // another worker may go on at once
		backend.WithWorkflowLockTimeout(o.lock()),
		backend.WithActivityLockTimeout(o.lock()),
	}
}

// migrateOwn brings the own table to the version of this program.
func migrateOwn(ctx context.Context, db *sql.DB, dialect goose.Dialect, dir string) error {
	files, err := fs.Sub(migrations, "migrations/"+dir)
	if err != nil {
		return err
	}
	provider, err := goose.NewProvider(dialect, db, files, goose.WithDisableGlobalRegistry(true), goose.WithLogger(goose.NopLogger()))
	if err != nil {
		return err
	}
	if _, err := provider.Up(ctx); err != nil {
		return fmt.Errorf("migrate the table of tasks: %w", err)
	}
	return nil
}

// retry runs f until it succeeds, ctx ends or tries are used up.
func retry(ctx context.Context, tries int, f func() error) error {
	const first, longest = 50 * time.Millisecond, time.Second
	for pause := first; ; pause = min(2*pause, longest) {
		err := f()
		if tries--; err == nil || tries <= 0 {
			return err
		}
		if e := wait.For(ctx, pause); e != nil {
			return errors.Join(err, e)
		}
	}
}
