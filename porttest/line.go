package porttest

import (
	"context"

	"github.com/hocketvoice/hocket/audio"
	"github.com/hocketvoice/hocket/internal/connection"
	"github.com/hocketvoice/hocket/port"
)

var _ port.Watcher = (*LineLeg)(nil)

// LineLeg is a [Leg] whose connection may be lost. While it is, the person is
// silent and hears nothing. HangUp also ends a lost connection.
type LineLeg struct {
	*Leg
	line    *connection.Signal
	silence []int16
}

// NewLineLeg returns a leg whose connection is up.
func NewLineLeg(l *Leg) *LineLeg {
	return &LineLeg{Leg: l, line: connection.New(), silence: make([]int16, l.frame)}
}

// SetLine changes the state of the connection.
func (l *LineLeg) SetLine(to port.Line) { l.line.Set(to) }

// Watch waits for a state other than last.
func (l *LineLeg) Watch(ctx context.Context, last port.Line) (port.Line, error) {
	return l.line.Watch(ctx, last)
}

func (l *LineLeg) up() bool {
	state, _ := l.line.State()
	return state == port.LineUp
}

// Read returns the person's next 20 ms, or silence while the connection is lost.
func (l *LineLeg) Read(ctx context.Context) (audio.Frame, error) {
	f, err := l.Leg.Read(ctx)
	if err == nil && !l.up() {
		f.PCM = l.silence
	}
	return f, err
}

// Write accepts the agent's next 20 ms, and drops them while the connection is
// lost.
func (l *LineLeg) Write(ctx context.Context, f audio.Frame) error {
	if !l.up() {
		return nil
	}
	return l.Leg.Write(ctx, f)
}

// HangUp ends the call.
func (l *LineLeg) HangUp() {
	l.Leg.HangUp()
	l.line.End()
}
