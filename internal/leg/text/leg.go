package text

import (
	"context"
	"io"
	"sync"

	"github.com/hocketvoice/hocket/audio"
	"github.com/hocketvoice/hocket/port"
)

var (
	_ port.Leg         = (*Leg)(nil)
	_ port.Synthesizer = Voice{}
)

// rate is the lowest there is: nobody hears it.
const rate = 8000

// Leg is a person who reads and types. Its methods are those of port.Leg; Close
// may be called from any goroutine, more than once.
type Leg struct {
	once sync.Once
	gone chan struct{}
}

// New makes a leg.
func New(Options) *Leg { return &Leg{gone: make(chan struct{})} }

// Rate is the sampling rate of the silence, in hertz.
func (*Leg) Rate() int { return rate }

// Read waits until the person has gone: nobody speaks.
func (l *Leg) Read(ctx context.Context) (audio.Frame, error) {
	select {
	case <-l.gone:
		return audio.Frame{}, io.EOF
	case <-ctx.Done():
		return audio.Frame{}, ctx.Err()
	}
}

// Write does nothing: nobody listens.
func (*Leg) Write(context.Context, audio.Frame) error { return nil }

// Clear does nothing.
func (*Leg) Clear(context.Context) error { return nil }

// Notify does nothing: who reads has the events of the conversation.
func (*Leg) Notify(port.Notice) {}

// Close says that the person has gone.
func (l *Leg) Close() error {
	l.once.Do(func() { close(l.gone) })
	return nil
}

// Voice says everything in one frame of silence. It is safe for concurrent use.
type Voice struct{}

// Rate is the sampling rate of the silence, in hertz.
func (Voice) Rate() int { return rate }

// Speak emits one frame.
func (Voice) Speak(ctx context.Context, _ port.Utterance, emit func(port.Speech) error) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	return emit(port.Speech{PCM: make([]int16, audio.FrameSamples(rate))})
}
