package sqlite

import (
	"context"
	"fmt"
	"time"
)

// Entry tells of a snapshot without reading it.
type Entry struct {
	ID    string
	Saved time.Time // in milliseconds, UTC
	Size  int       // in bytes
}

// List returns the snapshots that were saved last, the newest first, at most
// limit: what a program that starts may go on with.
func (s *Store) List(ctx context.Context, limit int) ([]Entry, error) {
	if limit < 1 {
		return nil, s.fail(ctx, "list", fmt.Errorf("limit is %d, expected 1 or more", limit))
	}
	var entries []Entry
	err := s.do(ctx, func() (err error) {
		entries, err = s.list(ctx, limit)
		return err
	})
	return entries, s.fail(ctx, "list", err)
}

func (s *Store) list(ctx context.Context, limit int) (entries []Entry, err error) {
	rows, err := s.reader.QueryContext(ctx,
		"SELECT id, saved, length(snapshot) FROM snapshots ORDER BY saved DESC, id LIMIT ?", limit)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	for rows.Next() {
		var e Entry
		var id []byte
		var saved int64
		if err := rows.Scan(&id, &saved, &e.Size); err != nil {
			return nil, err
		}
		e.ID, e.Saved = string(id), time.UnixMilli(saved).UTC()
		entries = append(entries, e)
	}
	return entries, rows.Err()
}

// expiredAtOnce is how many snapshots one transaction of Expire deletes: those
// who save meanwhile wait for no more.
const expiredAtOnce = 100

// Expire deletes the snapshots that were last saved longer ago than age, and
// returns how many there were. When it returns nil, nothing that was deleted
// before, by Delete or by itself, is left in the file or its log. Where it fails
// some may be deleted already.
func (s *Store) Expire(ctx context.Context, age time.Duration) (deleted int, err error) {
	if age <= 0 {
		return 0, s.fail(ctx, "expire", fmt.Errorf("the age is %v, expected more than 0", age))
	}
	before := s.opts.Now().Add(-age).UnixMilli()
	for {
		var n int64
		err := s.do(ctx, func() error {
			r, err := s.writer.ExecContext(ctx, `DELETE FROM snapshots WHERE rowid IN
				(SELECT rowid FROM snapshots WHERE saved < ? ORDER BY saved LIMIT ?)`, before, expiredAtOnce)
			if err == nil {
				n, err = r.RowsAffected()
			}
			return err
		})
		deleted += int(n)
		if err != nil {
			return deleted, s.fail(ctx, "expire", err)
		}
		if n < expiredAtOnce {
			break
		}
	}
	return deleted, s.fail(ctx, "expire: empty the log", s.do(ctx, func() error { return s.checkpoint(ctx) }))
}

// checkpoint moves the log into the file and empties it.
func (s *Store) checkpoint(ctx context.Context) error {
	var busy, pages, moved int
	if err := s.writer.QueryRowContext(ctx, "PRAGMA wal_checkpoint(TRUNCATE)").Scan(&busy, &pages, &moved); err != nil {
		return err
	}
	if busy != 0 {
		return errBusy
	}
	return nil
}
