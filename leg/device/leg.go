package device

import (
	"context"
	"fmt"
	"io"
	"sync"

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
// zeroed and must be filled, heard contains the new samples.
type opener func(rate, heard, played int, exchange func(played, heard []int16)) (stream, error)

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
	if l.stream, err = f(o.Rate, 1, 1, l.exchange); err != nil {
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

func (l *Leg) signal() {
	select {
	case l.wake <- struct{}{}:
	default:
	}
}

// Rate returns the sampling rate of both directions in hertz.
func (l *Leg) Rate() int { return l.rate }

// Read returns the next 20 ms from the microphone. It returns io.EOF after HangUp.
func (l *Leg) Read(ctx context.Context) (audio.Frame, error) {
	for {
		l.mu.Lock()
		gone, ready := l.hangedUp, l.in.ring.Len() >= len(l.pcm)
		if ready {
			l.in.take(l.pcm)
		}
		l.mu.Unlock()
		switch {
		case gone:
			return audio.Frame{}, io.EOF
		case ready:
			f := audio.Frame{Pos: l.pos, Rate: l.rate, PCM: l.pcm}
			l.pos = f.End()
			return f, nil
		}
		select {
		case <-l.wake:
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

// Close hangs up and closes the devices.
func (l *Leg) Close() error {
	l.HangUp()
	return l.stream.Close()
}
