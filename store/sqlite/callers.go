package sqlite

import (
	"context"
	"errors"
	"strings"
	"time"

	"github.com/hocketvoice/hocket/port"
	"github.com/hocketvoice/hocket/store"
)

// Mark marks a conversation as its caller's.
func (s *Store) Mark(ctx context.Context, id string, mark []byte) error {
	err := errors.Join(store.CheckID(id), store.CheckMark(mark))
	if err == nil {
		err = s.do(ctx, func() error {
			_, err := s.writer.ExecContext(ctx, "UPDATE snapshots SET caller = ?2 WHERE id = ?1 AND caller IS NOT ?2", []byte(id), mark)
			return err
		})
	}
	return s.fail(ctx, "mark "+store.Quote(id), err)
}

// Marked returns the snapshots with one of the marks, and those of which it is not known.
func (s *Store) Marked(ctx context.Context, marks, prefixes [][]byte) ([]port.Entry, error) {
	var args []any
	list := func(all [][]byte) string {
		for _, b := range all {
			args = append(args, b)
		}
		return strings.TrimSuffix(strings.Repeat("?, ", len(all)), ", ")
	}
	// Each part is answered by the index alone: the snapshots are not read.
	found := "SELECT id, true AS marked FROM snapshots WHERE caller IN (" + list(marks) + ")" +
		" UNION ALL SELECT id, false FROM snapshots WHERE caller IS NULL" +
		" UNION ALL SELECT id, false FROM snapshots WHERE caller NOT NULL AND caller NOT IN (" + list(marks) + ")"
	for _, p := range prefixes {
		found += " AND substr(caller, 1, ?) <> ?"
		args = append(args, len(p), p)
	}
	var entries []port.Entry
	err := s.do(ctx, func() (err error) {
		entries, err = s.entries(ctx, "SELECT s.id, s.saved, length(s.snapshot), f.marked FROM ("+found+
			") f CROSS JOIN snapshots s ON s.id = f.id ORDER BY s.saved DESC, s.id", args...)
		return err
	})
	return entries, s.fail(ctx, "find a caller", err)
}

// entries reads the rows of a query: the id, the time, the size, and whether it is marked.
func (s *Store) entries(ctx context.Context, text string, args ...any) (list []port.Entry, err error) {
	rows, err := s.reader.QueryContext(ctx, text, args...)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	for rows.Next() {
		var e port.Entry
		var id []byte
		var saved int64
		if err := rows.Scan(&id, &saved, &e.Size, &e.Marked); err != nil {
			return nil, err
		}
		e.ID, e.Saved = string(id), time.UnixMilli(saved).UTC()
		list = append(list, e)
	}
	return list, rows.Err()
}
