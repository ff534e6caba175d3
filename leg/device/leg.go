package device

import (
	"context"
	"fmt"
	"io"
	"sync"
	"time"

	"github.com/hocketvoice/hocket/audio"
	"github.com/hocketvoice/hocket/port"
)

var (
	_ port.Leg          = (*Leg)(nil)
	_ port.Acknowledger = (*Leg)(nil)
)

// stream is an open device. Close waits for the last exchange.
type stream interface{ Close() error }

// opener opens the default devices with a rate and a number of channels for each
// direction; 0 means that the direction is not used. Until the stream is closed, the
// device calls exchange on a thread of its own, with interleaved samples: played is
// zeroed and must be filled, heard contains the new samples. It calls stopped, from any
// thread, if the device stops by itself; not all of them notice that.
type opener func(rate, heard, played int, exchange func(played, heard []int16), stopped func()) (stream, error)

// silence is how long a device may exchange nothing. It is longer than what a change of the
// default device takes.
const silence = 5 * time.Second

// Leg is a call with the person at this machine. Its methods follow the concurrency
// rules of port.Leg.
type Leg struct {
	rate   int
	stream stream
	wake   chan struct{} // contains a token when there are new samples or the leg was closed
	pcm    []int16       // returned by Read
	pos    audio.Pos

	mu       sync.Mutex // guards the fields below
	in, out  *queue
	hangedUp bool
	gone     bool // the device has stopped by itself
}

// Open opens the default microphone and speaker. The caller must close the leg.
func Open(o Options) (*Leg, error) { return open(o, openDevice) }

func open(o Options, f opener) (*Leg, error) {
	o.setDefaults()
	if err := o.Validate(); err != nil {
		return nil, err
	}
	l := &Leg{
		rate: o.Rate, wake: make(chan struct{}, 1), pcm: make([]int16, audio.FrameSamples(o.Rate)),
		in: newQueue(o.Rate, audio.FrameDuration), out: newQueue(o.Rate, reserve),
	}
	var err error
	if l.stream, err = f(o.Rate, 1, 1, l.exchange, l.stopped); err != nil {
		return nil, fmt.Errorf("device leg: %w", err)
	}
	return l, nil
}

// exchange takes the samples from the microphone and provides those for the speaker. It
// runs on the device's thread and allocates nothing.
func (l *Leg) exchange(played, heard []int16) {
	l.mu.Lock()
	l.in.put(heard)
	l.out.take(played)
	l.mu.Unlock()
	l.signal()
}

// stopped notes that the device is gone.
func (l *Leg) stopped() {
	l.mu.Lock()
	l.gone = true
	l.mu.Unlock()
	l.signal()
}

func (l *Leg) signal() {
	select {
	case l.wake <- struct{}{}:
	default:
	}
}

// Rate returns the sampling rate of both directions in hertz.
func (l *Leg) Rate() int { return l.rate }

// Read returns the next 20 ms from the microphone. It returns io.EOF after HangUp, and
// ErrGone if the device has stopped or has not answered for five seconds.
func (l *Leg) Read(ctx context.Context) (audio.Frame, error) {
	patience := time.NewTimer(silence)
	defer patience.Stop()
	for {
		l.mu.Lock()
		hangedUp, gone, ready := l.hangedUp, l.gone, l.in.ring.Len() >= len(l.pcm)
		if ready {
			l.in.take(l.pcm)
		}
		l.mu.Unlock()
		switch {
		case hangedUp:
			return audio.Frame{}, io.EOF
		case ready:
			f := audio.Frame{Pos: l.pos, Rate: l.rate, PCM: l.pcm}
			l.pos = f.End()
			return f, nil
		case gone:
			return audio.Frame{}, fmt.Errorf("device leg: %w: it has stopped", ErrGone)
		}
		select {
		case <-l.wake:
		case <-patience.C:
			l.stopped()
			return audio.Frame{}, fmt.Errorf("device leg: %w: it has not answered for %v", ErrGone, silence)
		case <-ctx.Done():
			return audio.Frame{}, ctx.Err()
		}
	}
}

// Write plays the next samples of the agent.
func (l *Leg) Write(ctx context.Context, f audio.Frame) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.out.put(f.PCM)
	return ctx.Err()
}

// Clear drops the samples that were not passed to the speaker yet.
func (l *Leg) Clear(context.Context) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.out.clear()
	return nil
}

// Played returns the position after the last sample that the device has taken, or that
// was dropped.
func (l *Leg) Played() audio.Pos {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.out.taken()
}

// Notify does nothing, since the person uses a terminal.
func (l *Leg) Notify(port.Notice) {}

// HangUp ends the call on behalf of the person: Read returns io.EOF from now on.
func (l *Leg) HangUp() {
	l.mu.Lock()
	l.hangedUp = true
	l.mu.Unlock()
	l.signal()
}

// closing is how long Close waits for a device that is gone.
const closing = time.Second

// Close hangs up and closes the devices. Some systems never close a device that is gone: it
// is then left to the end of the process.
func (l *Leg) Close() error {
	l.HangUp()
	l.mu.Lock()
	gone := l.gone
	l.mu.Unlock()
	if !gone {
		return l.stream.Close()
	}
	closed := make(chan error, 1)
	go func() { closed <- l.stream.Close() }()
	select {
	case err := <-closed:
		return err
	case <-time.After(closing):
		return nil
	}
}
