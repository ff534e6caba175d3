package task

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"log/slog"
	"strconv"
	"strings"
	"time"

	"github.com/cschleiden/go-workflows/backend"
	"github.com/cschleiden/go-workflows/backend/postgres"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/jackc/pgx/v5/stdlib"
	"github.com/pressly/goose/v3"

	"github.com/hocketvoice/hocket/internal/wait"
)

const (
	// migrationLock is the advisory lock held during a migration: "hoctask".
	migrationLock = 0x686f637461736b
	connections   = 8 // of this process; one more is used for LISTEN
	channel       = "hocket_tasks"
)

// openURL opens the PostgreSQL database. It uses a separate schema, because the names
// of the engine's tables are common, and clearBroken drops tables.
func openURL(ctx context.Context, o Options, worker string) (*database, error) {
	pool, err := pgxpool.ParseConfig(o.URL) // accepts pool settings, which the URL may contain for other programs
	if err != nil {
		return nil, errors.New("the URL is invalid: expected postgres://user:password@host:port/database") // the parser's error contains the URL
	}
	config := pool.ConnConfig
	if config.ConnectTimeout == 0 {
		config.ConnectTimeout = 5 * time.Second
	}
	config.RuntimeParams["search_path"] = schemaOfOwn
	config.RuntimeParams["application_name"] = "hocket tasks"
	if err := migrateURL(ctx, config); err != nil {
		return nil, err
	}
	// The database ends statements and transactions of broken connections.
	for _, name := range []string{"statement_timeout", "idle_in_transaction_session_timeout"} {
		if config.RuntimeParams[name] == "" {
			config.RuntimeParams[name] = strconv.FormatInt(statementLimit.Milliseconds(), 10)
		}
	}
	db := stdlib.OpenDB(*config)
	db.SetMaxOpenConns(connections)
	db.SetMaxIdleConns(connections)
	db.SetConnMaxIdleTime(time.Minute)
	return &database{
		postgres: true, writer: db, reader: db, config: config,
		engine: postgres.NewPostgresBackendWithDB(db, postgres.WithBackendOptions(engineOptions(o, worker)...)),
	}, nil
}

// migrateURL migrates the schema to the version of this program. If several processes
// start at once, one migrates and the others wait. Tables left by a process that died
// during the first migration are dropped; they do not contain tasks yet.
func migrateURL(ctx context.Context, config *pgx.ConnConfig) (err error) {
	lock, err := pgx.ConnectConfig(ctx, config.Copy())
	if err != nil {
		return fmt.Errorf("connect to %s: %w", config.Host, err)
	}
	defer func() { err = errors.Join(err, lock.Close(context.WithoutCancel(ctx))) }() // also releases the lock
	if _, err := lock.Exec(ctx, "SELECT pg_advisory_lock($1)", int64(migrationLock)); err != nil {
		return fmt.Errorf("wait for the migration by another process: %w", err)
	}
	if err := clearBroken(ctx, lock); err != nil {
		return fmt.Errorf("create the schema %s: %w", schemaOfOwn, err)
	}
	db := stdlib.OpenDB(*config.Copy())
	defer func() { err = errors.Join(err, db.Close()) }()
	quiet := postgres.WithBackendOptions(backend.WithLogger(slog.New(slog.DiscardHandler)))
	if err := postgres.NewPostgresBackendWithDB(db, quiet).Migrate(); err != nil {
		return err
	}
	return migrateOwn(ctx, db, goose.DialectPostgres, "postgres")
}

// clearBroken creates the schema if it does not exist, and empties it if it is
// incomplete. The tasks table is created last.
func clearBroken(ctx context.Context, c *pgx.Conn) error {
	var there, whole bool
	if err := c.QueryRow(ctx, "SELECT to_regnamespace($1) IS NOT NULL, to_regclass($1 || '.hocket_tasks') IS NOT NULL", schemaOfOwn).Scan(&there, &whole); err != nil || whole {
		return err
	}
	if !there {
		_, err := c.Exec(ctx, "CREATE SCHEMA "+schemaOfOwn)
		return err
	}
	rows, err := c.Query(ctx, "SELECT format('DROP TABLE %I.%I CASCADE', schemaname, tablename) FROM pg_tables WHERE schemaname = $1", schemaOfOwn)
	if err != nil {
		return err
	}
	drops, err := pgx.CollectRows(rows, pgx.RowTo[string])
	if err != nil || len(drops) == 0 {
		return err
	}
	_, err = c.Exec(ctx, strings.Join(drops, ";"))
	return err
}

// listen wakes the followers of tasks changed by other processes, until ctx ends. While
// there is no connection, only pollAll does, more slowly.
func (t *Tasks) listen(ctx context.Context) {
	for ctx.Err() == nil {
		err := t.listenOnce(ctx)
		if ctx.Err() == nil {
			t.o.Log.Warn("cannot listen for changes of tasks, polling instead", "err", err)
		}
		_ = wait.For(ctx, time.Second)
	}
}

func (t *Tasks) listenOnce(ctx context.Context) (err error) {
	c, err := pgx.ConnectConfig(ctx, t.db.config.Copy())
	if err != nil {
		return err
	}
	defer func() {
		closing, cancel := context.WithTimeout(context.WithoutCancel(ctx), time.Second)
		defer cancel()
		err = errors.Join(err, c.Close(closing))
	}()
	if _, err := c.Exec(ctx, "LISTEN "+channel); err != nil {
		return err
	}
	for {
		n, err := c.WaitForNotification(ctx)
		if err != nil {
			return err
		}
		t.watch.poke(n.Payload)
	}
}

// alone prevents other transactions from starting a task of the same kind until this
// one ends. A SQLite file has only one writer.
func (d *database) alone(ctx context.Context, tx *sql.Tx, what string) error {
	if !d.postgres {
		return nil
	}
	_, err := tx.ExecContext(ctx, "SELECT pg_advisory_xact_lock(hashtextextended($1, 0))", what)
	return err
}
