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

var (
	_ port.Store      = (*Store)(nil)
	_ port.Journal    = (*Store)(nil)
	_ port.Recordings = (*Store)(nil)
	_ port.Registry   = (*Store)(nil)
	_ port.Archive    = (*Store)(nil)
	_ port.Tickets    = (*Store)(nil)
	_ port.Versions   = (*Store)(nil)
)

// Store keeps conversations in a database. It is safe for concurrent use.
type Store struct {
	opts Options
	name string // of the database, without user and password
	pool *pgxpool.Pool

	writes *atomic.Int64 // counts them: see sent
}

// Open connects to a database, and brings it to the version of this program. ctx bounds
// Open alone.
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

// Close waits for the calls that run and ends the connections. Calls after it fail;
// closing again does nothing.
func (s *Store) Close() error {
	s.pool.Close()
	return nil
}

// fail says where an operation failed. The server's message names tables and settings,
// no values: those are parameters.
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

// limited bounds a call. Its end must be called.
func (s *Store) limited(ctx context.Context) (context.Context, context.CancelFunc) {
	return context.WithTimeout(ctx, s.opts.Timeout)
}

// The statements that write begin with a look at the claim. FOR SHARE has a claim wait
// until they are done, and has them wait for a claim that is being made and look again:
// nothing that began before a claim is written behind it.
const (
	held = "WITH held AS (SELECT id FROM hocket.claims WHERE id = $1 AND token = $2 FOR SHARE)"
	// free is the same for a hold without a token. There is no claim that could be
	// locked: such holds are those of a store's only process.
	free = "WITH held AS (SELECT $1::bytea AS id WHERE $2 = 0::bigint AND NOT EXISTS (SELECT FROM hocket.claims WHERE id = $1))"

	// saving leaves a snapshot that was sent later under the same claim: see sent.
	saving = `, saved AS (INSERT INTO hocket.snapshots AS s (id, saved, snapshot, token, number)
		SELECT id, clock_timestamp(), $3, $2, $4 FROM held
		ON CONFLICT (id) DO UPDATE SET saved = excluded.saved, snapshot = excluded.snapshot, token = excluded.token, number = excluded.number
		WHERE s.token <> excluded.token OR s.token = 0 OR s.number < excluded.number)
		SELECT count(*) FROM held`
)

// sent numbers the writes of this process. One that nobody waits for any more may still be
// on its way, in the buffers of a network that was away, and arrive behind a later one: it
// must not replace what that has written. Only one process writes under a claim, so its own
// numbers are enough.
func (s *Store) sent() int64 { return s.writes.Add(1) }

// fenced is a statement with the look at the claim of a hold.
func fenced(h port.Hold, text string) string {
	if h.Token == 0 {
		return free + text
	}
	return held + text
}

// Save replaces the snapshot of a conversation, in one statement. When it returns nil
// the snapshot survives the process, and the server as its synchronous_commit says.
// When it fails either snapshot may be there; it is not written any more when a later one
// is.
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

// Load returns the snapshot of a conversation; ok is false where there is none. One
// that is larger than MaxSnapshot is an error.
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

// Delete removes all that is kept of a conversation. Its bytes stay in the server's
// files until those are vacuumed and its log is used again: see the page of this
// package.
func (s *Store) Delete(ctx context.Context, id string) error {
	err := store.CheckID(id)
	if err == nil {
		limited, end := s.limited(ctx)
		defer end()
		// The claim goes first: what is being written is waited for, and what comes
		// later is fenced. A batch is a transaction.
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
