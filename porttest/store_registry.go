package porttest

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/hocketvoice/hocket/port"
)

// This file implements claims and the tokens of conversations.

// claim is the last claim of a conversation. Its node is empty after a release.
type claim struct {
	token       int64
	node        string
	moved       time.Time
	ended       bool
	now, before port.Tokens
}

type beat struct {
	node  port.Node
	until time.Time
}

// Beat marks a node as alive.
func (s *Store) Beat(ctx context.Context, n port.Node, ttl time.Duration) error {
	if ttl <= 0 {
		return fmt.Errorf("node ttl is %v: expected more than 0", ttl)
	}
	now, err := s.begin(ctx)
	if err != nil {
		return err
	}
	defer s.mu.Unlock()
	s.nodes[n.ID] = beat{n, now.Add(ttl)}
	return nil
}

// Nodes returns the living nodes.
func (s *Store) Nodes(ctx context.Context) ([]port.Node, error) {
	now, err := s.begin(ctx)
	if err != nil {
		return nil, err
	}
	defer s.mu.Unlock()
	var nodes []port.Node
	for _, id := range slices.Sorted(maps.Keys(s.nodes)) {
		if b := s.nodes[id]; b.until.After(now) {
			nodes = append(nodes, b.node)
		}
	}
	return nodes, nil
}

// Leave removes a node.
func (s *Store) Leave(ctx context.Context, node string) error {
	now, err := s.begin(ctx)
	if err != nil {
		return err
	}
	defer s.mu.Unlock()
	delete(s.nodes, node)
	for _, c := range s.claims {
		if c.node == node {
			c.node, c.moved = "", now
		}
	}
	return nil
}

// holder returns the living node that holds a conversation.
func (s *Store) holder(id string, now time.Time) (port.Node, bool) {
	c := s.claims[id]
	if c == nil || c.node == "" {
		return port.Node{}, false
	}
	b, ok := s.nodes[c.node]
	if !ok || !b.until.After(now) {
		return port.Node{}, false
	}
	return b.node, true
}

// Claim gives a conversation to a node.
func (s *Store) Claim(ctx context.Context, id, node string) (port.Hold, error) {
	now, err := s.begin(ctx)
	if err != nil {
		return port.Hold{}, err
	}
	defer s.mu.Unlock()
	if b, ok := s.nodes[node]; !ok || !b.until.After(now) {
		return port.Hold{}, fmt.Errorf("node %q is not alive", node)
	}
	if n, ok := s.holder(id, now); ok && n.ID != node {
		return port.Hold{}, &port.HeldError{Node: n}
	}
	c := s.claims[id]
	if c == nil {
		c = &claim{}
		s.claims[id] = c
	}
	s.last++
	c.token, c.node, c.moved, c.ended = s.last, node, now, false
	return port.Hold{ID: id, Token: c.token}, nil
}

// Holder returns the node that holds a conversation.
func (s *Store) Holder(ctx context.Context, id string) (n port.Node, ok bool, err error) {
	now, err := s.begin(ctx)
	if err != nil {
		return n, false, err
	}
	defer s.mu.Unlock()
	n, ok = s.holder(id, now)
	return n, ok, nil
}

// Release gives a conversation up.
func (s *Store) Release(ctx context.Context, h port.Hold, ended bool) error {
	now, err := s.begin(ctx)
	if err != nil {
		return err
	}
	defer s.mu.Unlock()
	c := s.claims[h.ID]
	if c == nil || c.token != h.Token {
		return nil
	}
	c.node, c.moved, c.ended = "", now, ended
	if ended {
		c.now, c.before = port.Tokens{}, port.Tokens{}
	}
	return nil
}

// Fenced returns the holds that are no longer valid.
func (s *Store) Fenced(ctx context.Context, holds []port.Hold) (lost []port.Hold, err error) {
	if _, err := s.begin(ctx); err != nil {
		return nil, err
	}
	defer s.mu.Unlock()
	for _, h := range holds {
		if s.fenced(h) != nil {
			lost = append(lost, h)
		}
	}
	return lost, nil
}

// Abandoned returns conversations that were neither held nor saved for the duration
// idle.
func (s *Store) Abandoned(ctx context.Context, idle time.Duration, limit int) (ids []string, err error) {
	now, err := s.begin(ctx)
	if err != nil {
		return nil, err
	}
	defer s.mu.Unlock()
	last := make(map[string]time.Time)
	for id, c := range s.claims {
		if _, ok := s.holder(id, now); ok || c.ended {
			continue
		}
		at := c.moved
		for _, other := range []time.Time{s.nodes[c.node].until, s.snapshots[id].saved} {
			if other.After(at) {
				at = other
			}
		}
		if !at.After(now.Add(-idle)) {
			last[id] = at
			ids = append(ids, id)
		}
	}
	slices.SortFunc(ids, func(a, b string) int { return cmp.Or(last[a].Compare(last[b]), cmp.Compare(a, b)) })
	return ids[:min(limit, len(ids))], nil
}

// Grant replaces the tokens of a conversation.
func (s *Store) Grant(ctx context.Context, h port.Hold, g port.Grant) error {
	if _, err := s.begin(ctx); err != nil {
		return err
	}
	defer s.mu.Unlock()
	c := s.claims[h.ID]
	if c == nil || c.token != h.Token {
		return port.ErrFenced
	}
	for id, other := range s.claims {
		if id != h.ID && (same(g.Now.Access, other.now.Access) || same(g.Now.Resume, other.now.Resume)) {
			return errors.New("the token belongs to another conversation")
		}
	}
	if before := &g.Before; len(before.Access) == 0 {
		switch {
		case same(before.Resume, c.now.Resume):
			before.Access = c.now.Access
		case same(before.Resume, c.before.Resume):
			before.Access = c.before.Access
		}
	}
	if len(g.Before.Resume) == 0 {
		g.Before = port.Tokens{}
	}
	c.now, c.before = cloned(g.Now), cloned(g.Before)
	return nil
}

func cloned(t port.Tokens) port.Tokens {
	return port.Tokens{Access: bytes.Clone(t.Access), Resume: bytes.Clone(t.Resume)}
}

// same reports whether two digests are equal and not empty.
func same(a, b []byte) bool { return len(a) > 0 && bytes.Equal(a, b) }

// Access returns the conversation of an access token.
func (s *Store) Access(ctx context.Context, digest []byte) (id string, ok bool, err error) {
	return s.find(ctx, func(c *claim) bool { return same(digest, c.now.Access) || same(digest, c.before.Access) })
}

// Resume returns the conversation of a resume token.
func (s *Store) Resume(ctx context.Context, digest []byte) (id string, ok bool, err error) {
	return s.find(ctx, func(c *claim) bool { return same(digest, c.now.Resume) || same(digest, c.before.Resume) })
}

func (s *Store) find(ctx context.Context, is func(*claim) bool) (string, bool, error) {
	if _, err := s.begin(ctx); err != nil {
		return "", false, err
	}
	defer s.mu.Unlock()
	for id, c := range s.claims {
		if is(c) {
			return id, true, nil
		}
	}
	return "", false, nil
}

// Redeem invalidates a resume token.
func (s *Store) Redeem(ctx context.Context, digest []byte) (bool, error) {
	if _, err := s.begin(ctx); err != nil {
		return false, err
	}
	defer s.mu.Unlock()
	for _, c := range s.claims {
		for _, t := range []*port.Tokens{&c.now, &c.before} {
			if same(digest, t.Resume) {
				t.Resume = nil
				return true, nil
			}
		}
	}
	return false, nil
}
