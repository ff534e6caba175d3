package task

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"log/slog"
	"path/filepath"
	"strings"

	"github.com/cschleiden/go-workflows/backend"
	"github.com/cschleiden/go-workflows/backend/sqlite"
	"github.com/pressly/goose/v3"

	"github.com/hocketvoice/hocket/internal/sqlitefile"
)

const (
	// applicationID in the header of the file distinguishes it from databases of other
	// programs: "hoct".
	applicationID = 0x686f6374
	// fileVersion is the version of the whole schema, including the engine's tables.
	fileVersion = 1
	readers     = 4
)

// openFile opens or creates the SQLite file and migrates it to the version of this
// program.
func openFile(ctx context.Context, o Options, worker string) (*database, error) {
	path, err := filepath.Abs(o.Path)
	if err != nil {
		return nil, err
	}
	if err := sqlitefile.Prepare(path); err != nil {
		return nil, err
	}
	if err := sqlitefile.CheckLog(path); err != nil {
		if _, damaged := errors.AsType[*sqlitefile.DamagedError](err); !damaged {
			return nil, err
		}
		if o.Log != nil {
			o.Log.Error("delegated work is lost", "error", err)
		}
	}
	if err := migrateFile(ctx, path); err != nil {
		return nil, err
	}
	d := &database{}
	if d.writer, err = connect(path, 1, "_txlock=immediate"); err != nil {
		return nil, err
	}
	if d.reader, err = connect(path, readers, "_pragma=query_only(1)"); err != nil {
		return nil, errors.Join(err, d.writer.Close())
	}
	if err := enableLog(ctx, d.writer); err != nil {
		return nil, errors.Join(err, d.close())
	}
	d.engine = sqlite.NewSqliteBackendWithDB(d.writer, sqlite.WithBackendOptions(engineOptions(o, worker)...))
	return d, nil
}

// enableLog enables the write-ahead log. SQLite does not wait for another process that does the same.
func enableLog(ctx context.Context, db *sql.DB) error {
	var mode string
	err := retry(ctx, 10, func() error { return db.QueryRowContext(ctx, "PRAGMA journal_mode = WAL").Scan(&mode) })
	if err == nil && mode != "wal" {
		err = fmt.Errorf("the journal mode is %q: expected wal (is the file on a local disk?)", mode)
	}
	return err
}

// connect returns up to n connections to the file. Deleted data is overwritten. All
// times are in UTC, because the engine compares them as text.
func connect(path string, n int, settings ...string) (*sql.DB, error) {
	const always = "_pragma=busy_timeout(5000)&_pragma=synchronous(NORMAL)&_pragma=secure_delete(1)&_timezone=UTC"
	return sqlitefile.Connect(path, n, append([]string{always}, settings...)...)
}

// migrateFile migrates the schema to fileVersion while it holds an exclusive lock on
// the file.
func migrateFile(ctx context.Context, path string) error {
	var refused error
	err := retry(ctx, 10, func() error {
		version, err := inspect(ctx, path)
		if err == nil && version != fileVersion {
			var db *sql.DB
			if db, err = connect(path, 1, "_pragma=locking_mode(EXCLUSIVE)"); err == nil {
				err = errors.Join(migrateAlone(ctx, db), db.Close())
			}
		}
		if sqlitefile.IsBusy(err) {
			return err
		}
		refused = err
		return nil
	})
	return errors.Join(err, refused)
}

func migrateAlone(ctx context.Context, db *sql.DB) error {
	if _, err := db.ExecContext(ctx, "BEGIN EXCLUSIVE; COMMIT"); err != nil {
		return fmt.Errorf("lock the file: %w", err)
	}
	if _, err := db.ExecContext(ctx, fmt.Sprintf("PRAGMA application_id = %d", applicationID)); err != nil {
		return err
	}
	if err := dropAll(ctx, db); err != nil {
		return err
	}
	if err := sqlite.NewSqliteBackendWithDB(db, sqlite.WithBackendOptions(backend.WithLogger(slog.New(slog.DiscardHandler)))).Migrate(); err != nil {
		return err
	}
	if err := migrateOwn(ctx, db, goose.DialectSQLite3, "sqlite"); err != nil {
		return err
	}
	_, err := db.ExecContext(ctx, fmt.Sprintf("PRAGMA user_version = %d", fileVersion))
	return err
}

// dropAll removes tables left by a process that died while it created them. They do not
// contain tasks yet.
func dropAll(ctx context.Context, db *sql.DB) error {
	var version int
	if err := db.QueryRowContext(ctx, "PRAGMA user_version").Scan(&version); err != nil || version > 0 {
		return err
	}
	tables, err := (&database{}).keys(ctx, db, "SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite_%'")
	if err != nil {
		return err
	}
	for _, name := range tables {
		if _, err := db.ExecContext(ctx, `DROP TABLE "`+strings.ReplaceAll(name, `"`, `""`)+`"`); err != nil {
			return err
		}
	}
	return nil
}

// inspect returns the version of a file. It returns an error for a file of another
// program or of a newer version.
func inspect(ctx context.Context, path string) (version int, err error) {
	db, err := connect(path, 1)
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	var app, tables int
	if err := db.QueryRowContext(ctx, "SELECT (SELECT application_id FROM pragma_application_id), (SELECT user_version FROM pragma_user_version), (SELECT count(*) FROM sqlite_schema)").Scan(&app, &version, &tables); err != nil {
		return 0, err
	}
	switch {
	case app != applicationID && (app != 0 || tables > 0):
		return 0, errors.New("the file is a database of another program: expected tasks or no file")
	case version > fileVersion:
		return 0, fmt.Errorf("the file has version %d: expected at most %d (a newer program has written it)", version, fileVersion)
	}
	return version, nil
}
