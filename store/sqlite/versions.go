package sqlite

import (
	"context"
	"database/sql"
	"errors"

	"github.com/hocketvoice/hocket/port"
	"github.com/hocketvoice/hocket/store"
)

// KeepVersion checks the hold and stores the files of the agent with which a conversation
// began, in one transaction.
func (s *Store) KeepVersion(ctx context.Context, h port.Hold, digest string, files []byte) error {
	err := errors.Join(store.CheckID(h.ID), store.CheckVersion(h, digest), store.CheckSize("agent", len(files), s.opts.MaxSnapshot))
	if err == nil {
		err = s.write(ctx, func(tx *sql.Tx) error {
			if err := held(tx.ExecContext(ctx, `INSERT INTO versions (id, digest)
				SELECT ?1, ?2 WHERE (SELECT token FROM claims WHERE id = ?1) = ?3
				ON CONFLICT (id) DO UPDATE SET digest = excluded.digest`, []byte(h.ID), []byte(digest), h.Token)); err != nil {
				return err
			}
			if _, err := tx.ExecContext(ctx, "INSERT INTO agents (digest, checksum, files) VALUES (?, ?, ?) ON CONFLICT (digest) DO NOTHING",
				[]byte(digest), checksum(digest, files), append([]byte{}, files...)); err != nil {
				return err
			}
			return tidy(ctx, tx)
		})
	}
	return s.fail(ctx, "keep the agent of "+store.Quote(h.ID), err)
}

// tidy deletes files that no conversation uses.
func tidy(ctx context.Context, tx *sql.Tx) error {
	_, err := tx.ExecContext(ctx, "DELETE FROM agents WHERE NOT EXISTS (SELECT 1 FROM versions WHERE versions.digest = agents.digest)")
	return err
}

// LoadVersion returns the files of an agent. It returns an error if their checksum is
// wrong.
func (s *Store) LoadVersion(ctx context.Context, digest string) (files []byte, ok bool, err error) {
	var sum int64
	err = s.do(ctx, func() error {
		return s.reader.QueryRowContext(ctx, "SELECT checksum, files FROM agents WHERE digest = ? AND length(files) <= ?",
			[]byte(digest), s.opts.MaxSnapshot).Scan(&sum, &files)
	})
	switch {
	case errors.Is(err, sql.ErrNoRows):
		return nil, false, nil
	case err == nil && sum != checksum(digest, files):
		err = errors.New("the file is damaged: the checksum of the agent is wrong")
	}
	if err != nil {
		return nil, false, s.fail(ctx, "load the agent "+store.Quote(digest), err)
	}
	return files, true, nil
}
