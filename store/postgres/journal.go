package postgres

import (
	"context"
	"fmt"

	"github.com/jackc/pgx/v5"

	"github.com/hocketvoice/hocket/port"
	"github.com/hocketvoice/hocket/store"
)

// piecesAtOnce is the number of pieces of a journal that one statement reads. The first
// statement reads one piece, since some callers only check whether there is any.
const piecesAtOnce = 32

// table is the name of a table of numbered pieces.
type table string

const (
	journalTable    table = "hocket.journal"
	recordingsTable table = "hocket.recordings"
)

// appending returns the part of a statement that adds a piece.
func (t table) appending() string {
	return `, added AS (INSERT INTO ` + string(t) + ` (id, number, added, records)
	SELECT id, $3, clock_timestamp(), $4 FROM held ON CONFLICT DO NOTHING)
	SELECT count(*) FROM held`
}

// Append adds a piece to the journal of a conversation, in one statement. It is as
// durable as Save. A piece has at most MaxSnapshot bytes.
func (s *Store) Append(ctx context.Context, h port.Hold, number int, records []byte) error {
	return s.append(ctx, journalTable, h, number, records)
}

// Read calls each with the pieces of a conversation in the order of their numbers. It
// holds no connection meanwhile: each may block, and may use the store.
func (s *Store) Read(ctx context.Context, id string, each func(number int, records []byte) error) error {
	return s.read(ctx, journalTable, id, each)
}

// Recordings returns the recordings.
func (s *Store) Recordings() port.Journal { return recordings{s} }

// recordings are the sound of conversations.
type recordings struct{ s *Store }

// Append adds a piece, like [Store.Append].
func (r recordings) Append(ctx context.Context, h port.Hold, number int, records []byte) error {
	return r.s.append(ctx, recordingsTable, h, number, records)
}

// Read reads the pieces, like [Store.Read].
func (r recordings) Read(ctx context.Context, id string, each func(number int, records []byte) error) error {
	return r.s.read(ctx, recordingsTable, id, each)
}

func (s *Store) append(ctx context.Context, to table, h port.Hold, number int, records []byte) error {
	err := store.CheckPiece(h.ID, number, len(records), s.opts.MaxSnapshot)
	if err == nil {
		if records == nil {
			records = []byte{} // nil is NULL
		}
		limited, end := s.limited(ctx)
		defer end()
		var n int
		err = s.pool.QueryRow(limited, fenced(h, to.appending()), []byte(h.ID), h.Token, number, records).Scan(&n)
		if err == nil && n == 0 {
			err = port.ErrFenced
		}
	}
	return s.fail(ctx, fmt.Sprintf("append piece %d of %s", number, store.Quote(h.ID)), err)
}

// piece is a piece of a journal. Records are nil if they exceed the maximum size.
type piece struct {
	Number  int
	Size    int
	Records []byte
}

func (s *Store) read(ctx context.Context, from table, id string, each func(number int, records []byte) error) error {
	if err := store.CheckID(id); err != nil {
		return s.fail(ctx, "read "+store.Quote(id), err)
	}
	for number, limit := 0, 1; ; limit = piecesAtOnce {
		pieces, err := s.pieces(ctx, from, id, number, limit)
		if err != nil {
			return s.fail(ctx, fmt.Sprintf("read the pieces of %s after %d", store.Quote(id), number), err)
		}
		for _, p := range pieces {
			if err := store.CheckSize("piece", p.Size, s.opts.MaxSnapshot); err != nil {
				return s.fail(ctx, fmt.Sprintf("read piece %d of %s", p.Number, store.Quote(id)), err)
			}
			if err := each(p.Number, p.Records); err != nil {
				return err
			}
			number = p.Number
		}
		if len(pieces) < limit {
			return nil
		}
	}
}

// pieces returns up to limit pieces after a number.
func (s *Store) pieces(ctx context.Context, from table, id string, after, limit int) ([]piece, error) {
	limited, end := s.limited(ctx)
	defer end()
	rows, err := s.pool.Query(limited, `SELECT number, length(records), CASE WHEN length(records) <= $3 THEN records END
		FROM `+string(from)+` WHERE id = $1 AND number > $2 ORDER BY number LIMIT $4`, []byte(id), after, s.opts.MaxSnapshot, limit)
	if err != nil {
		return nil, err
	}
	return pgx.CollectRows(rows, pgx.RowToStructByPos[piece])
}
