package porttest

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/hocketvoice/hocket/port"
)

var (
	_ port.Store    = (*Store)(nil)
	_ port.Journal  = (*Store)(nil)
	_ port.Registry = (*Store)(nil)
	_ port.Archive  = (*Store)(nil)
	_ port.Tickets  = (*Store)(nil)
)

// Store keeps conversations in memory. The zero value is ready; it is safe for
// concurrent use.
type Store struct {
	// Now is its clock; time.Now if nil. It must be safe for concurrent use.
	Now func() time.Time

	mu        sync.Mutex // guards all below
	snapshots map[string]kept
	journals  map[string]*pieces
	claims    map[string]*claim
	nodes     map[string]beat
	tickets   map[string]ticket // by kind and digest
	last      int64             // the last token
}

// pieces are a journal, which began at a time.
type pieces struct {
	began time.Time
	list  map[int][]byte
}

type kept struct {
	snapshot []byte
	saved    time.Time
}

// claim is the last one of a conversation. Without a node it was given up.
type claim struct {
	token          int64
	node           string
	moved          time.Time
	ended          bool
	access, resume []byte
}

type beat struct {
	node  port.Node
	until time.Time
}

// begin locks the store for a call, which must unlock it, and makes its maps.
func (s *Store) begin(ctx context.Context) (now time.Time, err error) {
	if err := ctx.Err(); err != nil {
		return now, err
	}
	now = time.Now()
	if s.Now != nil {
		now = s.Now()
	}
	s.mu.Lock()
	if s.snapshots == nil {
		s.snapshots, s.journals = make(map[string]kept), make(map[string]*pieces)
		s.claims, s.nodes, s.tickets = make(map[string]*claim), make(map[string]beat), make(map[string]ticket)
	}
	return now, nil
}

// fenced refuses a hold that is not that of the last claim.
func (s *Store) fenced(h port.Hold) error {
	token := int64(0)
	if c := s.claims[h.ID]; c != nil {
		token = c.token
	}
	if h.Token != token {
		return port.ErrFenced
	}
	return nil
}

// Save replaces a snapshot.
func (s *Store) Save(ctx context.Context, h port.Hold, snapshot []byte) error {
	now, err := s.begin(ctx)
	if err != nil {
		return err
	}
	defer s.mu.Unlock()
	if err := s.fenced(h); err != nil {
		return err
	}
	s.snapshots[h.ID] = kept{append([]byte{}, snapshot...), now}
	return nil
}

// Load returns a copy of a snapshot.
func (s *Store) Load(ctx context.Context, id string) (snapshot []byte, ok bool, err error) {
	if _, err := s.begin(ctx); err != nil {
		return nil, false, err
	}
	defer s.mu.Unlock()
	k, ok := s.snapshots[id]
	return bytes.Clone(k.snapshot), ok, nil
}

// Delete removes a conversation.
func (s *Store) Delete(ctx context.Context, id string) error {
	if _, err := s.begin(ctx); err != nil {
		return err
	}
	defer s.mu.Unlock()
	s.remove(id)
	return nil
}

func (s *Store) remove(id string) {
	delete(s.snapshots, id)
	delete(s.journals, id)
	delete(s.claims, id)
}

// List tells of the snapshots.
func (s *Store) List(ctx context.Context, limit int) ([]port.Entry, error) {
	if limit < 1 {
		return nil, fmt.Errorf("list: limit is %d, expected 1 or more", limit)
	}
	if _, err := s.begin(ctx); err != nil {
		return nil, err
	}
	defer s.mu.Unlock()
	var list []port.Entry
	for id, k := range s.snapshots {
		list = append(list, port.Entry{ID: id, Saved: k.saved.UTC(), Size: len(k.snapshot)})
	}
	slices.SortFunc(list, func(a, b port.Entry) int { return cmp.Or(b.Saved.Compare(a.Saved), cmp.Compare(a.ID, b.ID)) })
	return list[:min(limit, len(list))], nil
}

// Expire deletes what is older than age.
func (s *Store) Expire(ctx context.Context, age time.Duration) (deleted int, err error) {
	if age <= 0 {
		return 0, fmt.Errorf("expire: the age is %v, expected more than 0", age)
	}
	now, err := s.begin(ctx)
	if err != nil {
		return 0, err
	}
	defer s.mu.Unlock()
	last := make(map[string]time.Time)
	for id, j := range s.journals {
		last[id] = j.began
	}
	for id, c := range s.claims {
		last[id] = c.moved
	}
	for id, k := range s.snapshots {
		last[id] = k.saved
	}
	for id, at := range last {
		if _, held := s.holder(id, now); !held && at.Before(now.Add(-age)) {
			s.remove(id)
			deleted++
		}
	}
	return deleted, nil
}

// Append adds a piece.
func (s *Store) Append(ctx context.Context, h port.Hold, number int, records []byte) error {
	if number < 1 {
		return fmt.Errorf("the number of a piece is %d, expected 1 or more", number)
	}
	now, err := s.begin(ctx)
	if err != nil {
		return err
	}
	defer s.mu.Unlock()
	if err := s.fenced(h); err != nil {
		return err
	}
	j := s.journals[h.ID]
	if j == nil {
		j = &pieces{now, make(map[int][]byte)}
		s.journals[h.ID] = j
	}
	if _, ok := j.list[number]; !ok {
		j.list[number] = append([]byte{}, records...)
	}
	return nil
}

// Read calls each with copies of the pieces there are when it begins.
func (s *Store) Read(ctx context.Context, id string, each func(number int, records []byte) error) error {
	if _, err := s.begin(ctx); err != nil {
		return err
	}
	var list map[int][]byte
	if j := s.journals[id]; j != nil {
		list = maps.Clone(j.list)
	}
	s.mu.Unlock()
	for _, number := range slices.Sorted(maps.Keys(list)) {
		if err := ctx.Err(); err != nil {
			return err
		}
		if err := each(number, bytes.Clone(list[number])); err != nil {
			return err
		}
	}
	return nil
}

// Beat keeps a node alive.
func (s *Store) Beat(ctx context.Context, n port.Node, ttl time.Duration) error {
	if ttl <= 0 {
		return fmt.Errorf("the time of a node is %v, expected more than 0", ttl)
	}
	now, err := s.begin(ctx)
	if err != nil {
		return err
	}
	defer s.mu.Unlock()
	s.nodes[n.ID] = beat{n, now.Add(ttl)}
	return nil
}

// Nodes are those that are alive.
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

// Leave ends a node.
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

// holder is the living node that holds a conversation.
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
		return port.Hold{}, fmt.Errorf("the node %q is not alive: expected one that beats", node)
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

// Holder is the node that holds a conversation.
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
		c.access, c.resume = nil, nil
	}
	return nil
}

// Fenced are holds that are no longer good.
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

// Abandoned are conversations that nobody goes on with.
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
func (s *Store) Grant(ctx context.Context, h port.Hold, access, resume []byte) error {
	if _, err := s.begin(ctx); err != nil {
		return err
	}
	defer s.mu.Unlock()
	c := s.claims[h.ID]
	if c == nil || c.token != h.Token {
		return port.ErrFenced
	}
	for id, other := range s.claims {
		if id != h.ID && (same(access, other.access) || same(resume, other.resume)) {
			return errors.New("the token is another conversation's")
		}
	}
	c.access, c.resume = bytes.Clone(access), bytes.Clone(resume)
	return nil
}

// same reports whether two digests are one. An empty one is none.
func same(a, b []byte) bool { return len(a) > 0 && bytes.Equal(a, b) }

// Access is the conversation that an access token is good for.
func (s *Store) Access(ctx context.Context, digest []byte) (id string, ok bool, err error) {
	return s.find(ctx, func(c *claim) bool { return same(digest, c.access) })
}

// Resume is the conversation that a resume token is good for.
func (s *Store) Resume(ctx context.Context, digest []byte) (id string, ok bool, err error) {
	return s.find(ctx, func(c *claim) bool { return same(digest, c.resume) })
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

// Redeem uses a resume token up.
func (s *Store) Redeem(ctx context.Context, digest []byte) (bool, error) {
	if _, err := s.begin(ctx); err != nil {
		return false, err
	}
	defer s.mu.Unlock()
	for _, c := range s.claims {
		if same(digest, c.resume) {
			c.resume = nil
			return true, nil
		}
	}
	return false, nil
}

// ticket is good until a time, unless it was spent.
type ticket struct {
	kind  string
	value []byte
	until time.Time
	spent bool
}

// KeepTicket keeps a ticket.
func (s *Store) KeepTicket(ctx context.Context, kind string, digest, value []byte, ttl time.Duration, most int) error {
	if len(digest) == 0 || ttl <= 0 {
		return fmt.Errorf("a ticket has a digest of %d bytes and a time of %v, expected more than 0", len(digest), ttl)
	}
	now, err := s.begin(ctx)
	if err != nil {
		return err
	}
	defer s.mu.Unlock()
	if _, ok := s.tickets[kind+string(digest)]; ok {
		return nil
	}
	n := 0
	for _, t := range s.tickets {
		if t.kind == kind && !t.spent && t.until.After(now) {
			n++
		}
	}
	if n >= most {
		return port.ErrTickets
	}
	s.tickets[kind+string(digest)] = ticket{kind: kind, value: append([]byte{}, value...), until: now.Add(ttl)}
	return nil
}

// FindTicket returns a copy of what a ticket is good for.
func (s *Store) FindTicket(ctx context.Context, kind string, digest []byte) (value []byte, ok bool, err error) {
	return s.ticket(ctx, kind, digest, false)
}

// SpendTicket does so for the last time.
func (s *Store) SpendTicket(ctx context.Context, kind string, digest []byte) (value []byte, ok bool, err error) {
	return s.ticket(ctx, kind, digest, true)
}

func (s *Store) ticket(ctx context.Context, kind string, digest []byte, spend bool) (value []byte, ok bool, err error) {
	now, err := s.begin(ctx)
	if err != nil {
		return nil, false, err
	}
	defer s.mu.Unlock()
	t, ok := s.tickets[kind+string(digest)]
	if !ok || t.spent || !t.until.After(now) {
		return nil, false, nil
	}
	if spend {
		t.spent = true
		s.tickets[kind+string(digest)] = t
	}
	return bytes.Clone(t.value), true, nil
}
