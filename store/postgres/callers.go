package postgres

import (
	"context"
	"errors"

	"github.com/jackc/pgx/v5"

	"github.com/hocketvoice/hocket/port"
	"github.com/hocketvoice/hocket/store"
)

// marked are the snapshots with one of the marks $1, and those without a mark or with one
// that begins with none of the prefixes $2.
const marked = `
	WITH found AS (
		SELECT id, true AS marked FROM hocket.snapshots WHERE caller = ANY ($1)
		UNION ALL SELECT id, false FROM hocket.snapshots WHERE caller IS NULL
		UNION ALL SELECT id, false FROM hocket.snapshots WHERE caller IS NOT NULL AND caller <> ALL ($1)
			AND NOT EXISTS (SELECT FROM unnest($2::bytea[]) AS p WHERE substr(caller, 1, length(p)) = p))
	SELECT s.id, s.saved, length(s.snapshot), f.marked FROM found f JOIN hocket.snapshots s ON s.id = f.id ORDER BY s.saved DESC, s.id`

// Mark marks a conversation as its caller's.
func (s *Store) Mark(ctx context.Context, id string, mark []byte) error {
	err := errors.Join(store.CheckID(id), store.CheckMark(mark))
	if err == nil {
		limited, end := s.limited(ctx)
		defer end()
		_, err = s.pool.Exec(limited, "UPDATE hocket.snapshots SET caller = $2 WHERE id = $1 AND caller IS DISTINCT FROM $2", []byte(id), mark)
	}
	return s.fail(ctx, "mark "+store.Quote(id), err)
}

// Marked returns the snapshots with one of the marks, and those of which it is not known.
func (s *Store) Marked(ctx context.Context, marks, prefixes [][]byte) ([]port.Entry, error) {
	limited, end := s.limited(ctx)
	defer end()
	none := [][]byte{} // nil is NULL
	rows, err := s.pool.Query(limited, marked, append(none, marks...), append(none, prefixes...))
	var entries []port.Entry
	if err == nil {
		entries, err = pgx.CollectRows(rows, toEntry)
	}
	return entries, s.fail(ctx, "find a caller", err)
}

// toEntry reads a row: the id, the time, the size, and whether it is marked.
func toEntry(row pgx.CollectableRow) (e port.Entry, err error) {
	var id []byte
	err = row.Scan(&id, &e.Saved, &e.Size, &e.Marked)
	e.ID, e.Saved = string(id), e.Saved.UTC()
	return e, err
}
