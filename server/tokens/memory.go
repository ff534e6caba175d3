package tokens

import (
	"context"
	"crypto/sha256"
	"sync"
	"time"

	"github.com/hocketvoice/hocket/port"
)

// Keeper stores the values of the secrets of one kind. It is safe for concurrent
// use.
type Keeper interface {
	// Keep stores the value of a secret for ttl from now. It fails with
	// [port.ErrTickets] if too many secrets are waiting.
	Keep(ctx context.Context, secret string, value []byte, ttl time.Duration) error
	// Find returns the value of a secret. ok is false if the secret is not known,
	// has expired or was spent.
	Find(ctx context.Context, secret string) (value []byte, ok bool, err error)
	// Spend returns the value of a secret and invalidates it. Of several calls with
	// the same secret, one returns the value.
	Spend(ctx context.Context, secret string) (value []byte, ok bool, err error)
}

type digest = [sha256.Size]byte

// entry is a stored value.
type entry struct {
	value []byte
	until time.Time
	spent bool
}

// Memory is a [Keeper] for a single process. Use [NewMemory] to create one.
type Memory struct {
	most int

	mu   sync.Mutex // guards list
	list map[digest]entry
}

// NewMemory returns a Memory that holds up to most secrets.
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

// entry returns an entry that has not expired.
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

// spend marks an entry as spent.
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
