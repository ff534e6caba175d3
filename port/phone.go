package port

import (
	"context"
	"errors"
	"time"
)

// Why a call to a telephone was not answered. Errors of [Forwarder] and of legs that place calls
// wrap one of them if the reason is known.
var (
	ErrLineBusy    = errors.New("the line is busy")
	ErrNoAnswer    = errors.New("nobody answers")
	ErrRejected    = errors.New("the call is rejected")
	ErrUnreachable = errors.New("the number cannot be reached")
)

// Transfer says with whom the person of a call is connected.
type Transfer struct {
	To   string        // a number in the form of E.164, or a SIP address
	From string        // the number that is shown; empty: that which the person has called
	Ring time.Duration // how long to wait for an answer
}

// Forwarder is a Leg that can connect its person with somebody else.
type Forwarder interface {
	// Transfer connects the person, and waits for the answer. After nil the person talks with
	// somebody else: the leg is of no use any more, and its Close does not hang up. After an error
	// the person is back, and the leg goes on as before; the error says why. If ctx ends first,
	// Transfer gives up and returns when the person is back.
	Transfer(ctx context.Context, t Transfer) error
}

// Dial describes a call to be placed.
type Dial struct {
	To, From string        // numbers in the form of E.164
	Ring     time.Duration // how long to wait for an answer
	// Detect asks the carrier whether a person or a machine answers, see [AnswerReader].
	Detect bool
	// AwaitEnd makes the carrier report a machine when its greeting has ended, not before.
	AwaitEnd bool
	// Progress, if not nil, is called when something becomes known: "ringing", "answered".
	Progress func(state string)
}

// Answer says who has answered a call that was placed.
type Answer string

// The answers of carriers.
const (
	AnswerHuman   Answer = "human"
	AnswerMachine Answer = "machine" // its greeting may go on
	AnswerBeep    Answer = "beep"    // the greeting of a machine has ended, and it records
	AnswerFax     Answer = "fax"
	AnswerUnsure  Answer = "unsure"
)

// AnswerReader is a Leg of a call that was placed, whose carrier reports who has answered.
type AnswerReader interface {
	// ReadAnswer returns the next report. It blocks until there is one, and returns io.EOF when
	// the call has ended, and ctx.Err() when ctx ends. It is called by one goroutine.
	ReadAnswer(ctx context.Context) (Answer, error)
}
