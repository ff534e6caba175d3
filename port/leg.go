package port

import (
	"context"

	"github.com/hocketvoice/hocket/audio"
)

// Leg is a conversation's connection to the person: a browser, a phone, a file.
// Read, Write and the others are called from different goroutines, each of them
// by one at a time.
type Leg interface {
	// Rate is the sampling rate of the frames both ways, in hertz.
	Rate() int
	// Read returns the next 20 ms of the person's sound. It blocks until they are
	// there, and returns io.EOF when the person has gone. The samples are lent
	// until the next Read. A leg whose sender is silent may pause: who reads
	// counts silence itself.
	Read(ctx context.Context) (audio.Frame, error)
	// Write sends the next 20 ms of the agent's sound, at the pace of the clock;
	// silence is written too. It does not keep the samples.
	Write(ctx context.Context, f audio.Frame) error
	// Clear drops what the carrier has taken and not yet played.
	Clear(ctx context.Context) error
	// Notify tells the person's side what happens. It never blocks: a leg that
	// cannot keep up drops the oldest.
	Notify(n Notice)
}

// Acknowledger is a Leg whose carrier reports what has been played.
type Acknowledger interface {
	// Played is the position behind the last sample that the carrier has
	// reported as played, counted over everything that was written.
	Played() audio.Pos
}

// SpeechWriter is a Leg that wants to know what of its sound is speech, and of
// which turn: it sends nothing between.
type SpeechWriter interface {
	// WriteSpeech takes the next samples of a turn's speech, at most 20 ms, when
	// they are due and before the conversation learns what follows from them (that
	// the playout has begun, or is over). The frame that they are in goes to Write
	// behind it. It is called from Write's goroutine, must not block, and does not
	// keep the samples.
	WriteSpeech(turn int, pcm []int16)
}

// Clocked is a Leg whose frames alone are the time of the person's sound: they
// come as fast as they are taken or not at all, and time stands still between
// them. None is dropped and no silence is put in for those that do not come.
// Read is called again when the frame before has been heard.
type Clocked interface {
	// Clocked marks the Leg; it does nothing.
	Clocked()
}

// Watcher is a Leg whose connection may be lost and come back.
type Watcher interface {
	// Watch waits until the connection's state is another one than last, and
	// returns it: who is slow learns what is so now, not all that was. A leg begins
	// with [LineUp]. io.EOF says that the leg has ended, as Read does. It is called
	// by one goroutine.
	Watch(ctx context.Context, last Line) (Line, error)
}

// Line is the state of a leg's connection. While it is not up, what is written
// is lost, and nothing, or silence, is read.
type Line int

// The states of a line.
const (
	LineUp    Line = iota
	LineShaky      // nothing comes, which may mend by itself
	LineLost       // somebody has to connect again
)

// Notice is news for the person's side.
type Notice struct {
	Type string // "state", "transcript", "caption", "notification", "turn"
	// State is the phase, for "state".
	State string
	// Code and Text are the message's code and its words, for "notification" and
	// for cues.
	Code, Text string
	Level      string
	// Role ("user", "agent"), Turn and Final belong to "transcript", "caption"
	// and "turn". Unheard is the tail of Text that was cut off.
	Role    string
	Turn    int
	Final   bool
	Unheard string
}
