package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"time"

	"github.com/hocketvoice/hocket/port"
	"github.com/hocketvoice/hocket/store"
)

// keeping stores a ticket if it is stored already or the limit is not reached.
const keeping = `INSERT INTO tickets (digest, kind, until, value)
	SELECT ?1, ?2, ?3, ?4 WHERE EXISTS (SELECT 1 FROM tickets WHERE digest = ?1)
		OR (SELECT count(*) FROM tickets WHERE kind = ?2 AND NOT spent AND until > ?6) < ?5
	ON CONFLICT (digest) DO UPDATE SET spent = spent`

// KeepTicket stores the value of a ticket.
func (s *Store) KeepTicket(ctx context.Context, kind string, digest, value []byte, ttl time.Duration, most int) error {
	err := store.CheckTicket(digest, ttl, len(value), s.opts.MaxSnapshot)
	if err == nil {
		if value == nil {
			value = []byte{} // nil is NULL
		}
		now := s.opts.Now()
		err = s.do(ctx, func() error {
			err := held(s.writer.ExecContext(ctx, keeping, digest, kind, now.Add(ttl).UnixMilli(), value, most, now.UnixMilli()))
			if errors.Is(err, port.ErrFenced) {
				return port.ErrTickets
			}
			return err
		})
	}
	return s.fail(ctx, "keep a ticket", err)
}

// good selects a valid ticket.
const good = " WHERE digest = ? AND kind = ? AND NOT spent AND until > ?"

// FindTicket returns the value of a ticket.
func (s *Store) FindTicket(ctx context.Context, kind string, digest []byte) (value []byte, ok bool, err error) {
	return s.ticket(ctx, s.reader, "SELECT value FROM tickets"+good, kind, digest)
}

// SpendTicket returns the value of a ticket and invalidates the ticket.
func (s *Store) SpendTicket(ctx context.Context, kind string, digest []byte) (value []byte, ok bool, err error) {
	return s.ticket(ctx, s.writer, "UPDATE tickets SET spent = 1"+good+" RETURNING value", kind, digest)
}

func (s *Store) ticket(ctx context.Context, db *sql.DB, text, kind string, digest []byte) (value []byte, ok bool, err error) {
	err = s.do(ctx, func() error {
		return db.QueryRowContext(ctx, text, digest, kind, s.opts.Now().UnixMilli()).Scan(&value)
	})
	if errors.Is(err, sql.ErrNoRows) {
		return nil, false, nil
	}
	return value, err == nil, s.fail(ctx, "look up a ticket", err)
}
