package postgres

import (
	"context"
	"errors"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"github.com/hocketvoice/hocket/port"
	"github.com/hocketvoice/hocket/store"
)

// forgetTickets deletes expired tickets.
const forgetTickets = `DELETE FROM hocket.tickets WHERE digest IN (SELECT digest FROM hocket.tickets
	WHERE until <= clock_timestamp() FOR UPDATE SKIP LOCKED)`

// keeping stores a ticket if it is stored already or the limit is not reached. Concurrent
// processes may exceed the limit.
const keeping = `INSERT INTO hocket.tickets (digest, kind, until, value)
	SELECT $1, $2, clock_timestamp() + $3::interval, $4 WHERE EXISTS (SELECT FROM hocket.tickets WHERE digest = $1)
		OR (SELECT count(*) FROM hocket.tickets WHERE kind = $2 AND NOT spent AND until > clock_timestamp()) < $5
	ON CONFLICT (digest) DO UPDATE SET spent = tickets.spent`

// KeepTicket stores the value of a ticket.
func (s *Store) KeepTicket(ctx context.Context, kind string, digest, value []byte, ttl time.Duration, most int) error {
	err := store.CheckTicket(digest, ttl, len(value), s.opts.MaxSnapshot)
	if err == nil {
		if value == nil {
			value = []byte{} // nil is NULL
		}
		limited, end := s.limited(ctx)
		defer end()
		var done pgconn.CommandTag
		done, err = s.pool.Exec(limited, keeping, digest, kind, ttl, value, most)
		if err == nil && done.RowsAffected() == 0 {
			err = port.ErrTickets
		}
	}
	return s.fail(ctx, "keep a ticket", err)
}

// FindTicket returns the value of a ticket.
func (s *Store) FindTicket(ctx context.Context, kind string, digest []byte) (value []byte, ok bool, err error) {
	return s.ticket(ctx, "SELECT value FROM hocket.tickets WHERE digest = $1 AND kind = $2 AND NOT spent AND until > clock_timestamp()", kind, digest)
}

// SpendTicket returns the value of a ticket and invalidates the ticket.
func (s *Store) SpendTicket(ctx context.Context, kind string, digest []byte) (value []byte, ok bool, err error) {
	return s.ticket(ctx, `UPDATE hocket.tickets SET spent = true
		WHERE digest = $1 AND kind = $2 AND NOT spent AND until > clock_timestamp() RETURNING value`, kind, digest)
}

func (s *Store) ticket(ctx context.Context, text, kind string, digest []byte) (value []byte, ok bool, err error) {
	limited, end := s.limited(ctx)
	defer end()
	err = s.pool.QueryRow(limited, text, digest, kind).Scan(&value)
	if errors.Is(err, pgx.ErrNoRows) {
		return nil, false, nil
	}
	return value, err == nil, s.fail(ctx, "look up a ticket", err)
}
