package porttest

import (
	"context"
	"io"
	"sync"

	"github.com/hocketvoice/hocket/audio"
	"github.com/hocketvoice/hocket/port"
)

var _ port.Watcher = (*LineLeg)(nil)

// LineLeg is a [Leg] whose line may be cut. While it is, the person is silent
// and hears nothing. HangUp ends it too.
type LineLeg struct {
	*Leg
	once sync.Once
	endc chan struct{} // closed when the person has gone

	mu      sync.Mutex // guards all below
	line    port.Line
	changec chan struct{} // closed and replaced when line changes
	silence []int16
}

// NewLineLeg makes a leg whose line is up.
func NewLineLeg(l *Leg) *LineLeg {
	return &LineLeg{Leg: l, endc: make(chan struct{}), changec: make(chan struct{}), silence: make([]int16, l.frame)}
}

// SetLine changes the state of the line.
func (l *LineLeg) SetLine(line port.Line) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if line != l.line {
		l.line = line
		close(l.changec)
		l.changec = make(chan struct{})
	}
}

func (l *LineLeg) state() (port.Line, chan struct{}) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.line, l.changec
}

// Watch waits for another state than last.
func (l *LineLeg) Watch(ctx context.Context, last port.Line) (port.Line, error) {
	for {
		line, changec := l.state()
		select {
		case <-l.endc:
			return line, io.EOF
		default:
		}
		if line != last {
			return line, nil
		}
		select {
		case <-changec:
		case <-l.endc:
		case <-ctx.Done():
			return line, ctx.Err()
		}
	}
}

// Read returns the person's next 20 ms, if they get through.
func (l *LineLeg) Read(ctx context.Context) (audio.Frame, error) {
	f, err := l.Leg.Read(ctx)
	if line, _ := l.state(); err == nil && line != port.LineUp {
		f.PCM = l.silence
	}
	return f, err
}

// Write sends the agent's next 20 ms, if they get through.
func (l *LineLeg) Write(ctx context.Context, f audio.Frame) error {
	if line, _ := l.state(); line != port.LineUp {
		return nil
	}
	return l.Leg.Write(ctx, f)
}

// HangUp ends the call.
func (l *LineLeg) HangUp() {
	l.Leg.HangUp()
	l.once.Do(func() { close(l.endc) })
}
