package postgres

import (
	"context"
	"errors"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"github.com/hocketvoice/hocket/port"
	"github.com/hocketvoice/hocket/store"
)

// Grant replaces the tokens of a conversation. An empty digest is none.
func (s *Store) Grant(ctx context.Context, h port.Hold, access, resume []byte) error {
	err := store.CheckDigests(access, resume)
	if err == nil {
		limited, end := s.limited(ctx)
		defer end()
		var done pgconn.CommandTag
		done, err = s.pool.Exec(limited, "UPDATE hocket.claims SET access = $3, resume = $4 WHERE id = $1 AND token = $2",
			[]byte(h.ID), h.Token, digest(access), digest(resume))
		if err == nil && done.RowsAffected() == 0 {
			err = port.ErrFenced
		}
	}
	return s.fail(ctx, "grant "+store.Quote(h.ID), err)
}

// digest is what a column has of one: NULL for none.
func digest(b []byte) []byte {
	if len(b) == 0 {
		return nil
	}
	return b
}

// Access is the conversation that an access token is good for.
func (s *Store) Access(ctx context.Context, digest []byte) (id string, ok bool, err error) {
	return s.find(ctx, "SELECT id FROM hocket.claims WHERE access = $1", digest)
}

// Resume is the conversation that a resume token is good for.
func (s *Store) Resume(ctx context.Context, digest []byte) (id string, ok bool, err error) {
	return s.find(ctx, "SELECT id FROM hocket.claims WHERE resume = $1", digest)
}

// find looks a digest up.
func (s *Store) find(ctx context.Context, text string, digest []byte) (string, bool, error) {
	limited, end := s.limited(ctx)
	defer end()
	var id []byte
	err := s.pool.QueryRow(limited, text, digest).Scan(&id)
	if errors.Is(err, pgx.ErrNoRows) {
		return "", false, nil
	}
	return string(id), err == nil, s.fail(ctx, "look up a token", err)
}

// Redeem uses a resume token up.
func (s *Store) Redeem(ctx context.Context, digest []byte) (ok bool, err error) {
	limited, end := s.limited(ctx)
	defer end()
	done, err := s.pool.Exec(limited, "UPDATE hocket.claims SET resume = NULL WHERE resume = $1", digest)
	return err == nil && done.RowsAffected() > 0, s.fail(ctx, "redeem a token", err)
}
