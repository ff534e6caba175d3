package port

import (
	"context"
	"fmt"
	"io"

	"github.com/hocketvoice/hocket/audio"
)

// ErrNeverConnected is what Read returns when the leg has ended before its connection was
// made for the first time. It wraps [io.EOF].
var ErrNeverConnected = fmt.Errorf("the connection was never made: %w", io.EOF)

// Leg is a conversation's connection to the person: a browser, a phone, a file. Its
// methods may be called from different goroutines, but each method only by one
// goroutine at a time.
type Leg interface {
	// Rate returns the sampling rate of the frames in both directions, in hertz.
	Rate() int
	// Read returns the next 20 ms of the person's sound. It blocks until they are
	// available, and returns an error that wraps io.EOF when the person has left. The samples are valid
	// until the next Read. A leg whose sender is silent may pause; the caller then
	// fills in the silence.
	Read(ctx context.Context) (audio.Frame, error)
	// Write sends the next 20 ms of the agent's sound, including silence, at the
	// pace of the clock. It does not keep the samples.
	Write(ctx context.Context, f audio.Frame) error
	// Clear drops the sound that the carrier has accepted and not yet played.
	Clear(ctx context.Context) error
	// Notify informs the person's side of an event. It never blocks: a leg that
	// cannot keep up drops the oldest notices.
	Notify(n Notice)
}

// Acknowledger is a Leg whose carrier reports what it has played.
type Acknowledger interface {
	// Played returns the position after the last sample that the carrier has
	// reported as played, counted over all samples written.
	Played() audio.Pos
}

// KeyReader is a Leg of a telephone with keys (DTMF).
type KeyReader interface {
	// ReadKey returns the next key that the person presses: 0 to 9, *, #, or A to D. It
	// blocks until there is one, and returns io.EOF when the leg has ended, and ctx.Err()
	// when ctx ends. It is called by one goroutine.
	ReadKey(ctx context.Context) (byte, error)
}

// SpeechWriter is a Leg that must know which samples are speech, and of which turn.
// Such a leg sends nothing between utterances.
type SpeechWriter interface {
	// WriteSpeech takes the next samples of a turn's speech, at most 20 ms. It is
	// called when they are due, before the conversation learns that the playout has
	// begun or ended because of them. The frame that contains the samples goes to
	// Write afterwards. WriteSpeech is called from Write's goroutine, must not
	// block, and must not keep the samples.
	WriteSpeech(turn int, pcm []int16)
}

// Clocked is a Leg whose frames are the only clock of the person's sound: they
// arrive as fast as they are read, and time stands still between them. No frame is
// dropped and missing frames are not replaced by silence. Read is called again
// after the previous frame has been processed.
type Clocked interface {
	// Clocked marks the Leg; it does nothing.
	Clocked()
}

// Watcher is a Leg whose connection may be lost and restored.
type Watcher interface {
	// Watch waits until the connection's state differs from last and returns the
	// current state; states in between are skipped. A leg begins with [LineUp].
	// io.EOF means that the leg has ended, as with Read. Watch is called by one
	// goroutine.
	Watch(ctx context.Context, last Line) (Line, error)
}

// Returner is a Leg that ends early, with [ErrNeverConnected], if the person never
// connects.
type Returner interface {
	// Returning reports to the leg that its person has been in the conversation
	// before, over another leg, and that a connection may take as long as after a loss.
	Returning()
}

// Line is the state of a leg's connection. While it is not up, sound that is
// written is lost, and Read returns silence or blocks.
type Line int

// The states of a connection.
const (
	LineUp    Line = iota
	LineShaky      // nothing arrives; the connection may recover by itself
	LineLost       // the client must connect again
)

// Notice is an event for the person's side.
type Notice struct {
	Type string // "state", "transcript", "caption", "notification", "turn"
	// State is the phase; set for "state".
	State string
	// Code and Text are the message's code and text; set for "notification" and for
	// cues.
	Code, Text string
	Level      string
	// Role ("user" or "agent"), Turn and Final are set for "transcript", "caption"
	// and "turn". Unheard is the end of Text that was cut off.
	Role    string
	Turn    int
	Final   bool
	Unheard string
}
