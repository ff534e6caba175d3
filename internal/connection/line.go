package connection

import (
	"context"
	"io"
	"sync"

	"github.com/hocketvoice/hocket/port"
)

// Signal is the state of a line. [New] makes one. Its methods may be called from
// any goroutine.
type Signal struct {
	once sync.Once
	endc chan struct{} // closed by End

	mu      sync.Mutex // guards all below
	line    port.Line
	changec chan struct{} // closed and replaced when line changes
}

// New makes a line that is up.
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

// End says that the leg has ended, for good.
func (s *Signal) End() { s.once.Do(func() { close(s.endc) }) }

// Ended is closed when it has.
func (s *Signal) Ended() <-chan struct{} { return s.endc }

// State is the line's, and what is closed when it changes.
func (s *Signal) State() (line port.Line, changed <-chan struct{}) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.line, s.changec
}

// Watch waits for another state than last, as [port.Watcher] has it.
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
