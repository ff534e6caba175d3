package webrtc

import (
	"context"
	"errors"
	"fmt"
	"io"
	"sync"
	"sync/atomic"
	"time"

	pion "github.com/pion/webrtc/v4"

	"github.com/hocketvoice/hocket/audio"
	"github.com/hocketvoice/hocket/internal/connection"
	"github.com/hocketvoice/hocket/internal/rtpsound"
	"github.com/hocketvoice/hocket/port"
)

var (
	_ port.Leg      = (*Leg)(nil)
	_ port.Watcher  = (*Leg)(nil)
	_ port.Returner = (*Leg)(nil)
)

// Leg is the connection of one person. Read and Write wait for its first
// connection. While a connection is lost, Read returns silence and Write discards
// frames, until there is another one or the leg ends. The methods of port.Leg
// follow its concurrency rules; the others are safe for concurrent use.
//
// The browser does not report what it has played, so the leg is not a
// port.Acknowledger: sent frames count as heard.
type Leg struct {
	s       *Server
	track   *pion.TrackLocalStaticRTP // attached to each connection
	in      *rtpsound.Receiver
	out     *sender
	loss    atomic.Int32 // percentage of our packets that the browser reports as lost
	box     *outbox
	inbox   chan string
	workers sync.WaitGroup

	wake      chan struct{}      // contains a token when run must check the connections
	firstc    chan struct{}      // closed when the first connection is established or has failed
	state     *connection.Signal // the state returned by Watch; ends with the leg
	stopc     chan struct{}      // closed by Close
	stop      sync.Once
	signaling chan struct{} // contains a token during a negotiation

	// Used by the reader only.
	due   time.Time
	timer *time.Timer

	mu      sync.Mutex // guards the fields below
	current *peer      // the connection in use; nil before the first
	pending *peer      // connecting, will replace current; nil if there is none
	lostAt  time.Time  // since when there is no connection; zero if there is one
	// met reports that the leg was connected before. returning reports that the person
	// was in the conversation before, over another leg.
	met, returning bool
}

func newLeg(s *Server) (*Leg, error) {
	track, err := pion.NewTrackLocalStaticRTP(codec().RTPCodecCapability, "agent", "hocket")
	if err != nil {
		return nil, fmt.Errorf("webrtc: %w", err)
	}
	in, err := newReceiver(s.o.Rate)
	if err != nil {
		return nil, err
	}
	out, err := newSender(s.o, track)
	if err != nil {
		return nil, err
	}
	return &Leg{
		s: s, track: track, in: in, out: out, box: newOutbox(), inbox: make(chan string, maxWaiting),
		wake: make(chan struct{}, 1), firstc: make(chan struct{}), state: connection.New(),
		stopc: make(chan struct{}), signaling: make(chan struct{}, 1),
		timer: time.NewTimer(0), lostAt: time.Now(),
	}, nil
}

// start starts the leg's goroutines. Close waits for them.
func (l *Leg) start() {
	l.workers.Go(l.run)
	l.workers.Go(l.deliver)
}

// Rate returns the sampling rate of both directions in hertz.
func (l *Leg) Rate() int { return l.s.o.Rate }

// Connected waits for the first connection. It returns an error that wraps io.EOF if
// the leg has ended: [port.ErrNeverConnected] if there was none.
func (l *Leg) Connected(ctx context.Context) error {
	select {
	case <-l.firstc:
	case <-ctx.Done():
		return ctx.Err()
	}
	select {
	case <-l.state.Ended():
		l.mu.Lock()
		defer l.mu.Unlock()
		if !l.met && !l.returning {
			return port.ErrNeverConnected
		}
		return io.EOF
	default:
		return nil
	}
}

// Connecting reports whether the leg was never connected.
func (l *Leg) Connecting() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return !l.met
}

// Returning implements [port.Returner].
func (l *Leg) Returning() {
	l.mu.Lock()
	l.returning = true
	l.mu.Unlock()
	l.look()
}

// maxLag is how far Read may fall behind before it skips frames.
const maxLag = 5 * audio.FrameDuration

// Read returns the person's next 20 ms, at absolute deadlines counted from the
// first connection. Packets that arrive late, in bursts or out of order are put in
// order; lost ones are concealed.
func (l *Leg) Read(ctx context.Context) (audio.Frame, error) {
	if err := l.Connected(ctx); err != nil {
		return audio.Frame{}, err
	}
	now := time.Now()
	if l.due.IsZero() || now.Sub(l.due) > maxLag {
		l.due = now
	}
	l.due = l.due.Add(audio.FrameDuration)
	l.timer.Reset(l.due.Sub(now))
	select {
	case <-l.timer.C:
	case <-l.state.Ended():
		return audio.Frame{}, io.EOF
	case <-ctx.Done():
		return audio.Frame{}, ctx.Err()
	}
	return l.in.Frame(l.due), nil
}

// Write sends the agent's next 20 ms. Long silence is not sent.
func (l *Leg) Write(ctx context.Context, f audio.Frame) error {
	select {
	case <-l.firstc:
	default:
		// The playout clock stands still until the person can hear.
		if err := l.Connected(ctx); err != nil && !errors.Is(err, io.EOF) {
			return err
		}
	}
	select {
	case <-l.state.Ended():
		return nil // Read reports it
	default:
	}
	return l.out.write(f, int(l.loss.Load()))
}

// Clear does nothing: the browser buffers only a few frames, which cannot be
// recalled.
func (l *Leg) Clear(context.Context) error { return nil }

// Notify does nothing: the client follows the conversation's event stream, or
// receives messages from the user of the leg.
func (l *Leg) Notify(port.Notice) {}

// Watch waits for a state of the connection other than last.
func (l *Leg) Watch(ctx context.Context, last port.Line) (port.Line, error) {
	return l.state.Watch(ctx, last)
}

// halt makes the leg end.
func (l *Leg) halt() { l.stop.Do(func() { close(l.stopc) }) }

// Close ends the leg and its connection after the last sound sent has had time to
// be heard, and waits for all its goroutines. A second call also waits.
func (l *Leg) Close() error {
	l.halt()
	l.workers.Wait()
	l.s.remove(l)
	return nil
}
