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

// Leg is a person who reads and types. Its methods are those of port.Leg. Close and
// Present are safe for concurrent use.
type Leg struct {
	linger time.Duration
	line   *connection.Signal

	mu     sync.Mutex // serializes changes of the person's presence
	absent time.Time  // since when the person is absent; zero if present; guarded by mu
}

// New returns a leg whose person is present.
func New(o Options) *Leg {
	return &Leg{linger: cmp.Or(o.Linger, 5*time.Minute), line: connection.New()}
}

// Rate returns 8000 Hz, although the leg has no sound.
func (*Leg) Rate() int { return 8000 }

// Read waits until the person has left for good and returns io.EOF.
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

// left returns how long the leg still waits for an absent person, or 0 if the
// person is present.
func (l *Leg) left() time.Duration {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.absent.IsZero() {
		return 0
	}
	return max(1, l.linger-time.Since(l.absent))
}

// Present sets whether the person is present, that is, follows the conversation.
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

// Watch waits for a state of the connection other than last.
func (l *Leg) Watch(ctx context.Context, last port.Line) (port.Line, error) {
	return l.line.Watch(ctx, last)
}

// Write discards the frame.
func (*Leg) Write(context.Context, audio.Frame) error { return nil }

// Clear does nothing.
func (*Leg) Clear(context.Context) error { return nil }

// Notify does nothing: a reader receives the events of the conversation.
func (*Leg) Notify(port.Notice) {}

// Close reports that the person has left for good.
func (l *Leg) Close() error {
	l.line.End()
	return nil
}
