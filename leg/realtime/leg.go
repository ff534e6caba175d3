package realtime

import (
	"context"
	"io"
	"sync"
	"time"

	"github.com/hocketvoice/hocket/audio"
	"github.com/hocketvoice/hocket/internal/connection"
	"github.com/hocketvoice/hocket/leg/realtime/projection"
	"github.com/hocketvoice/hocket/port"
)

const (
	legRate  = projection.Rate
	maxInput = 8 << 20 // samples that wait: more than the largest append
)

var (
	_ port.Leg          = (*leg)(nil)
	_ port.SpeechWriter = (*leg)(nil)
	_ port.Clocked      = (*leg)(nil)
	_ port.Watcher      = (*leg)(nil)
)

// leg is the sound of a connection. Its time is the sound that the client has
// appended.
type leg struct {
	speech func(turn int, pcm []int16) // takes the agent's
	wake   chan struct{}               // holds a token when there may be something to read
	room   chan struct{}               // holds a token when there may be room
	line   *connection.Signal

	mu     sync.Mutex // guards all below
	queue  []chunk
	size   int // samples in the queue
	closed bool

	// Of Read's goroutine.
	pcm  [legRate / 50]int16
	n    int // samples of pcm that are filled
	pace pace

	pos audio.Pos // under mu: how much of the sound has been heard, and is being heard
}

// chunk is appended sound, or a moment in it.
type chunk struct {
	pcm  []int16
	skip int    // samples that nobody hears: they went elsewhere
	then func() // called when all before it has been heard
}

func newLeg(speech func(int, []int16)) *leg {
	return &leg{speech: speech, wake: make(chan struct{}, 1), room: make(chan struct{}, 1), line: connection.New()}
}

func signal(c chan struct{}) {
	select {
	case c <- struct{}{}:
	default:
	}
}

// push adds sound, or a moment in it. It waits for room, until ctx ends.
func (l *leg) push(ctx context.Context, c chunk) error {
	for {
		l.mu.Lock()
		if l.size == 0 || l.size+len(c.pcm) <= maxInput {
			l.queue = append(l.queue, c)
			l.size += len(c.pcm)
			l.mu.Unlock()
			signal(l.wake)
			return nil
		}
		l.mu.Unlock()
		select {
		case <-l.room:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// drop forgets what has not been heard.
func (l *leg) drop() {
	l.mu.Lock()
	for _, c := range l.queue {
		l.pos += audio.Pos(len(c.pcm) + c.skip)
	}
	l.queue, l.size = nil, 0
	l.mu.Unlock()
	signal(l.room)
}

// end is the client's going.
func (l *leg) end() {
	l.mu.Lock()
	l.closed = true
	l.mu.Unlock()
	l.line.End()
	signal(l.wake)
}

// is tells what has become of the client's connection.
func (l *leg) is(state port.Line) { l.line.Set(state) }

// Watch implements [port.Watcher].
func (l *leg) Watch(ctx context.Context, last port.Line) (port.Line, error) {
	return l.line.Watch(ctx, last)
}

// heard is how much of the appended sound has been heard, in milliseconds.
func (l *leg) heard() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return int(l.pos.Duration(legRate).Milliseconds())
}

// Rate implements [port.Leg].
func (l *leg) Rate() int { return legRate }

// Clocked implements [port.Clocked].
func (l *leg) Clocked() {}

// Read implements [port.Leg].
func (l *leg) Read(ctx context.Context) (audio.Frame, error) {
	for {
		then, closed := l.take()
		if then != nil {
			then()
			continue
		}
		if l.n == len(l.pcm) {
			if err := l.pace.wait(ctx, audio.FrameDuration/soundFaster, soundBurst/soundFaster); err != nil {
				return audio.Frame{}, err
			}
			l.n = 0
			return audio.Frame{Pos: l.position(), Rate: legRate, PCM: l.pcm[:]}, nil
		}
		if closed {
			return audio.Frame{}, io.EOF
		}
		select {
		case <-l.wake:
		case <-ctx.Done():
			return audio.Frame{}, ctx.Err()
		}
	}
}

// A client may send sound faster than it was spoken: a recording. Half a minute of
// it is heard as fast as can be, and what comes behind at eight times its pace, so
// that nobody takes the processor from others.
const (
	soundBurst  = 30 * time.Second
	soundFaster = 8
)

// position is where the frame begins that has just been filled.
func (l *leg) position() audio.Pos {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.pos - audio.Pos(len(l.pcm))
}

// take fills the frame from the queue, up to a moment that has come.
func (l *leg) take() (then func(), closed bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for len(l.queue) > 0 {
		c := &l.queue[0]
		if len(c.pcm) > 0 && l.n == len(l.pcm) {
			return nil, l.closed
		}
		k := copy(l.pcm[l.n:], c.pcm)
		c.pcm = c.pcm[k:]
		l.n, l.size, l.pos = l.n+k, l.size-k, l.pos+audio.Pos(k)
		if len(c.pcm) > 0 {
			return nil, l.closed
		}
		if l.n == len(l.pcm) && (c.then != nil || c.skip > 0) {
			return nil, l.closed // the frame is heard first
		}
		l.pos += audio.Pos(c.skip)
		then = c.then
		l.queue = l.queue[1:]
		signal(l.room)
		if then != nil {
			return then, false
		}
	}
	return nil, l.closed
}

// Write implements [port.Leg]: what is speech in the frame is sent by
// WriteSpeech.
func (l *leg) Write(ctx context.Context, _ audio.Frame) error { return ctx.Err() }

// WriteSpeech implements [port.SpeechWriter].
func (l *leg) WriteSpeech(turn int, pcm []int16) { l.speech(turn, pcm) }

// Clear implements [port.Leg]: the client drops what it has by itself when it is
// told that somebody speaks.
func (l *leg) Clear(ctx context.Context) error { return ctx.Err() }

// Notify implements [port.Leg]: the client is told of the session's steps.
func (l *leg) Notify(port.Notice) {}
