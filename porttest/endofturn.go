package porttest

import (
	"context"
	"sync"

	"github.com/hocketvoice/hocket/port"
)

var _ port.EndOfTurn = (*EndOfTurn)(nil)

// EndOfTurn is a fake model that hears the end of a turn. It is safe for concurrent use.
type EndOfTurn struct {
	// Says returns the answer to a request; the first has the number 0. If it is nil, the
	// speaker has always finished.
	Says func(ctx context.Context, request int, pcm []int16) (float64, error)

	mu       sync.Mutex
	requests int
}

// Name returns "fake".
func (m *EndOfTurn) Name() string { return "fake" }

// Requests returns how often the model was asked.
func (m *EndOfTurn) Requests() int {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.requests
}

// Finished counts the request and returns the answer.
func (m *EndOfTurn) Finished(ctx context.Context, pcm []int16) (float64, error) {
	m.mu.Lock()
	n := m.requests
	m.requests++
	m.mu.Unlock()
	if m.Says == nil {
		return 1, nil
	}
	return m.Says(ctx, n, pcm)
}
