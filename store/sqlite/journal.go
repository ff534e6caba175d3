package sqlite

import (
	"context"
	"database/sql"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"

	"github.com/hocketvoice/hocket/port"
	"github.com/hocketvoice/hocket/store"
)

// pieces are the statements of a table of numbered pieces: the journal, or the recordings.
type pieces struct{ add, next *sql.Stmt }

// adding returns the statement that adds a piece to a table.
func adding(table string) string {
	return `INSERT INTO ` + table + ` (id, added, checksum, records, number)
		SELECT ?1, ?2, ?3, ?4, ?6 WHERE ` + holds + `
		ON CONFLICT (id, number) DO UPDATE SET number = excluded.number`
}

// reading returns the statement that selects the piece after a number.
func reading(table string) string {
	return `SELECT number, length(records), checksum, CASE WHEN length(records) <= ?1 THEN records END
		FROM ` + table + ` WHERE id = ?2 AND number > ?3 ORDER BY number LIMIT 1`
}

// Append adds a piece to the journal of a conversation. It is as durable as Save. A piece
// has at most MaxSnapshot bytes.
func (s *Store) Append(ctx context.Context, h port.Hold, number int, records []byte) error {
	return s.append(ctx, s.trace, h, number, records)
}

// Read calls each with the pieces of a conversation in the order of their numbers. It
// holds no lock meanwhile: each may block, and may use the store.
func (s *Store) Read(ctx context.Context, id string, each func(number int, records []byte) error) error {
	return s.read(ctx, s.trace, id, each)
}

// Recordings returns the recordings.
func (s *Store) Recordings() port.Journal { return recordings{s} }

// recordings are the sound of conversations.
type recordings struct{ s *Store }

// Append adds a piece, like [Store.Append].
func (r recordings) Append(ctx context.Context, h port.Hold, number int, records []byte) error {
	return r.s.append(ctx, r.s.records, h, number, records)
}

// Read reads the pieces, like [Store.Read].
func (r recordings) Read(ctx context.Context, id string, each func(number int, records []byte) error) error {
	return r.s.read(ctx, r.s.records, id, each)
}

func (s *Store) append(ctx context.Context, in pieces, h port.Hold, number int, records []byte) error {
	err := store.CheckPiece(h.ID, number, len(records), s.opts.MaxSnapshot)
	if err == nil {
		if records == nil {
			records = []byte{} // nil is NULL
		}
		added := s.opts.Now().UnixMilli()
		err = s.do(ctx, func() error {
			return held(in.add.ExecContext(ctx, []byte(h.ID), added, pieceChecksum(h.ID, number, records), records, token(h), number))
		})
	}
	return s.fail(ctx, fmt.Sprintf("append piece %d of %s", number, store.Quote(h.ID)), err)
}

func (s *Store) read(ctx context.Context, from pieces, id string, each func(number int, records []byte) error) error {
	if err := store.CheckID(id); err != nil {
		return s.fail(ctx, "read "+store.Quote(id), err)
	}
	for number := 0; ; {
		next, records, err := s.next(ctx, from, id, number)
		if errors.Is(err, sql.ErrNoRows) {
			return nil
		}
		if err != nil {
			return s.fail(ctx, fmt.Sprintf("read the piece of %s after %d", store.Quote(id), number), err)
		}
		if err := each(next, records); err != nil {
			return err
		}
		number = next
	}
}

// next returns the piece after a number.
func (s *Store) next(ctx context.Context, from pieces, id string, after int) (number int, records []byte, err error) {
	var size int
	var sum int64
	err = s.do(ctx, func() error {
		return from.next.QueryRowContext(ctx, s.opts.MaxSnapshot, []byte(id), after).Scan(&number, &size, &sum, &records)
	})
	switch {
	case err != nil:
		return 0, nil, err
	case size > s.opts.MaxSnapshot:
		return 0, nil, store.CheckSize("piece", size, s.opts.MaxSnapshot)
	case sum != pieceChecksum(id, number, records):
		return 0, nil, errors.New("the file is damaged: the checksum of the piece is wrong")
	}
	return number, records, nil
}

func pieceChecksum(id string, number int, records []byte) int64 {
	sum := crc32.Update(crc32.ChecksumIEEE([]byte(id)), crc32.IEEETable, binary.BigEndian.AppendUint64(nil, uint64(number)))
	return int64(crc32.Update(sum, crc32.IEEETable, records))
}
