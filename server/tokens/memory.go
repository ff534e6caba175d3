package tokens

import (
	"context"
	"crypto/sha256"
	"sync"
	"time"

	"github.com/hocketvoice/hocket/port"
)

// Keeper keeps what the secrets of one kind are good for. It is safe for concurrent use.
type Keeper interface {
	// Keep keeps what a secret is good for, for a time from now on. It fails with
	// [port.ErrTickets] where too many wait already.
	Keep(ctx context.Context, secret string, value []byte, ttl time.Duration) error
	// Find returns what a secret is good for; ok is false where it is not, or no longer.
	Find(ctx context.Context, secret string) (value []byte, ok bool, err error)
	// Spend is Find for the last time: of several calls one gets the value.
	Spend(ctx context.Context, secret string) (value []byte, ok bool, err error)
}

type digest = [sha256.Size]byte

// entry is a ticket.
type entry struct {
	value []byte
	until time.Time
	spent bool
}

// Memory is the [Keeper] of a process alone. [NewMemory] makes one.
type Memory struct {
	most int

	mu   sync.Mutex // guards list
	list map[digest]entry
}

// NewMemory makes one that keeps at most so many.
func NewMemory(most int) *Memory { return &Memory{most: most, list: make(map[digest]entry)} }

// Keep implements [Keeper].
func (m *Memory) Keep(_ context.Context, secret string, value []byte, ttl time.Duration) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	now := time.Now()
	for d, e := range m.list {
		if !now.Before(e.until) {
			delete(m.list, d)
		}
	}
	if len(m.list) >= m.most {
		return port.ErrTickets
	}
	m.list[sha256.Sum256([]byte(secret))] = entry{value: value, until: now.Add(ttl)}
	return nil
}

// Find implements [Keeper].
func (m *Memory) Find(_ context.Context, secret string) (value []byte, ok bool, err error) {
	e, ok := m.entry(sha256.Sum256([]byte(secret)))
	if !ok || e.spent {
		return nil, false, nil
	}
	return e.value, true, nil
}

// entry is one that is not over.
func (m *Memory) entry(d digest) (entry, bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	e, ok := m.list[d]
	if !ok || !time.Now().Before(e.until) {
		return entry{}, false
	}
	return e, true
}

// Spend implements [Keeper].
func (m *Memory) Spend(_ context.Context, secret string) (value []byte, ok bool, err error) {
	d := sha256.Sum256([]byte(secret))
	value, ok = m.spend(d)
	if ok {
		m.mu.Lock()
		delete(m.list, d)
		m.mu.Unlock()
	}
	return value, ok, nil
}

// spend marks one as spent.
func (m *Memory) spend(d digest) (value []byte, ok bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	e, ok := m.list[d]
	if !ok || e.spent || !time.Now().Before(e.until) {
		return nil, false
	}
	e.spent = true
	m.list[d] = e
	return e.value, true
}
