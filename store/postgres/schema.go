package postgres

import (
	"context"
	"database/sql"
	"embed"
	"errors"
	"fmt"
	"io/fs"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/stdlib"
	"github.com/pressly/goose/v3"
)

//go:embed migrations/*.sql
var migrations embed.FS

const (
	// schemaVersion is the version of the last migration.
	schemaVersion = 7
	// migrationLock is the number of the advisory lock for migrations: "hocket".
	migrationLock = 0x686f636b6574
	versions      = "hocket.goose_db_version"
)

// migrate brings the schema to schemaVersion. If several processes call it, one migrates
// and the others wait.
func (s *Store) migrate(ctx context.Context) error {
	limited, end := s.limited(ctx)
	defer end()
	version, err := s.version(limited, s.pool)
	if err != nil || version == schemaVersion {
		return err
	}
	if version == 0 && s.opts.Existing {
		return ErrNone
	}
	tx, err := s.pool.Begin(ctx)
	if err != nil {
		return err
	}
	defer func() { _ = tx.Rollback(context.WithoutCancel(ctx)) }() // the transaction only holds the lock
	// A migration may take longer than a call.
	if _, err := tx.Exec(ctx, "SET LOCAL statement_timeout = 0; SET LOCAL idle_in_transaction_session_timeout = 0"); err != nil {
		return err
	}
	if _, err := tx.Exec(ctx, "SELECT pg_advisory_xact_lock($1)", int64(migrationLock)); err != nil {
		return fmt.Errorf("wait for migrations by other processes: %w", err)
	}
	if version, err = s.version(ctx, tx); err != nil || version == schemaVersion {
		return err // another process has migrated meanwhile
	}
	if err := s.up(ctx); err != nil {
		return fmt.Errorf("migrate from version %d to %d: %w", version, schemaVersion, err)
	}
	return nil
}

// up runs the missing migrations on a separate connection.
func (s *Store) up(ctx context.Context) error {
	c := s.pool.Config().ConnConfig
	c.RuntimeParams["statement_timeout"] = "0"
	db := stdlib.OpenDB(*c)
	db.SetMaxOpenConns(1)
	var there bool
	err := db.QueryRowContext(ctx, "SELECT to_regnamespace('hocket') IS NOT NULL").Scan(&there)
	if err == nil && !there {
		_, err = db.ExecContext(ctx, "CREATE SCHEMA hocket")
	}
	if err == nil {
		err = runMigrations(ctx, db)
	}
	return errors.Join(err, db.Close())
}

// querier is a pool or a transaction.
type querier interface {
	QueryRow(ctx context.Context, text string, args ...any) pgx.Row
}

// version returns the version of the schema, or 0 if there is none. It returns an error if
// the version is newer than schemaVersion.
func (s *Store) version(ctx context.Context, q querier) (version int64, err error) {
	var there bool
	if err := q.QueryRow(ctx, "SELECT to_regclass($1) IS NOT NULL", versions).Scan(&there); err != nil || !there {
		return 0, err
	}
	err = q.QueryRow(ctx, "SELECT coalesce(max(version_id), 0) FROM "+versions+" WHERE is_applied").Scan(&version)
	if err == nil && version > schemaVersion {
		err = fmt.Errorf("the schema hocket has version %d: expected at most %d (a newer program has used it)", version, schemaVersion)
	}
	return version, err
}

// runMigrations runs the missing migrations.
func runMigrations(ctx context.Context, db *sql.DB) error {
	files, err := fs.Sub(migrations, "migrations")
	if err != nil {
		return err
	}
	provider, err := goose.NewProvider(goose.DialectPostgres, db, files,
		goose.WithTableName(versions), goose.WithDisableGlobalRegistry(true), goose.WithLogger(goose.NopLogger()))
	if err != nil {
		return err
	}
	_, err = provider.Up(ctx)
	return err
}
