package sqlite

import (
	"context"
	"database/sql"
	"fmt"
	"slices"
	"time"

	"github.com/hocketvoice/hocket/internal/sqlitefile"
	"github.com/hocketvoice/hocket/port"
)

// List returns the snapshots that were saved last, the newest first. Times have a
// resolution of a millisecond.
func (s *Store) List(ctx context.Context, limit int) ([]port.Entry, error) {
	if limit < 1 {
		return nil, s.fail(ctx, "list", fmt.Errorf("limit is %d: expected 1 or more", limit))
	}
	var entries []port.Entry
	err := s.do(ctx, func() (err error) {
		entries, err = s.list(ctx, limit)
		return err
	})
	return entries, s.fail(ctx, "list", err)
}

func (s *Store) list(ctx context.Context, limit int) ([]port.Entry, error) {
	return s.entries(ctx, "SELECT id, saved, length(snapshot), false FROM snapshots ORDER BY saved DESC, id LIMIT ?", limit)
}

// expiredAtOnce is the number of conversations that one transaction of Expire deletes,
// which bounds how long others wait to save. One query returns ten times as many.
const expiredAtOnce = 100

// expired selects conversations that no node alive at ?2 holds and that are older than ?1.
// Their age is that of the snapshot, without one that of the claim, and without a claim
// that of the journal's first piece.
const expired = `
	WITH held (id) AS (SELECT c.id FROM claims c JOIN nodes n ON n.id = c.node WHERE n.until > ?2)
	SELECT id FROM snapshots WHERE saved < ?1 AND id NOT IN held
	UNION SELECT id FROM claims WHERE moved < ?1 AND id NOT IN held AND id NOT IN (SELECT id FROM snapshots)
	UNION SELECT id FROM journal WHERE number = 1 AND added < ?1
		AND id NOT IN (SELECT id FROM snapshots) AND id NOT IN (SELECT id FROM claims)
	LIMIT ?3`

// spared is true if conversation ?3 was saved, claimed or deleted since it was found.
const spared = `SELECT EXISTS (SELECT 1 FROM claims c JOIN nodes n ON n.id = c.node WHERE c.id = ?3 AND n.until > ?2)
	OR ifnull(coalesce((SELECT saved FROM snapshots WHERE id = ?3), (SELECT moved FROM claims WHERE id = ?3),
		(SELECT added FROM journal WHERE id = ?3 AND number = 1)) >= ?1, true)`

// Expire deletes the conversations that were last saved longer ago than age and that no
// live node holds, and returns their number. If the error is nil, the file and its log no
// longer contain any deleted data. Otherwise some conversations may be deleted already.
func (s *Store) Expire(ctx context.Context, age time.Duration) (deleted int, err error) {
	if age <= 0 {
		return 0, s.fail(ctx, "expire", fmt.Errorf("the age is %v: expected more than 0", age))
	}
	for n := 1; n > 0; deleted += n {
		if n, err = s.expire(ctx, age); err != nil {
			return deleted + n, s.fail(ctx, "expire", err)
		}
	}
	return deleted, s.fail(ctx, "expire: empty the log", s.do(ctx, func() error { return s.checkpoint(ctx) }))
}

// expire deletes a batch of conversations. It searches without a lock, since the search
// may take long.
func (s *Store) expire(ctx context.Context, age time.Duration) (deleted int, err error) {
	now := s.opts.Now()
	before := now.Add(-age).UnixMilli()
	var ids [][]byte
	err = s.do(ctx, func() (err error) {
		ids, err = column[[]byte](s.reader.QueryContext(ctx, expired, before, now.UnixMilli(), 10*expiredAtOnce))
		return err
	})
	if err != nil {
		return 0, err
	}
	for some := range slices.Chunk(ids, expiredAtOnce) {
		var n int
		if err := s.write(ctx, func(tx *sql.Tx) (err error) {
			n, err = s.removeDead(ctx, tx, some, before)
			return err
		}); err != nil {
			return deleted, err
		}
		deleted += n
	}
	return deleted, nil
}

// removeDead deletes those of the conversations that are still expired.
func (s *Store) removeDead(ctx context.Context, tx *sql.Tx, ids [][]byte, before int64) (deleted int, err error) {
	for _, id := range ids {
		var stays bool
		if err := tx.QueryRowContext(ctx, spared, before, s.opts.Now().UnixMilli(), id).Scan(&stays); err != nil {
			return 0, err
		}
		if stays {
			continue
		}
		if err := remove(ctx, tx, id); err != nil {
			return 0, err
		}
		deleted++
	}
	return deleted, nil
}

// column returns the values of the only column of rows.
func column[T any](rows *sql.Rows, err error) (list []T, _ error) {
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	for rows.Next() {
		var v T
		if err := rows.Scan(&v); err != nil {
			return nil, err
		}
		list = append(list, v)
	}
	return list, rows.Err()
}

// checkpoint moves the log into the file and empties it.
func (s *Store) checkpoint(ctx context.Context) error {
	busy, err := sqlitefile.EmptyLog(ctx, s.writer)
	if err == nil && busy {
		err = errBusy
	}
	return err
}
