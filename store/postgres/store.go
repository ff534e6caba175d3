package postgres

import (
	"context"
	"errors"
	"fmt"
	"net"
	"strconv"
	"sync/atomic"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/hocketvoice/hocket/port"
	"github.com/hocketvoice/hocket/store"
)

var _ store.Engine = (*Store)(nil)

// Store stores conversations in a database. It is safe for concurrent use.
type Store struct {
	opts Options
	name string // of the database, without user and password
	pool *pgxpool.Pool

	writes *atomic.Int64 // number of writes: see sent
}

// Open connects to a database and migrates its schema to the version of this program. ctx
// applies to Open only.
func Open(ctx context.Context, o Options) (*Store, error) {
	c, err := o.pool()
	if err != nil {
		return nil, err
	}
	s := &Store{opts: o.withDefaults(), writes: new(atomic.Int64), name: net.JoinHostPort(c.ConnConfig.Host, strconv.Itoa(int(c.ConnConfig.Port))) + "/" + c.ConnConfig.Database}
	if s.pool, err = pgxpool.NewWithConfig(ctx, c); err != nil {
		return nil, s.fail(ctx, "open", err)
	}
	if err := s.migrate(ctx); err != nil {
		s.pool.Close()
		return nil, s.fail(ctx, "open", err)
	}
	return s, nil
}

// Close waits for running calls and closes the connections. Later calls fail; calling
// Close again does nothing.
func (s *Store) Close() error {
	s.pool.Close()
	return nil
}

// fail adds the database and the operation to an error. The server's messages contain no
// values, since values are passed as parameters.
func (s *Store) fail(ctx context.Context, op string, err error) error {
	switch {
	case err == nil:
		return nil
	case ctx.Err() != nil && !errors.Is(err, ctx.Err()):
		err = fmt.Errorf("%w: %w", ctx.Err(), err)
	case ctx.Err() == nil && (errors.Is(err, context.DeadlineExceeded) || pgconn.Timeout(err)):
		err = fmt.Errorf("no answer within %v: %w", s.opts.Timeout, err)
	}
	return fmt.Errorf("store %s: %s: %w", s.name, op, err)
}

// limited returns a context with the timeout of a call.
func (s *Store) limited(ctx context.Context) (context.Context, context.CancelFunc) {
	return context.WithTimeout(ctx, s.opts.Timeout)
}

// Statements that write begin by checking the claim. FOR SHARE makes a new claim wait
// until they are done, and makes them wait for a claim in progress and check it again:
// a write that began before a claim cannot take effect after it.
const (
	held = "WITH held AS (SELECT id FROM hocket.claims WHERE id = $1 AND token = $2 FOR SHARE)"
	// free does the same for a hold without a token, which the only process of a store
	// uses. There is no claim to lock.
	free = "WITH held AS (SELECT $1::bytea AS id WHERE $2 = 0::bigint AND NOT EXISTS (SELECT FROM hocket.claims WHERE id = $1))"

	// saving does not replace a snapshot that was sent later under the same claim: see
	// sent.
	saving = `, saved AS (INSERT INTO hocket.snapshots AS s (id, saved, snapshot, token, number)
		SELECT id, clock_timestamp(), $3, $2, $4 FROM held
		ON CONFLICT (id) DO UPDATE SET saved = excluded.saved, snapshot = excluded.snapshot, token = excluded.token, number = excluded.number
		WHERE s.token <> excluded.token OR s.token = 0 OR s.number < excluded.number)
		SELECT count(*) FROM held`
)

// sent returns the number of a write. A write whose caller has given up may be delayed in
// the network and arrive after a later one, which it must not replace. Only one process
// writes under a claim, so that numbers of this process are sufficient.
func (s *Store) sent() int64 { return s.writes.Add(1) }

// fenced adds the check of the claim of a hold to a statement.
func fenced(h port.Hold, text string) string {
	if h.Token == 0 {
		return free + text
	}
	return held + text
}

// Save replaces the snapshot of a conversation, in one statement. If it returns nil the
// snapshot survives the process, and the server according to its synchronous_commit. If
// it fails, the store may have either snapshot; the new one cannot replace a later one.
func (s *Store) Save(ctx context.Context, h port.Hold, snapshot []byte) error {
	err := errors.Join(store.CheckID(h.ID), store.CheckSize("snapshot", len(snapshot), s.opts.MaxSnapshot))
	if err == nil {
		if snapshot == nil {
			snapshot = []byte{} // nil is NULL
		}
		limited, end := s.limited(ctx)
		defer end()
		var n int
		err = s.pool.QueryRow(limited, fenced(h, saving), []byte(h.ID), h.Token, snapshot, s.sent()).Scan(&n)
		if err == nil && n == 0 {
			err = port.ErrFenced
		}
	}
	return s.fail(ctx, "save "+store.Quote(h.ID), err)
}

// Load returns the snapshot of a conversation. ok is false if there is none. It returns an
// error if the snapshot is larger than MaxSnapshot.
func (s *Store) Load(ctx context.Context, id string) (snapshot []byte, ok bool, err error) {
	if err := store.CheckID(id); err != nil {
		return nil, false, s.fail(ctx, "load "+store.Quote(id), err)
	}
	limited, end := s.limited(ctx)
	defer end()
	var size int
	err = s.pool.QueryRow(limited, `SELECT length(snapshot), CASE WHEN length(snapshot) <= $2 THEN snapshot END
		FROM hocket.snapshots WHERE id = $1`, []byte(id), s.opts.MaxSnapshot).Scan(&size, &snapshot)
	if errors.Is(err, pgx.ErrNoRows) {
		return nil, false, nil
	}
	if err == nil {
		err = store.CheckSize("snapshot", size, s.opts.MaxSnapshot)
	}
	if err != nil {
		return nil, false, s.fail(ctx, "load "+store.Quote(id), err)
	}
	return snapshot, true, nil
}

// Delete deletes all data of a conversation. Its bytes stay in the server's files until
// these are vacuumed and the log is reused: see the README of this package.
func (s *Store) Delete(ctx context.Context, id string) error {
	err := store.CheckID(id)
	if err == nil {
		limited, end := s.limited(ctx)
		defer end()
		// The claim is deleted first: this waits for running writes and fences later
		// ones. A batch is a transaction.
		var b pgx.Batch
		b.Queue("DELETE FROM hocket.claims WHERE id = $1", []byte(id))
		b.Queue("DELETE FROM hocket.snapshots WHERE id = $1", []byte(id))
		b.Queue("DELETE FROM hocket.journal WHERE id = $1", []byte(id))
		b.Queue("DELETE FROM hocket.recordings WHERE id = $1", []byte(id))
		b.Queue("DELETE FROM hocket.versions WHERE id = $1", []byte(id))
		if err = s.pool.SendBatch(limited, &b).Close(); err == nil {
			err = s.tidy(limited)
		}
	}
	return s.fail(ctx, "delete "+store.Quote(id), err)
}
