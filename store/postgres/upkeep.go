package postgres

import (
	"context"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/hocketvoice/hocket/port"
)

// List returns the snapshots that were saved last.
func (s *Store) List(ctx context.Context, limit int) ([]port.Entry, error) {
	if limit < 1 {
		return nil, s.fail(ctx, "list", fmt.Errorf("limit is %d: expected 1 or more", limit))
	}
	limited, end := s.limited(ctx)
	defer end()
	rows, err := s.pool.Query(limited, "SELECT id, saved, length(snapshot), false FROM hocket.snapshots ORDER BY saved DESC, id LIMIT $1", limit)
	var entries []port.Entry
	if err == nil {
		entries, err = pgx.CollectRows(rows, toEntry)
	}
	return entries, s.fail(ctx, "list", err)
}

// expiredAtOnce is the number of conversations that one query of Expire returns.
const expiredAtOnce = 1000

// expired selects conversations that no live node holds and that are older than $1. Their
// age is that of the snapshot, without one that of the claim, and without a claim that of
// the journal's first piece.
const expired = `
	WITH held AS (SELECT c.id FROM hocket.claims c JOIN hocket.nodes n ON n.id = c.node WHERE n.until > clock_timestamp()),
	old AS (SELECT clock_timestamp() - $1::interval AS at)
	SELECT id FROM hocket.snapshots s, old WHERE saved < at AND NOT EXISTS (SELECT FROM held WHERE id = s.id)
	UNION SELECT id FROM hocket.claims c, old WHERE moved < at AND NOT EXISTS (SELECT FROM held WHERE id = c.id)
		AND NOT EXISTS (SELECT FROM hocket.snapshots WHERE id = c.id)
	UNION SELECT id FROM hocket.journal j, old WHERE number = 1 AND added < at
		AND NOT EXISTS (SELECT FROM hocket.snapshots WHERE id = j.id) AND NOT EXISTS (SELECT FROM hocket.claims WHERE id = j.id)
	LIMIT $2`

// Expire deletes the conversations that were last saved longer ago than age and that no
// live node holds. Several processes may call it concurrently.
func (s *Store) Expire(ctx context.Context, age time.Duration) (deleted int, err error) {
	if age <= 0 {
		return 0, s.fail(ctx, "expire", fmt.Errorf("the age is %v: expected more than 0", age))
	}
	for {
		n, err := s.expire(ctx, age)
		deleted += n
		if err == nil && n == 0 && deleted > 0 {
			err = s.tidyUp(ctx)
		}
		if err != nil || n == 0 {
			return deleted, s.fail(ctx, "expire", err)
		}
	}
}

// expire deletes a batch of conversations, each in its own transaction: a transaction
// that locks several conversations could deadlock with another.
func (s *Store) expire(ctx context.Context, age time.Duration) (deleted int, err error) {
	ids, err := s.expired(ctx, age)
	if err != nil {
		return 0, err
	}
	for _, id := range ids {
		gone, err := s.removeDead(ctx, id, age)
		if err != nil {
			return deleted, err
		}
		if gone {
			deleted++
		}
	}
	return deleted, nil
}

// expired returns the next conversations to delete.
func (s *Store) expired(ctx context.Context, age time.Duration) ([][]byte, error) {
	limited, end := s.limited(ctx)
	defer end()
	rows, err := s.pool.Query(limited, expired, age, expiredAtOnce)
	if err != nil {
		return nil, err
	}
	return pgx.CollectRows(rows, pgx.RowTo[[]byte])
}

// removing deletes conversation $1 if it is still older than $2 and no live node holds
// it, and in any case the row that making created. It is a separate statement after those
// that lock the claim, so that it sees what changed while they waited.
const removing = `
	WITH old AS (SELECT clock_timestamp() - $2::interval AS at
		WHERE NOT EXISTS (SELECT FROM hocket.claims c JOIN hocket.nodes n ON n.id = c.node WHERE c.id = $1 AND n.until > clock_timestamp())
		AND coalesce((SELECT saved FROM hocket.snapshots WHERE id = $1), (SELECT moved FROM hocket.claims WHERE id = $1 AND token <> 0),
			(SELECT added FROM hocket.journal WHERE id = $1 AND number = 1)) < clock_timestamp() - $2::interval),
	snapshot AS (DELETE FROM hocket.snapshots s USING old WHERE s.id = $1 AND s.saved < old.at),
	pieces AS (DELETE FROM hocket.journal USING old WHERE id = $1),
	sound AS (DELETE FROM hocket.recordings USING old WHERE id = $1),
	version AS (DELETE FROM hocket.versions USING old WHERE id = $1),
	claim AS (DELETE FROM hocket.claims WHERE id = $1 AND (token = 0 OR EXISTS (SELECT FROM old)))
	SELECT EXISTS (SELECT FROM old)`

// removeDead deletes a conversation unless it was claimed, saved or deleted since it was
// found. It locks the claim first, like writes do, which avoids deadlocks with them; if
// there is no claim it creates one.
func (s *Store) removeDead(ctx context.Context, id []byte, age time.Duration) (deleted bool, err error) {
	limited, end := s.limited(ctx)
	defer end()
	var b pgx.Batch
	b.Queue(making, id)
	b.Queue(locking, id)
	b.Queue(removing, id, age).QueryRow(func(row pgx.Row) error { return row.Scan(&deleted) })
	err = s.pool.SendBatch(limited, &b).Close()
	return deleted && err == nil, err
}
