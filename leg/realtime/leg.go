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
	maxInput = 8 << 20 // queued samples; more than the largest append
)

var (
	_ port.Leg          = (*leg)(nil)
	_ port.SpeechWriter = (*leg)(nil)
	_ port.Clocked      = (*leg)(nil)
	_ port.Watcher      = (*leg)(nil)
)

// leg is the sound of a connection. Its clock is the sound that the client has
// appended.
type leg struct {
	speech func(turn int, pcm []int16) // receives the agent's speech
	wake   chan struct{}               // contains a token when there may be something to read
	room   chan struct{}               // contains a token when there may be room
	line   *connection.Signal

	mu     sync.Mutex // guards the fields below
	queue  []chunk
	size   int // samples in the queue
	closed bool

	// Used by Read only.
	pcm  [legRate / 50]int16
	n    int // samples in pcm
	pace pace

	pos audio.Pos // samples taken from the queue, including those in pcm; guarded by mu
}

// chunk is a piece of the client's sound, or a marker in it.
type chunk struct {
	pcm  []int16
	skip int    // samples recognized elsewhere, which only advance the position
	then func() // called when all sound before it has been heard
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

// push queues a chunk. It blocks while the queue is full, until ctx ends.
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

// drop discards the queued sound.
func (l *leg) drop() {
	l.mu.Lock()
	for _, c := range l.queue {
		l.pos += audio.Pos(len(c.pcm) + c.skip)
	}
	l.queue, l.size = nil, 0
	l.mu.Unlock()
	signal(l.room)
}

// end makes Read return io.EOF after the queued sound.
func (l *leg) end() {
	l.mu.Lock()
	l.closed = true
	l.mu.Unlock()
	l.line.End()
	signal(l.wake)
}

// setLine sets the state of the client's connection.
func (l *leg) setLine(state port.Line) { l.line.Set(state) }

// Watch implements [port.Watcher].
func (l *leg) Watch(ctx context.Context, last port.Line) (port.Line, error) {
	return l.line.Watch(ctx, last)
}

// heard returns how much of the client's sound has been heard, in milliseconds.
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

// A client may send sound faster than real time, such as a recording. Read returns the
// first 30 seconds without delay and the rest at eight times real time, so that one
// client does not use all of the processor.
const (
	soundBurst  = 30 * time.Second
	soundFaster = 8
)

// position returns the position of the frame that was just filled.
func (l *leg) position() audio.Pos {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.pos - audio.Pos(len(l.pcm))
}

// take fills the frame from the queue, up to the next marker, whose function it
// returns.
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
			return nil, l.closed // the full frame must be heard first
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

// Write implements [port.Leg]. It sends nothing: WriteSpeech sends the speech.
func (l *leg) Write(ctx context.Context, _ audio.Frame) error { return ctx.Err() }

// WriteSpeech implements [port.SpeechWriter].
func (l *leg) WriteSpeech(turn int, pcm []int16) { l.speech(turn, pcm) }

// Clear implements [port.Leg]. It does nothing: clients discard their sound when they
// receive input_audio_buffer.speech_started.
func (l *leg) Clear(ctx context.Context) error { return ctx.Err() }

// Notify implements [port.Leg]. It does nothing: the client learns of the session's
// steps from events.
func (l *leg) Notify(port.Notice) {}
