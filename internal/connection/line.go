package connection

import (
	"context"
	"io"
	"sync"

	"github.com/hocketvoice/hocket/port"
)

// Signal is the state of a connection. Use [New] to create one. It is safe for
// concurrent use.
type Signal struct {
	once sync.Once
	endc chan struct{} // closed by End

	mu      sync.Mutex // guards the fields below
	line    port.Line
	changec chan struct{} // closed and replaced when line changes
}

// New returns the signal of a connection that is up.
func New() *Signal { return &Signal{endc: make(chan struct{}), changec: make(chan struct{})} }

// Set changes the state.
func (s *Signal) Set(line port.Line) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if line != s.line {
		s.line = line
		close(s.changec)
		s.changec = make(chan struct{})
	}
}

// End reports that the leg has ended.
func (s *Signal) End() { s.once.Do(func() { close(s.endc) }) }

// Ended returns a channel that is closed by End.
func (s *Signal) Ended() <-chan struct{} { return s.endc }

// State returns the state and a channel that is closed when it changes.
func (s *Signal) State() (line port.Line, changed <-chan struct{}) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.line, s.changec
}

// Watch implements [port.Watcher].
func (s *Signal) Watch(ctx context.Context, last port.Line) (port.Line, error) {
	for {
		line, changed := s.State()
		select {
		case <-s.endc:
			return line, io.EOF
		default:
		}
		if line != last {
			return line, nil
		}
		select {
		case <-changed:
		case <-s.endc:
		case <-ctx.Done():
			return line, ctx.Err()
		}
	}
}
