package sqlite

import (
	"context"
	"database/sql"
	"errors"

	"github.com/hocketvoice/hocket/port"
	"github.com/hocketvoice/hocket/store"
)

// Grant replaces the tokens of a conversation. An empty digest is none.
func (s *Store) Grant(ctx context.Context, h port.Hold, access, resume []byte) error {
	err := store.CheckDigests(access, resume)
	if err == nil {
		err = s.do(ctx, func() error {
			return held(s.writer.ExecContext(ctx, "UPDATE claims SET access = ?, resume = ? WHERE id = ? AND token = ?",
				digest(access), digest(resume), []byte(h.ID), h.Token))
		})
	}
	return s.fail(ctx, "grant "+store.Quote(h.ID), err)
}

// digest is what a column has of one.
func digest(b []byte) any {
	if len(b) == 0 {
		return nil
	}
	return b
}

// Access is the conversation that an access token is good for.
func (s *Store) Access(ctx context.Context, digest []byte) (id string, ok bool, err error) {
	return s.find(ctx, "access", digest)
}

// Resume is the conversation that a resume token is good for.
func (s *Store) Resume(ctx context.Context, digest []byte) (id string, ok bool, err error) {
	return s.find(ctx, "resume", digest)
}

// find looks a digest up in a column.
func (s *Store) find(ctx context.Context, column string, digest []byte) (string, bool, error) {
	var id []byte
	err := s.do(ctx, func() error {
		return s.reader.QueryRowContext(ctx, "SELECT id FROM claims WHERE "+column+" = ?", digest).Scan(&id)
	})
	if errors.Is(err, sql.ErrNoRows) {
		return "", false, nil
	}
	return string(id), err == nil, s.fail(ctx, "look up a token", err)
}

// Redeem uses a resume token up.
func (s *Store) Redeem(ctx context.Context, digest []byte) (ok bool, err error) {
	err = s.do(ctx, func() error {
		r, err := s.writer.ExecContext(ctx, "UPDATE claims SET resume = NULL WHERE resume = ?", digest)
		if err != nil {
			return err
		}
		n, err := r.RowsAffected()
		ok = n > 0
		return err
	})
	return ok, s.fail(ctx, "redeem a token", err)
}
