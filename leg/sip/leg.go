package sip

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"sync/atomic"
	"time"

	"github.com/hocketvoice/hocket/audio"
	"github.com/hocketvoice/hocket/internal/connection"
	"github.com/hocketvoice/hocket/internal/wire/dtmf"
	"github.com/hocketvoice/hocket/port"
)

var (
	_ port.Leg       = (*Leg)(nil)
	_ port.Watcher   = (*Leg)(nil)
	_ port.KeyReader = (*Leg)(nil)
	_ port.Forwarder = (*Leg)(nil)
)

const (
	// maxLag is how far Read may fall behind before it skips frames.
	maxLag = 5 * audio.FrameDuration
	// lastWords is the time that the agent's last sound may take in the network and the telephone's
	// buffer.
	lastWords = 300 * time.Millisecond
	// maxKeys is how many keys may wait to be sent.
	maxKeys = 64
)

// Leg is a call. The methods of port.Leg follow its concurrency rules; the others are safe for
// concurrent use.
//
// Nothing tells what a telephone has played, so the leg is not a port.Acknowledger: what was sent counts
// as heard, which is more than what was heard by the way through the network and the telephone's buffer,
// together 50 to 300 ms as a rule.
//
// While the other side holds the call, the connection counts as lost: Read returns silence and Write
// discards frames.
type Leg struct {
	media  *media
	line   *connection.Signal // ends with the call
	closed *fact              // the leg was closed
	spoke  atomic.Int64       // when an audible frame was last sent, in Unix nanoseconds
	refer  func(ctx context.Context, target string) error

	// Used by Read alone.
	due   time.Time
	timer *time.Timer
}

func newLeg(m *media) *Leg {
	timer := time.NewTimer(time.Hour)
	timer.Stop()
	return &Leg{media: m, line: connection.New(), closed: newFact(), timer: timer}
}

// Rate returns the sampling rate of both directions in hertz: that of the codec with which the call
// began.
func (l *Leg) Rate() int { return l.media.rate }

// Read returns the caller's next 20 ms, at absolute deadlines. Packets that arrive late, in bursts or
// out of order are put in order; lost ones are concealed. It returns io.EOF when the call is over.
func (l *Leg) Read(ctx context.Context) (audio.Frame, error) {
	now := time.Now()
	if l.due.IsZero() || now.Sub(l.due) > maxLag {
		l.due = now
	}
	l.due = l.due.Add(audio.FrameDuration)
	l.timer.Reset(l.due.Sub(now))
	select {
	case <-l.line.Ended():
		return audio.Frame{}, io.EOF
	default:
	}
	select {
	case <-l.timer.C:
		return l.media.frame(l.due), nil
	case <-l.line.Ended():
		return audio.Frame{}, io.EOF
	case <-ctx.Done():
		return audio.Frame{}, ctx.Err()
	}
}

// ReadKey waits for the next key that the caller presses, by an event in the sound's stream or by an
// INFO request. It returns io.EOF when the call is over.
func (l *Leg) ReadKey(ctx context.Context) (byte, error) {
	select {
	case k := <-l.media.keys:
		return k, nil
	default:
	}
	select {
	case k := <-l.media.keys:
		return k, nil
	case <-l.line.Ended():
		return 0, io.EOF
	case <-ctx.Done():
		return 0, ctx.Err()
	}
}

// Write sends the agent's next 20 ms at once, silence too. What is written after the end of the call is
// lost.
func (l *Leg) Write(ctx context.Context, f audio.Frame) error {
	select {
	case <-l.line.Ended():
		return nil // Read reports it
	default:
	}
	if audio.Peak(f.PCM) > 0 {
		l.spoke.Store(time.Now().UnixNano())
	}
	if err := l.media.write(f); err != nil {
		return err
	}
	return ctx.Err()
}

// Clear does nothing: nothing waits here, and what the network and the telephone have cannot be
// recalled.
func (*Leg) Clear(context.Context) error { return nil }

// Notify does nothing: a telephone shows nothing.
func (*Leg) Notify(port.Notice) {}

// Watch waits for a state of the connection other than last: it is lost while the other side holds the
// call.
func (l *Leg) Watch(ctx context.Context, last port.Line) (port.Line, error) {
	return l.line.Watch(ctx, last)
}

// SendKeys presses keys: 0 to 9, *, #, and A to D. They replace the sound of the frames that are written
// next, 260 ms for each key. It returns at once.
func (l *Leg) SendKeys(keys string) error {
	events := make([]byte, 0, len(keys))
	for i := range len(keys) {
		event, ok := dtmf.Event(keys[i])
		if !ok {
			return fmt.Errorf("sip: %q is not a key: expected 0 to 9, *, #, or A to D", keys[i])
		}
		events = append(events, event)
	}
	m := l.media
	m.sending.Lock()
	defer m.sending.Unlock()
	switch {
	case m.out.keyClock == 0:
		return errors.New("sip: the other side does not take keys")
	case len(m.out.pending)+len(events) > maxKeys:
		return fmt.Errorf("sip: too many keys: expected at most %d that wait", maxKeys)
	}
	m.out.pending = append(m.out.pending, events...)
	return nil
}

// Transfer implements [port.Forwarder] by a REFER request (RFC 3515): the other side calls the target
// itself. A number becomes an address at the host of the caller's own. What number is shown is the
// other side's choice: To alone counts. A call to the target that rings for longer than Ring is given
// up here, and no longer followed; nothing can take it back.
func (l *Leg) Transfer(ctx context.Context, t port.Transfer) error {
	if t.Ring > 0 {
		var stop context.CancelFunc
		ctx, stop = context.WithTimeoutCause(ctx, t.Ring, port.ErrNoAnswer)
		defer stop()
	}
	if err := l.refer(ctx, t.To); err != nil {
		if cause := context.Cause(ctx); errors.Is(cause, port.ErrNoAnswer) {
			err = fmt.Errorf("sip: %w", cause)
		}
		return err
	}
	return nil
}

// Stats returns the counts so far.
func (l *Leg) Stats() Stats { return l.media.stats() }

// Close ends the call after the last sound sent has had time to be heard. A second call also waits.
func (l *Leg) Close() error {
	rest := lastWords - time.Since(time.Unix(0, l.spoke.Load()))
	if rest > 0 {
		timer := time.NewTimer(rest)
		defer timer.Stop()
		select {
		case <-timer.C:
		case <-l.line.Ended():
		}
	}
	l.closed.happen()
	return nil
}

// hold notes whether the other side holds the call.
func (l *Leg) hold(held bool) {
	if held {
		l.line.Set(port.LineLost)
	} else {
		l.line.Set(port.LineUp)
	}
}

func isClosed(err error) bool { return errors.Is(err, net.ErrClosed) }
