package postgres

import (
	"context"
	"errors"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"github.com/hocketvoice/hocket/port"
	"github.com/hocketvoice/hocket/store"
)

const (
	// naming stores the digest of a conversation's version if the files are stored
	// already, so that they need not be sent with each conversation.
	naming = `, named AS (INSERT INTO hocket.versions (id, digest)
		SELECT held.id, a.digest FROM held, hocket.agents a WHERE a.digest = $3
		ON CONFLICT (id) DO UPDATE SET digest = excluded.digest RETURNING id)
		SELECT (SELECT count(*) FROM held), (SELECT count(*) FROM named)`
	// filing also stores the files.
	filing = `, filed AS (INSERT INTO hocket.agents (digest, files) SELECT $3, $4 FROM held ON CONFLICT (digest) DO NOTHING),
		named AS (INSERT INTO hocket.versions (id, digest) SELECT id, $3 FROM held
			ON CONFLICT (id) DO UPDATE SET digest = excluded.digest RETURNING id)
		SELECT (SELECT count(*) FROM held), (SELECT count(*) FROM named)`
	// tidying deletes files that no conversation uses.
	tidying = `DELETE FROM hocket.agents a WHERE NOT EXISTS (SELECT FROM hocket.versions WHERE digest = a.digest)`
)

// again is the number of attempts of a write whose files are deleted concurrently.
const again = 10

// KeepVersion stores the files of the agent with which a conversation began.
func (s *Store) KeepVersion(ctx context.Context, h port.Hold, digest string, files []byte) error {
	err := errors.Join(store.CheckID(h.ID), store.CheckVersion(h, digest), store.CheckSize("agent", len(files), s.opts.MaxSnapshot))
	if err == nil {
		err = s.keepVersion(ctx, h, digest, append([]byte{}, files...))
	}
	return s.fail(ctx, "keep the agent of "+store.Quote(h.ID), err)
}

func (s *Store) keepVersion(ctx context.Context, h port.Hold, digest string, files []byte) error {
	limited, end := s.limited(ctx)
	defer end()
	args := []any{[]byte(h.ID), h.Token, []byte(digest)}
	var err error
	for range again {
		var holds, named int
		err = s.pool.QueryRow(limited, fenced(h, naming), args...).Scan(&holds, &named)
		if err == nil && holds > 0 && named == 0 {
			err = s.pool.QueryRow(limited, fenced(h, filing), append(args, files)...).Scan(&holds, &named)
		}
		if err == nil && holds == 0 {
			err = port.ErrFenced
		}
		if err == nil {
			return s.tidy(limited)
		}
		if !referred(err) {
			break
		}
	}
	return err
}

// foreignKeyViolation is an error code of PostgreSQL.
const foreignKeyViolation = "23503"

// referred reports whether a statement failed because files were deleted, or used by
// another conversation, concurrently.
func referred(err error) bool {
	e, ok := errors.AsType[*pgconn.PgError](err)
	return ok && e.Code == foreignKeyViolation
}

// tidy deletes files that no conversation uses. They stay if a conversation begins with
// them concurrently.
func (s *Store) tidy(ctx context.Context) error {
	_, err := s.pool.Exec(ctx, tidying)
	if referred(err) {
		return nil
	}
	return err
}

func (s *Store) tidyUp(ctx context.Context) error {
	limited, end := s.limited(ctx)
	defer end()
	return s.tidy(limited)
}

// LoadVersion returns the files of an agent.
func (s *Store) LoadVersion(ctx context.Context, digest string) (files []byte, ok bool, err error) {
	limited, end := s.limited(ctx)
	defer end()
	err = s.pool.QueryRow(limited, "SELECT files FROM hocket.agents WHERE digest = $1 AND length(files) <= $2", []byte(digest), s.opts.MaxSnapshot).Scan(&files)
	if errors.Is(err, pgx.ErrNoRows) {
		return nil, false, nil
	}
	if err != nil {
		return nil, false, s.fail(ctx, "load the agent "+store.Quote(digest), err)
	}
	return files, true, nil
}
