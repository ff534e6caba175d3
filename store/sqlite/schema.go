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
	// schemaVersion is the version of the last migration.
	schemaVersion = 8
	// applicationID is stored in the header of the file and distinguishes it from
	// databases of other programs: "hock".
	applicationID = 0x686f636b
)

// pageSize applies to new files. Snapshots have 5 to 30 KB and are saved a quarter faster
// than with the default of 4096 bytes.
const pageSize = "_pragma=page_size(8192)"

// migrate brings the schema to schemaVersion. Each attempt checks the version first, since
// another store may have migrated the file and keep it open.
func (s *Store) migrate(ctx context.Context) error {
	return s.retry(ctx, func() error {
		version, err := s.version(ctx)
		if err != nil || version == schemaVersion {
			return err
		}
		// A connection with this setting keeps its locks until it is closed, so that
		// stores opened at the same time wait. It also keeps a lock for reading if it
		// does not get the one for writing. Therefore each attempt has its own
		// connection: otherwise two could block each other forever.
		db, err := connect(s.file, 1, "_pragma=locking_mode(EXCLUSIVE)", pageSize)
		if err != nil {
			return err
		}
		return errors.Join(migrateAlone(ctx, db), db.Close())
	})
}

// version returns the version of the schema. It closes its connection, which would block a
// migration.
func (s *Store) version(ctx context.Context) (int64, error) {
	db, err := connect(s.file, 1)
	if err != nil {
		return 0, err
	}
	version, err := inspect(ctx, db)
	return version, errors.Join(err, db.Close())
}

// migrateAlone runs the missing migrations on the only connection to the file.
func migrateAlone(ctx context.Context, db *sql.DB) error {
	if _, err := db.ExecContext(ctx, "BEGIN EXCLUSIVE; COMMIT"); err != nil {
		return fmt.Errorf("wait for exclusive access to the file: %w", err)
	}
	version, err := inspect(ctx, db) // another process may have migrated meanwhile
	if err != nil || version == schemaVersion {
		return err
	}
	// This comes before the first table: inspect rejects a file with tables and another id.
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

// inspect returns the version of the schema, or 0 if there is none. It returns an error
// for a file of another program or of a newer version.
func inspect(ctx context.Context, db *sql.DB) (version int64, err error) {
	tx, err := db.BeginTx(ctx, nil) // so that all queries see the same state
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
		return 0, errors.New("the file is the database of another program: expected a store or no file")
	}
	if versioned {
		const last = "SELECT ifnull(max(version_id), 0) FROM " + goose.DefaultTablename + " WHERE is_applied"
		if err := tx.QueryRowContext(ctx, last).Scan(&version); err != nil {
			return 0, err
		}
	}
	if version > schemaVersion {
		return 0, fmt.Errorf("the file has schema version %d: expected at most %d (a newer program has used it)", version, schemaVersion)
	}
	return version, nil
}
