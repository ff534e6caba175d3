package carrier

import (
	"context"
	"errors"
	"io"
	"sync"
	"time"

	"github.com/hocketvoice/hocket/audio"
	"github.com/hocketvoice/hocket/internal/connection"
	"github.com/hocketvoice/hocket/port"
)

var (
	_ port.Leg          = (*Line)(nil)
	_ port.Acknowledger = (*Line)(nil)
	_ port.KeyReader    = (*Line)(nil)
	_ port.Watcher      = (*Line)(nil)
)

// settling is how long a carrier that has ended a stream in order may take to say that the call is
// over, before the stream counts as lost.
const settling = time.Second

// Line is the leg of a call, which outlives its streams. Its methods follow the concurrency rules
// of port.Leg; Attach, Hold, End and Close may be called at any time.
//
//	up       a stream carries the sound        -> lost, if it ends and the call goes on
//	held     the person is connected elsewhere -> up, with a new stream
//	lost     no stream                         -> up, with a new stream; ended, after Linger
//	ended    Read returns io.EOF
type Line struct {
	o     LineOptions
	rate  int
	state *connection.Signal
	done  sync.WaitGroup

	pos audio.Pos // of the next frame; used by Read alone

	write sync.Mutex // serializes Write, Clear and the change of the stream

	mu      sync.Mutex // guards the fields below
	stream  *Leg       // nil while there is none
	changed chan struct{}
	held    bool
	reason  error     // why the line has ended, if it was not in order
	written audio.Pos // samples
	base    audio.Pos // of them before the stream
	played  audio.Pos // while there is no stream
}

// LineOptions describes what happens when a stream ends.
type LineOptions struct {
	// Linger is how long a lost stream is waited for; 0 ends the line at once.
	Linger time.Duration
	// StopEnds says that the call is over when the carrier ends a stream in order. Otherwise the
	// carrier says separately that a call is over, see [Line.End].
	StopEnds bool
	// Lost, if not nil, is called when a stream is lost and may come back. It must not block.
	Lost func()
}

// NewLine returns the line of a call whose first stream has begun. The line owns the stream.
func NewLine(stream *Leg, o LineOptions) *Line {
	l := &Line{o: o, rate: stream.Rate(), state: connection.New(), stream: stream, changed: make(chan struct{})}
	l.done.Go(l.run)
	return l
}

// Rate returns the sampling rate of both directions in hertz.
func (l *Line) Rate() int { return l.rate }

// Watch implements [port.Watcher].
func (l *Line) Watch(ctx context.Context, last port.Line) (port.Line, error) {
	return l.state.Watch(ctx, last)
}

// Ended returns a channel that is closed when the line has ended.
func (l *Line) Ended() <-chan struct{} { return l.state.Ended() }

// current returns the stream, which may be nil, and a channel that is closed when it changes.
func (l *Line) current() (stream *Leg, changed <-chan struct{}) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.stream, l.changed
}

// Attach gives the line a new stream of the same rate, which it owns. It returns an error, and
// closes the stream, if the line has ended.
func (l *Line) Attach(stream *Leg) error {
	l.write.Lock()
	defer l.write.Unlock()
	l.mu.Lock()
	var err error
	switch {
	case l.over():
		err = errors.New("the call is over")
	case stream.Rate() != l.rate:
		err = errors.New("the stream has another rate than the call")
	}
	if err != nil {
		l.mu.Unlock()
		return errors.Join(err, stream.Close())
	}
	old := l.swap(stream)
	l.base, l.held = l.written, false
	l.mu.Unlock()
	l.state.Set(port.LineUp)
	if old != nil {
		_ = old.Close() // the carrier has left it
	}
	return nil
}

// swap replaces the stream. It requires mu.
func (l *Line) swap(stream *Leg) (old *Leg) {
	old = l.stream
	if old != nil {
		l.played = l.base + old.Played()
	}
	l.stream = stream
	close(l.changed)
	l.changed = make(chan struct{})
	return old
}

// over reports whether the line has ended.
func (l *Line) over() bool {
	select {
	case <-l.state.Ended():
		return true
	default:
		return false
	}
}

// Hold says that the person is being connected elsewhere: the stream ends, if release is set, and
// its end loses nothing. The line is silent until Attach or Resume.
func (l *Line) Hold(release bool) {
	l.write.Lock()
	defer l.write.Unlock()
	l.mu.Lock()
	l.held = true
	var old *Leg
	if release {
		old = l.swap(nil)
	}
	l.mu.Unlock()
	if old != nil {
		_ = old.Close()
	}
}

// Resume ends a Hold whose stream goes on.
func (l *Line) Resume() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.held = false
	close(l.changed) // the watch of a stream that has ended meanwhile goes on
	l.changed = make(chan struct{})
}

// End ends the line: the call is over.
func (l *Line) End() { l.state.End() }

// Close ends the line and its stream.
func (l *Line) Close() error {
	l.state.End()
	l.done.Wait()
	l.write.Lock()
	defer l.write.Unlock()
	if stream, _ := l.current(); stream != nil {
		return stream.Close()
	}
	return nil
}

// run watches the streams until the line has ended.
func (l *Line) run() {
	for {
		stream, changed := l.current()
		var gone <-chan struct{}
		if stream != nil {
			gone = stream.Ended()
		}
		select {
		case <-l.state.Ended():
			return
		case <-changed:
		case <-gone:
			if !l.lose(stream, changed) {
				return
			}
		}
	}
}

// lose waits for a stream in the place of one that has ended. It reports whether the line goes on.
func (l *Line) lose(stream *Leg, changed <-chan struct{}) bool {
	l.mu.Lock()
	held := l.held
	l.mu.Unlock()
	stopped, reason := stream.Reason()
	switch {
	case held:
		select {
		case <-changed:
			return true
		case <-l.state.Ended():
			return false
		}
	case stopped && l.o.StopEnds:
		l.state.End()
		return false
	case stopped:
		if come, on := l.wait(changed, settling); come || !on {
			return on
		}
	}
	if l.o.Linger <= 0 {
		l.fail(reason)
		return false
	}
	changed, there := l.leave(stream)
	if there {
		return true
	}
	if l.o.Lost != nil {
		l.o.Lost()
	}
	come, on := l.wait(changed, l.o.Linger)
	if !come && on {
		l.fail(reason)
		return false
	}
	return on
}

// leave takes the stream that has ended away, and says so. It reports whether another one is there, or returns a
// channel that is closed when one comes.
func (l *Line) leave(stream *Leg) (changed <-chan struct{}, there bool) {
	l.write.Lock()
	defer l.write.Unlock()
	l.mu.Lock()
	if there = l.stream != stream; !there {
		l.swap(nil)
	}
	changed = l.changed
	l.mu.Unlock()
	if !there {
		_ = stream.Close() // it has ended
		l.state.Set(port.LineLost)
	}
	return changed, there
}

// wait waits for another stream or the end of the line.
func (l *Line) wait(changed <-chan struct{}, most time.Duration) (come, on bool) {
	limit := time.NewTimer(most)
	defer limit.Stop()
	select {
	case <-changed:
		return true, true
	case <-l.state.Ended():
		return false, false
	case <-limit.C:
		return false, true
	}
}

// fail ends the line for a reason.
func (l *Line) fail(reason error) {
	l.mu.Lock()
	l.reason = reason
	l.mu.Unlock()
	l.state.End()
}

// end returns the error with which Read ends.
func (l *Line) end() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.reason != nil {
		return l.reason
	}
	return io.EOF
}

// Read returns the person's next 20 ms. It waits while there is no stream, and returns an error
// that wraps io.EOF when the line has ended.
func (l *Line) Read(ctx context.Context) (audio.Frame, error) {
	for {
		stream, changed := l.current()
		if stream != nil {
			f, err := stream.Read(ctx)
			if err == nil {
				f.Pos = l.pos
				l.pos = f.End()
				return f, nil
			}
			if ctx.Err() != nil {
				return audio.Frame{}, ctx.Err()
			}
		}
		select {
		case <-changed:
		case <-l.state.Ended():
			return audio.Frame{}, l.end()
		case <-ctx.Done():
			return audio.Frame{}, ctx.Err()
		}
	}
}

// ReadKey waits for the next key that the person presses. It returns io.EOF when the line has
// ended.
func (l *Line) ReadKey(ctx context.Context) (byte, error) {
	for {
		stream, changed := l.current()
		if stream != nil {
			k, err := stream.ReadKey(ctx)
			if err == nil {
				return k, nil
			}
			if ctx.Err() != nil {
				return 0, ctx.Err()
			}
		}
		select {
		case <-changed:
		case <-l.state.Ended():
			return 0, io.EOF
		case <-ctx.Done():
			return 0, ctx.Err()
		}
	}
}

// Write sends the agent's next 20 ms. Without a stream they are lost.
func (l *Line) Write(ctx context.Context, f audio.Frame) error {
	l.write.Lock()
	defer l.write.Unlock()
	l.mu.Lock()
	l.written += audio.Pos(len(f.PCM))
	stream := l.stream
	l.mu.Unlock()
	if stream == nil {
		return ctx.Err()
	}
	return stream.Write(ctx, f)
}

// Clear drops what the carrier has accepted and not yet played.
func (l *Line) Clear(ctx context.Context) error {
	l.write.Lock()
	defer l.write.Unlock()
	l.mu.Lock()
	l.played = l.written
	stream := l.stream
	l.mu.Unlock()
	if stream == nil {
		return ctx.Err()
	}
	return stream.Clear(ctx)
}

// Played returns the position after the last sample that the carrier has reported as played, or
// that was dropped. What is written while the line is lost does not count until it is dropped, or
// until the next stream begins.
func (l *Line) Played() audio.Pos {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.stream == nil {
		return l.played
	}
	return l.base + l.stream.Played()
}

// Notify does nothing: a telephone shows nothing.
func (*Line) Notify(port.Notice) {}
