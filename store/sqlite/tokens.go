package sqlite

import (
	"context"
	"database/sql"
	"errors"

	"github.com/hocketvoice/hocket/port"
	"github.com/hocketvoice/hocket/store"
)

// granting replaces the tokens of conversation ?1. The old values on its right-hand sides
// are those before the statement.
const granting = `UPDATE claims SET access = ?3, resume = ?4, resume_before = ?6, access_before = CASE
	WHEN ?6 IS NULL THEN NULL WHEN ?5 IS NOT NULL THEN ?5 WHEN resume = ?6 THEN access WHEN resume_before = ?6 THEN access_before END
	WHERE id = ?1 AND token = ?2`

// Grant replaces the tokens of a conversation.
func (s *Store) Grant(ctx context.Context, h port.Hold, g port.Grant) error {
	err := store.CheckDigests(g.Now.Access, g.Now.Resume, g.Before.Access, g.Before.Resume)
	if err == nil {
		err = s.do(ctx, func() error {
			return held(s.writer.ExecContext(ctx, granting, []byte(h.ID), h.Token,
				digest(g.Now.Access), digest(g.Now.Resume), digest(g.Before.Access), digest(g.Before.Resume)))
		})
	}
	return s.fail(ctx, "grant "+store.Quote(h.ID), err)
}

// digest returns the value of a column: NULL if there is no digest.
func digest(b []byte) any {
	if len(b) == 0 {
		return nil
	}
	return b
}

// Access returns the conversation for which an access token is valid.
func (s *Store) Access(ctx context.Context, digest []byte) (id string, ok bool, err error) {
	return s.find(ctx, "access", digest)
}

// Resume returns the conversation for which a resume token is valid.
func (s *Store) Resume(ctx context.Context, digest []byte) (id string, ok bool, err error) {
	return s.find(ctx, "resume", digest)
}

// find looks up a digest in a column and in the column of the earlier tokens.
func (s *Store) find(ctx context.Context, column string, digest []byte) (string, bool, error) {
	var id []byte
	err := s.do(ctx, func() error {
		return s.reader.QueryRowContext(ctx, "SELECT id FROM claims WHERE "+column+" = ?1 UNION SELECT id FROM claims WHERE "+column+"_before = ?1", digest).Scan(&id)
	})
	if errors.Is(err, sql.ErrNoRows) {
		return "", false, nil
	}
	return string(id), err == nil, s.fail(ctx, "look up a token", err)
}

// Redeem invalidates a resume token. It reports whether the token was valid.
func (s *Store) Redeem(ctx context.Context, digest []byte) (ok bool, err error) {
	err = s.do(ctx, func() error {
		r, err := s.writer.ExecContext(ctx, `UPDATE claims SET resume = nullif(resume, ?1), resume_before = nullif(resume_before, ?1)
			WHERE resume = ?1 OR resume_before = ?1`, digest)
		if err != nil {
			return err
		}
		n, err := r.RowsAffected()
		ok = n > 0
		return err
	})
	return ok, s.fail(ctx, "redeem a token", err)
}
