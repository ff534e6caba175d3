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
	"github.com/hocketvoice/hocket/port"
)

var (
	_ port.Leg     = (*Leg)(nil)
	_ port.Watcher = (*Leg)(nil)
)

// Leg is one person's line. Read and Write wait for its first connection; when
// one is lost, Read goes on with silence and Write drops, until another one is
// there or the leg ends. Methods may be called from the goroutines that port.Leg
// names; those that port.Leg does not have, from any.
//
// The browser does not report what it has played, so the leg is no
// port.Acknowledger: what was sent counts as heard.
type Leg struct {
	s       *Server
	track   *pion.TrackLocalStaticRTP // bound to each connection
	in      *receiver
	out     *sender
	loss    atomic.Int32 // percent of our packets that the browser misses
	box     *outbox
	inbox   chan string
	workers sync.WaitGroup

	wake      chan struct{}      // holds a token when run is to look again
	firstc    chan struct{}      // closed when the first connection stands, or none ever will
	state     *connection.Signal // what Watch tells; it ends with the leg
	stopc     chan struct{}      // closed by Close
	stop      sync.Once
	signaling chan struct{} // holds a token while somebody negotiates

	// Of the reader.
	due   time.Time
	timer *time.Timer

	mu      sync.Mutex // guards all below
	current *peer      // the connection in use; nil before the first
	pending *peer      // connects, to take current's place; nil: none does
	lostAt  time.Time  // since when there is no connection; zero: there is one
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

// start begins the leg's own work. Close waits for it.
func (l *Leg) start() {
	l.workers.Go(l.run)
	l.workers.Go(l.deliver)
}

// Rate is the sampling rate both ways.
func (l *Leg) Rate() int { return l.s.o.Rate }

// Connected waits for the first connection. io.EOF says that there is none.
func (l *Leg) Connected(ctx context.Context) error {
	select {
	case <-l.firstc:
	case <-ctx.Done():
		return ctx.Err()
	}
	select {
	case <-l.state.Ended():
		return io.EOF
	default:
		return nil
	}
}

// maxLag is how far behind the beat the reader may fall before it lets beats go.
const maxLag = 5 * audio.FrameDuration

// Read returns the person's next 20 ms, on absolute deadlines since the first
// connection: what the network delivers late, lost or in bursts comes in order
// and on the beat.
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
	return l.in.frame(l.due), nil
}

// Write sends the agent's next 20 ms. What is silent for long is not sent.
func (l *Leg) Write(ctx context.Context, f audio.Frame) error {
	select {
	case <-l.firstc:
	default:
		// The clock of the conversation's playout stands until somebody hears it.
		if err := l.Connected(ctx); err != nil && !errors.Is(err, io.EOF) {
			return err
		}
	}
	select {
	case <-l.state.Ended():
		return nil // Read tells
	default:
	}
	return l.out.write(f, int(l.loss.Load()))
}

// Clear has nothing to do: the browser holds a few frames, which it does not
// give back.
func (l *Leg) Clear(context.Context) error { return nil }

// Notify does nothing: the person's side follows the conversation's event stream,
// or messages that whoever uses the leg sends.
func (l *Leg) Notify(port.Notice) {}

// Watch waits for the line's next state.
func (l *Leg) Watch(ctx context.Context, last port.Line) (port.Line, error) {
	return l.state.Watch(ctx, last)
}

// halt has the leg end.
func (l *Leg) halt() { l.stop.Do(func() { close(l.stopc) }) }

// Close ends the leg and its connection, once the person can have heard what was
// sent, and waits for all that it started. A second call waits too.
func (l *Leg) Close() error {
	l.halt()
	l.workers.Wait()
	l.s.remove(l)
	return nil
}
