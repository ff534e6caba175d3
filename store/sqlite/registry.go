package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"time"

	"github.com/hocketvoice/hocket/port"
	"github.com/hocketvoice/hocket/store"
)

// Beat marks a node as alive for ttl from now. ttl must be at least 1 ms.
func (s *Store) Beat(ctx context.Context, n port.Node, ttl time.Duration) error {
	err := store.CheckNode(n, ttl)
	if err == nil {
		now := s.opts.Now()
		err = s.write(ctx, func(tx *sql.Tx) error {
			_, err := tx.ExecContext(ctx, `INSERT INTO nodes (id, url, until) VALUES (?, ?, ?)
				ON CONFLICT (id) DO UPDATE SET url = excluded.url, until = excluded.until`, []byte(n.ID), n.URL, now.Add(ttl).UnixMilli())
			if err == nil {
				_, err = tx.ExecContext(ctx, "DELETE FROM nodes WHERE until < ? AND id NOT IN (SELECT node FROM claims WHERE node IS NOT NULL)",
					now.Add(-store.Forgotten).UnixMilli())
			}
			if err == nil {
				_, err = tx.ExecContext(ctx, "DELETE FROM tickets WHERE until <= ?", now.UnixMilli())
			}
			return err
		})
	}
	return s.fail(ctx, "beat of node "+store.Quote(n.ID), err)
}

// Nodes returns the live nodes.
func (s *Store) Nodes(ctx context.Context) (nodes []port.Node, err error) {
	err = s.do(ctx, func() error {
		rows, err := s.reader.QueryContext(ctx, "SELECT id, url FROM nodes WHERE until > ? ORDER BY id", s.opts.Now().UnixMilli())
		if err != nil {
			return err
		}
		defer rows.Close()
		nodes = nil
		for rows.Next() {
			var id []byte
			var n port.Node
			if err := rows.Scan(&id, &n.URL); err != nil {
				return err
			}
			n.ID = string(id)
			nodes = append(nodes, n)
		}
		return rows.Err()
	})
	return nodes, s.fail(ctx, "nodes", err)
}

// Leave deletes a node and its claims. It returns nil if the node does not exist.
func (s *Store) Leave(ctx context.Context, node string) error {
	now := s.opts.Now().UnixMilli()
	err := s.write(ctx, func(tx *sql.Tx) error {
		_, err := tx.ExecContext(ctx, "UPDATE claims SET node = NULL, moved = ? WHERE node = ?", now, []byte(node))
		if err == nil {
			_, err = tx.ExecContext(ctx, "DELETE FROM nodes WHERE id = ?", []byte(node))
		}
		return err
	})
	return s.fail(ctx, "leave of node "+store.Quote(node), err)
}

// holder selects the node that holds conversation ?1 and is alive at ?2.
const holder = "SELECT n.id, n.url FROM claims c JOIN nodes n ON n.id = c.node WHERE c.id = ?1 AND n.until > ?2"

// Holder returns the live node that holds a conversation.
func (s *Store) Holder(ctx context.Context, id string) (n port.Node, ok bool, err error) {
	err = s.do(ctx, func() error {
		var name []byte
		err := s.reader.QueryRowContext(ctx, holder, []byte(id), s.opts.Now().UnixMilli()).Scan(&name, &n.URL)
		n.ID = string(name)
		return err
	})
	if errors.Is(err, sql.ErrNoRows) {
		return port.Node{}, false, nil
	}
	return n, err == nil, s.fail(ctx, "holder of "+store.Quote(id), err)
}

// Claim gives a conversation to a node. The conversation's tokens stay valid.
func (s *Store) Claim(ctx context.Context, id, node string) (port.Hold, error) {
	h := port.Hold{ID: id}
	err := store.CheckID(id)
	if err == nil {
		err = s.write(ctx, func(tx *sql.Tx) (err error) {
			h.Token, err = claim(ctx, tx, []byte(id), []byte(node), s.opts.Now().UnixMilli())
			return err
		})
	}
	if err != nil {
		h = port.Hold{}
	}
	return h, s.fail(ctx, "claim "+store.Quote(id), err)
}

func claim(ctx context.Context, tx *sql.Tx, id, node []byte, now int64) (token int64, err error) {
	var alive bool
	if err := tx.QueryRowContext(ctx, "SELECT count(*) FROM nodes WHERE id = ? AND until > ?", node, now).Scan(&alive); err != nil {
		return 0, err
	}
	if !alive {
		return 0, fmt.Errorf("the node %s is not alive: expected a node that sends heartbeats", store.Quote(string(node)))
	}
	var by []byte
	var url string
	switch err := tx.QueryRowContext(ctx, holder+" AND n.id <> ?3", id, now, node).Scan(&by, &url); {
	case err == nil:
		return 0, &port.HeldError{Node: port.Node{ID: string(by), URL: url}}
	case !errors.Is(err, sql.ErrNoRows):
		return 0, err
	}
	err = tx.QueryRowContext(ctx, `INSERT OR REPLACE INTO claims (id, node, moved, access, resume, access_before, resume_before)
		SELECT ?1, ?2, ?3, c.access, c.resume, c.access_before, c.resume_before FROM (SELECT 1) LEFT JOIN claims c ON c.id = ?1 RETURNING token`,
		id, node, now).Scan(&token)
	return token, err
}

// Release releases a conversation. If ended is true it also deletes its tokens.
func (s *Store) Release(ctx context.Context, h port.Hold, ended bool) error {
	now := s.opts.Now().UnixMilli()
	err := s.do(ctx, func() error {
		_, err := s.writer.ExecContext(ctx, `UPDATE claims SET node = NULL, moved = ?3, ended = ?4,
			access = CASE WHEN ?4 THEN NULL ELSE access END, resume = CASE WHEN ?4 THEN NULL ELSE resume END,
			access_before = CASE WHEN ?4 THEN NULL ELSE access_before END, resume_before = CASE WHEN ?4 THEN NULL ELSE resume_before END
			WHERE id = ?1 AND token = ?2`, []byte(h.ID), h.Token, now, ended)
		return err
	})
	return s.fail(ctx, "release "+store.Quote(h.ID), err)
}

// Fenced returns the holds that are no longer valid.
func (s *Store) Fenced(ctx context.Context, holds []port.Hold) (lost []port.Hold, err error) {
	err = s.do(ctx, func() error {
		lost = nil
		for _, h := range holds {
			var good bool
			err := s.reader.QueryRowContext(ctx, "SELECT EXISTS (SELECT 1 FROM claims WHERE id = ? AND token = ?)", []byte(h.ID), h.Token).Scan(&good)
			if err != nil {
				return err
			}
			if !good {
				lost = append(lost, h)
			}
		}
		return nil
	})
	return lost, s.fail(ctx, "look for lost holds", err)
}

// Abandoned returns conversations that were claimed, have not ended, and were neither
// held nor saved for the time idle, the oldest first.
func (s *Store) Abandoned(ctx context.Context, idle time.Duration, limit int) (ids []string, err error) {
	now := s.opts.Now()
	err = s.do(ctx, func() error {
		list, err := column[[]byte](s.reader.QueryContext(ctx, `
			SELECT id FROM (
				SELECT c.id AS id, max(c.moved, ifnull(n.until, 0), ifnull(s.saved, 0)) AS last
				FROM claims c LEFT JOIN nodes n ON n.id = c.node LEFT JOIN snapshots s ON s.id = c.id
				WHERE NOT c.ended AND (n.until IS NULL OR n.until <= ?1))
			WHERE last <= ?2 ORDER BY last, id LIMIT ?3`, now.UnixMilli(), now.Add(-idle).UnixMilli(), limit))
		ids = nil
		for _, id := range list {
			ids = append(ids, string(id))
		}
		return err
	})
	return ids, s.fail(ctx, "abandoned", err)
}
