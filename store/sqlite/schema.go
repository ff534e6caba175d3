package sqlite

import (
	"context"
	"database/sql"
	"embed"
	"errors"
	"fmt"
	"io/fs"

	"github.com/pressly/goose/v3"
)

//go:embed migrations/*.sql
var migrations embed.FS

const (
	// schemaVersion is that of the last migration.
	schemaVersion = 7
	// applicationID is in the header of the file, to tell it from the databases of
	// other programs: "hock".
	applicationID = 0x686f636b
)

// pageSize holds for a file that is empty as yet. Snapshots have 5 to 30 KB, which
// are saved a quarter faster than with SQLite's own 4096 bytes.
const pageSize = "_pragma=page_size(8192)"

// migrate brings the schema to schemaVersion, whatever it is now. Each try begins
// with a look at the file: another store, which then keeps it open, may have been
// quicker.
func (s *Store) migrate(ctx context.Context) error {
	return s.retry(ctx, func() error {
		version, err := s.version(ctx)
		if err != nil || version == schemaVersion {
			return err
		}
		// A connection with this setting keeps every lock that it got until it is
		// closed: stores that are opened at the same time wait. It keeps the lock
		// for reading too where it was refused that for writing, therefore each try
		// has one of its own: two could stand in each other's way for ever.
		db, err := connect(s.file, 1, "_pragma=locking_mode(EXCLUSIVE)", pageSize)
		if err != nil {
			return err
		}
		return errors.Join(migrateAlone(ctx, db), db.Close())
	})
}

// version is that of the schema. Its connection is closed again: it would be in the
// way of who wants to be alone with the file.
func (s *Store) version(ctx context.Context) (int64, error) {
	db, err := connect(s.file, 1)
	if err != nil {
		return 0, err
	}
	version, err := inspect(ctx, db)
	return version, errors.Join(err, db.Close())
}

// migrateAlone runs what is missing on the only connection to the file.
func migrateAlone(ctx context.Context, db *sql.DB) error {
	if _, err := db.ExecContext(ctx, "BEGIN EXCLUSIVE; COMMIT"); err != nil {
		return fmt.Errorf("wait to be alone with the file: %w", err)
	}
	version, err := inspect(ctx, db) // another may have been quicker
	if err != nil || version == schemaVersion {
		return err
	}
	// Before the first table, or the next one would take the file for a stranger's.
	if _, err := db.ExecContext(ctx, fmt.Sprintf("PRAGMA application_id = %d", applicationID)); err != nil {
		return err
	}
	files, err := fs.Sub(migrations, "migrations")
	if err != nil {
		return err
	}
	provider, err := goose.NewProvider(goose.DialectSQLite3, db, files,
		goose.WithDisableGlobalRegistry(true), goose.WithLogger(goose.NopLogger()))
	if err != nil {
		return err
	}
	if _, err := provider.Up(ctx); err != nil {
		return fmt.Errorf("migrate from version %d to %d: %w", version, schemaVersion, err)
	}
	return nil
}

// inspect returns the version of the schema, 0 for a file without one. Another
// program's file and one of a newer version are errors.
func inspect(ctx context.Context, db *sql.DB) (version int64, err error) {
	tx, err := db.BeginTx(ctx, nil) // deferred: all that is read is of one moment
	if err != nil {
		return 0, err
	}
	defer func() {
		if e := tx.Rollback(); err == nil {
			err = e
		}
	}()
	var app, tables int64
	var versioned bool
	if err := tx.QueryRowContext(ctx, "PRAGMA application_id").Scan(&app); err != nil {
		return 0, err
	}
	const schema = "SELECT count(*), ifnull(max(type = 'table' AND name = ?), 0) FROM sqlite_schema"
	if err := tx.QueryRowContext(ctx, schema, goose.DefaultTablename).Scan(&tables, &versioned); err != nil {
		return 0, err
	}
	if app != applicationID && (app != 0 || tables > 0) {
		return 0, errors.New("the file is the database of another program: expected a store, or no file")
	}
	if versioned {
		const last = "SELECT ifnull(max(version_id), 0) FROM " + goose.DefaultTablename + " WHERE is_applied"
		if err := tx.QueryRowContext(ctx, last).Scan(&version); err != nil {
			return 0, err
		}
	}
	if version > schemaVersion {
		return 0, fmt.Errorf("the file has schema version %d, expected at most %d: a newer program has used it", version, schemaVersion)
	}
	return version, nil
}
