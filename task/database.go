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

// statementLimit limits the duration of a statement, since a broken connection to the
// database may not report an error.
const statementLimit = 10 * time.Second

// database is the SQLite file or the PostgreSQL database with the tasks. It is safe for
// concurrent use.
type database struct {
	postgres bool
	// writer has one connection to a SQLite file, which allows one writer at a time:
	// waiting for a connection is fairer than waiting for the file's lock. The engine
	// uses writer too. reader never waits for it.
	writer, reader *sql.DB
	engine         backend.Backend
	outage         *outage
	config         *pgx.ConnConfig // of PostgreSQL, for LISTEN
}

func (d *database) close() error {
	errs := []error{d.reader.Close()}
	if d.writer != d.reader {
		errs = append(errs, d.writer.Close()) // closed last, so that it moves the write-ahead log into the file
	}
	return errors.Join(errs...)
}

// text returns a statement in the syntax of the database. Statements are written with
// question marks as parameters.
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

// marks returns a list of n parameters.
func marks(n int) string { return strings.TrimSuffix(strings.Repeat("?,", n), ",") }

// exec runs a statement and returns the number of changed rows.
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

// keys runs a query that returns keys.
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

// engineOptions returns the engine's options for both databases.
func engineOptions(o Options, worker string) []backend.BackendOption {
	return []backend.BackendOption{
		backend.WithLogger(o.Log),
		backend.WithWorkerName(worker),
		backend.WithStickyTimeout(0), // any worker may continue at once
		backend.WithWorkflowLockTimeout(o.lock()),
		backend.WithActivityLockTimeout(o.lock()),
	}
}

// migrateOwn migrates this package's table to the version of this program.
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
		return fmt.Errorf("migrate the tasks table: %w", err)
	}
	return nil
}

// retry calls f until it succeeds, ctx ends or the tries are used up.
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
