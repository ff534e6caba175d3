package text

import (
	"cmp"
	"context"
	"io"
	"sync"
	"time"

	"github.com/hocketvoice/hocket/audio"
	"github.com/hocketvoice/hocket/internal/connection"
	"github.com/hocketvoice/hocket/port"
)

var (
	_ port.Leg     = (*Leg)(nil)
	_ port.Watcher = (*Leg)(nil)
)

// Leg is a person who reads and types. Its methods are those of port.Leg; Close
// and Present may be called from any goroutine.
type Leg struct {
	linger time.Duration
	line   *connection.Signal

	mu     sync.Mutex // orders what is said of the person
	absent time.Time  // since when nobody is there; zero: somebody is; guarded by mu
}

// New makes a leg with somebody at the other end.
func New(o Options) *Leg {
	return &Leg{linger: cmp.Or(o.Linger, 5*time.Minute), line: connection.New()}
}

// Rate is the lowest there is: nothing sounds.
func (*Leg) Rate() int { return 8000 }

// Read waits until the person has gone for good: nobody speaks.
func (l *Leg) Read(ctx context.Context) (audio.Frame, error) {
	for {
		_, changed := l.line.State()
		left := l.left()
		var over <-chan time.Time
		if left > 0 {
			over = time.After(left)
		}
		select {
		case <-l.line.Ended():
			return audio.Frame{}, io.EOF
		case <-over:
			_ = l.Close() // it never fails
		case <-changed:
		case <-ctx.Done():
			return audio.Frame{}, ctx.Err()
		}
	}
}

// left is how long the leg still waits for a person who has gone, 0 while they are
// there.
func (l *Leg) left() time.Duration {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.absent.IsZero() {
		return 0
	}
	return max(1, l.linger-time.Since(l.absent))
}

// Present says whether the person is there: whether they follow what is said.
func (l *Leg) Present(on bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.absent.IsZero() == on {
		return
	}
	if on {
		l.absent = time.Time{}
		l.line.Set(port.LineUp)
		return
	}
	l.absent = time.Now()
	l.line.Set(port.LineShaky)
}

// Watch waits for the line's next state.
func (l *Leg) Watch(ctx context.Context, last port.Line) (port.Line, error) {
	return l.line.Watch(ctx, last)
}

// Write does nothing: nobody listens.
func (*Leg) Write(context.Context, audio.Frame) error { return nil }

// Clear does nothing.
func (*Leg) Clear(context.Context) error { return nil }

// Notify does nothing: who reads has the events of the conversation.
func (*Leg) Notify(port.Notice) {}

// Close says that the person has gone for good.
func (l *Leg) Close() error {
	l.line.End()
	return nil
}
