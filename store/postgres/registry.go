package postgres

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/hocketvoice/hocket/port"
	"github.com/hocketvoice/hocket/store"
)

// Beat marks a node as alive for ttl from now, by the clock of the database. ttl must be
// at least 1 ms.
func (s *Store) Beat(ctx context.Context, n port.Node, ttl time.Duration) error {
	err := store.CheckNode(n, ttl)
	if err == nil {
		limited, end := s.limited(ctx)
		defer end()
		var b pgx.Batch
		b.Queue(`INSERT INTO hocket.nodes (id, url, until) VALUES ($1, $2, clock_timestamp() + $3::interval)
			ON CONFLICT (id) DO UPDATE SET url = excluded.url, until = excluded.until`, []byte(n.ID), n.URL, ttl)
		b.Queue(`DELETE FROM hocket.nodes WHERE id IN (SELECT id FROM hocket.nodes n
			WHERE until < clock_timestamp() - $1::interval AND NOT EXISTS (SELECT FROM hocket.claims WHERE node = n.id)
			FOR UPDATE SKIP LOCKED)`, store.Forgotten)
		b.Queue(forgetTickets)
		err = s.pool.SendBatch(limited, &b).Close()
	}
	return s.fail(ctx, "beat of node "+store.Quote(n.ID), err)
}

// scanned returns the node in a row.
func scanned(row pgx.CollectableRow) (port.Node, error) {
	var id []byte
	var n port.Node
	err := row.Scan(&id, &n.URL)
	n.ID = string(id)
	return n, err
}

// Nodes returns the live nodes.
func (s *Store) Nodes(ctx context.Context) ([]port.Node, error) {
	limited, end := s.limited(ctx)
	defer end()
	rows, err := s.pool.Query(limited, "SELECT id, url FROM hocket.nodes WHERE until > clock_timestamp() ORDER BY id")
	var nodes []port.Node
	if err == nil {
		nodes, err = pgx.CollectRows(rows, scanned)
	}
	return nodes, s.fail(ctx, "nodes", err)
}

// Leave deletes a node and its claims. It returns nil if the node does not exist.
func (s *Store) Leave(ctx context.Context, node string) error {
	limited, end := s.limited(ctx)
	defer end()
	var b pgx.Batch
	b.Queue(`UPDATE hocket.claims SET node = NULL, moved = clock_timestamp()
		WHERE id IN (SELECT id FROM hocket.claims WHERE node = $1 ORDER BY id FOR UPDATE)`, []byte(node))
	b.Queue("DELETE FROM hocket.nodes WHERE id = $1", []byte(node))
	return s.fail(ctx, "leave of node "+store.Quote(node), s.pool.SendBatch(limited, &b).Close())
}

const holder = `SELECT n.id, n.url FROM hocket.claims c JOIN hocket.nodes n ON n.id = c.node
	WHERE c.id = $1 AND n.until > clock_timestamp()`

// Holder returns the live node that holds a conversation.
func (s *Store) Holder(ctx context.Context, id string) (n port.Node, ok bool, err error) {
	limited, end := s.limited(ctx)
	defer end()
	rows, err := s.pool.Query(limited, holder, []byte(id))
	if err == nil {
		n, err = pgx.CollectExactlyOneRow(rows, scanned)
	}
	if errors.Is(err, pgx.ErrNoRows) {
		return port.Node{}, false, nil
	}
	return n, err == nil, s.fail(ctx, "holder of "+store.Quote(id), err)
}

// making and locking lock the claim of conversation $1 for a transaction. making creates
// a row for the lock if there is no claim.
const (
	making  = "INSERT INTO hocket.claims (id, token, moved) VALUES ($1, 0, clock_timestamp()) ON CONFLICT DO NOTHING"
	locking = "SELECT FROM hocket.claims WHERE id = $1 FOR UPDATE"
)

// claiming gives conversation $1 to node $2 if the node is alive and no other live node
// holds the conversation. It is a separate statement after those that lock the claim, so
// that it sees what changed while they waited. $3 is the token of the previous claim: a
// delayed statement, whose caller is gone, must not replace a later claim.
const claiming = `UPDATE hocket.claims c
	SET token = nextval('hocket.tokens'), node = $2, moved = clock_timestamp(), ended = false, granted = 0
	WHERE id = $1 AND token = $3 AND EXISTS (SELECT FROM hocket.nodes WHERE id = $2 AND until > clock_timestamp())
	AND NOT EXISTS (SELECT FROM hocket.nodes n WHERE n.id = c.node AND n.id <> $2 AND n.until > clock_timestamp())
	RETURNING token`

var (
	errDead  = errors.New("the node is not alive: expected a node that sends heartbeats")
	errMoved = errors.New("the conversation was deleted or released meanwhile: try again")
)

// Claim gives a conversation to a node, in one transaction. The conversation's tokens stay
// valid.
func (s *Store) Claim(ctx context.Context, id, node string) (port.Hold, error) {
	err := store.CheckID(id)
	var token int64
	if err == nil {
		limited, end := s.limited(ctx)
		defer end()
		for range 3 { // a deletion or a release interferes only briefly
			var was int64
			if was, err = s.claimed(limited, []byte(id)); err == nil {
				token, err = s.claim(limited, []byte(id), []byte(node), was)
			}
			if !errors.Is(err, errMoved) {
				break
			}
		}
	}
	if err != nil {
		return port.Hold{}, s.fail(ctx, "claim "+store.Quote(id), err)
	}
	return port.Hold{ID: id, Token: token}, nil
}

// claimed returns the token of the last claim of a conversation, or 0 if there is none.
func (s *Store) claimed(ctx context.Context, id []byte) (token int64, err error) {
	err = optional(s.pool.QueryRow(ctx, "SELECT token FROM hocket.claims WHERE id = $1", id).Scan(&token))
	return token, err
}

func (s *Store) claim(ctx context.Context, id, node []byte, was int64) (token int64, err error) {
	var by *port.Node // the holder
	var alive bool
	var b pgx.Batch
	b.Queue(making, id)
	b.Queue(locking, id)
	b.Queue(claiming, id, node, was).QueryRow(func(row pgx.Row) error { return optional(row.Scan(&token)) })
	b.Queue(holder, id).Query(func(rows pgx.Rows) error {
		n, err := pgx.CollectExactlyOneRow(rows, scanned)
		if err == nil {
			by = &n
		}
		return optional(err)
	})
	b.Queue("SELECT EXISTS (SELECT FROM hocket.nodes WHERE id = $1 AND until > clock_timestamp())", node).QueryRow(func(row pgx.Row) error { return row.Scan(&alive) })
	b.Queue("DELETE FROM hocket.claims WHERE id = $1 AND token = 0", id) // the row that making created for the lock
	if err := s.pool.SendBatch(ctx, &b).Close(); err != nil {
		return 0, err
	}
	switch {
	case token != 0:
		return token, nil
	case !alive:
		return 0, fmt.Errorf("%w: %s", errDead, store.Quote(string(node)))
	case by != nil && by.ID != string(node):
		return 0, &port.HeldError{Node: *by}
	default:
		return 0, errMoved
	}
}

// optional returns nil for the error that there is no row, and other errors unchanged.
func optional(err error) error {
	if errors.Is(err, pgx.ErrNoRows) {
		return nil
	}
	return err
}

// Release releases a conversation. If ended is true it also deletes its tokens.
func (s *Store) Release(ctx context.Context, h port.Hold, ended bool) error {
	limited, end := s.limited(ctx)
	defer end()
	_, err := s.pool.Exec(limited, `UPDATE hocket.claims SET node = NULL, moved = clock_timestamp(), ended = $3,
		access = CASE WHEN $3 THEN NULL ELSE access END, resume = CASE WHEN $3 THEN NULL ELSE resume END,
		access_before = CASE WHEN $3 THEN NULL ELSE access_before END, resume_before = CASE WHEN $3 THEN NULL ELSE resume_before END
		WHERE id = $1 AND token = $2`, []byte(h.ID), h.Token, ended)
	return s.fail(ctx, "release "+store.Quote(h.ID), err)
}

// Fenced returns the holds that are no longer valid.
func (s *Store) Fenced(ctx context.Context, holds []port.Hold) ([]port.Hold, error) {
	if len(holds) == 0 {
		return nil, nil
	}
	ids, tokens := make([][]byte, len(holds)), make([]int64, len(holds))
	for i, h := range holds {
		ids[i], tokens[i] = []byte(h.ID), h.Token
	}
	limited, end := s.limited(ctx)
	defer end()
	rows, err := s.pool.Query(limited, `SELECT h.id, h.token FROM unnest($1::bytea[], $2::bigint[]) AS h (id, token)
		WHERE NOT EXISTS (SELECT FROM hocket.claims c WHERE c.id = h.id AND c.token = h.token)`, ids, tokens)
	var lost []port.Hold
	if err == nil {
		lost, err = pgx.CollectRows(rows, func(row pgx.CollectableRow) (h port.Hold, err error) {
			var id []byte
			err = row.Scan(&id, &h.Token)
			h.ID = string(id)
			return h, err
		})
	}
	return lost, s.fail(ctx, "look for lost holds", err)
}

// Abandoned returns conversations that were claimed, have not ended, and were neither
// held nor saved for the time idle, the oldest first.
func (s *Store) Abandoned(ctx context.Context, idle time.Duration, limit int) ([]string, error) {
	limited, end := s.limited(ctx)
	defer end()
	rows, err := s.pool.Query(limited, `
		SELECT id FROM (
			SELECT c.id, greatest(c.moved, n.until, s.saved) AS last
			FROM hocket.claims c LEFT JOIN hocket.nodes n ON n.id = c.node LEFT JOIN hocket.snapshots s ON s.id = c.id
			WHERE NOT c.ended AND (n.until IS NULL OR n.until <= clock_timestamp())) AS open
		WHERE last <= clock_timestamp() - $1::interval ORDER BY last, id LIMIT $2`, idle, limit)
	var ids []string
	if err == nil {
		ids, err = pgx.CollectRows(rows, func(row pgx.CollectableRow) (string, error) {
			var id []byte
			err := row.Scan(&id)
			return string(id), err
		})
	}
	return ids, s.fail(ctx, "abandoned", err)
}
