package postgres

import (
	"context"
	"errors"

	"github.com/jackc/pgx/v5"

	"github.com/hocketvoice/hocket/port"
	"github.com/hocketvoice/hocket/store"
)

// granting replaces the tokens of conversation $1 unless later ones are stored: see sent.
// The old values on its right-hand sides are those before the statement.
const granting = `UPDATE hocket.claims SET granted = $7, access = $3, resume = $4, resume_before = $6, access_before = CASE
	WHEN $6::bytea IS NULL THEN NULL WHEN $5::bytea IS NOT NULL THEN $5 WHEN resume = $6 THEN access WHEN resume_before = $6 THEN access_before END
	WHERE id = $1 AND token = $2 AND granted < $7`

// Grant replaces the tokens of a conversation.
func (s *Store) Grant(ctx context.Context, h port.Hold, g port.Grant) error {
	err := store.CheckDigests(g.Now.Access, g.Now.Resume, g.Before.Access, g.Before.Resume)
	if err == nil {
		limited, end := s.limited(ctx)
		defer end()
		var b pgx.Batch // a transaction
		b.Queue(granting, []byte(h.ID), h.Token,
			digest(g.Now.Access), digest(g.Now.Resume), digest(g.Before.Access), digest(g.Before.Resume), s.sent())
		var good bool
		b.Queue("SELECT EXISTS (SELECT FROM hocket.claims WHERE id = $1 AND token = $2)", []byte(h.ID), h.Token).
			QueryRow(func(row pgx.Row) error { return row.Scan(&good) })
		if err = s.pool.SendBatch(limited, &b).Close(); err == nil && !good {
			err = port.ErrFenced
		}
	}
	return s.fail(ctx, "grant "+store.Quote(h.ID), err)
}

// digest returns the value of a column: NULL if there is no digest.
func digest(b []byte) []byte {
	if len(b) == 0 {
		return nil
	}
	return b
}

// Access returns the conversation for which an access token is valid.
func (s *Store) Access(ctx context.Context, digest []byte) (id string, ok bool, err error) {
	return s.find(ctx, "SELECT id FROM hocket.claims WHERE access = $1 UNION SELECT id FROM hocket.claims WHERE access_before = $1", digest)
}

// Resume returns the conversation for which a resume token is valid.
func (s *Store) Resume(ctx context.Context, digest []byte) (id string, ok bool, err error) {
	return s.find(ctx, "SELECT id FROM hocket.claims WHERE resume = $1 UNION SELECT id FROM hocket.claims WHERE resume_before = $1", digest)
}

// find returns the conversation that a query finds by a digest.
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

// Redeem invalidates a resume token. It reports whether the token was valid.
func (s *Store) Redeem(ctx context.Context, digest []byte) (ok bool, err error) {
	limited, end := s.limited(ctx)
	defer end()
	done, err := s.pool.Exec(limited, `UPDATE hocket.claims SET resume = nullif(resume, $1), resume_before = nullif(resume_before, $1)
		WHERE resume = $1 OR resume_before = $1`, digest)
	return err == nil && done.RowsAffected() > 0, s.fail(ctx, "redeem a token", err)
}
