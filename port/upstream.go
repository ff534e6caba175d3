package port

import (
	"context"
	"time"

	"github.com/hocketvoice/hocket/audio"
)

// Upstream is a speech-to-speech service: it hears the user, answers and speaks, over one
// connection. It is safe for concurrent use.
//
// The service decides nothing about turns. It reports the voices that it detects, and
// answers when it is asked to ([UpstreamStream.Ask]).
type Upstream interface {
	// Rate returns the sampling rate of the sound in both directions, in hertz.
	Rate() int
	// Open starts a session and returns when the service has accepted its configuration.
	// Events go to sink until Close has returned, one call at a time. A service in
	// process may call sink from within the stream's methods. sink never blocks and does
	// not call Close. An error whose class is known is a [*Failure].
	Open(ctx context.Context, cfg UpstreamConfig, sink func(UpstreamEvent)) (UpstreamStream, error)
}

// UpstreamConfig describes a session.
type UpstreamConfig struct {
	Instructions string
	Language     string // BCP 47, "en" if empty
	Tools        []ToolSpec
	// History is what was said and done before the session, the oldest first. The service
	// gets it as text.
	History []Message
}

// UpstreamStream is a session. Its methods are safe for concurrent use, do not wait for the
// service, and return an error when the session is over. What they cause reaches the service
// in the order of the calls.
type UpstreamStream interface {
	// Write takes the next samples of the user's sound. It does not keep them.
	Write(f audio.Frame) error
	// Commit ends the user's turn, if the service does not detect turns by itself.
	Commit() error
	// Discard drops the sound of the user's turn so far.
	Discard() error
	// Add appends to what the service knows of the conversation, as text. A message of a
	// tool is the result of a call; it is added with the call if the service has not made
	// it.
	Add(messages ...Message) error
	// Ask requests an answer. Answers within the conversation come one after the other, in
	// the order of their requests; an answer to [UpstreamRequest.Say] comes beside them.
	Ask(r UpstreamRequest) error
	// Cancel takes a request back. When Cancel has returned, no further event belongs to the
	// request. Cancel does nothing if the request has ended or is not known.
	Cancel(request string) error
	// Truncate tells the service how much of an item's sound the user has heard, so that it
	// forgets the rest. It does nothing if all of the sound was heard.
	Truncate(item string, heard time.Duration) error
	// Expires returns when the service will end the session, or the zero time if it does
	// not say.
	Expires() time.Time
	// Close ends the session and frees its resources.
	Close() error
}

// UpstreamRequest is a request for an answer. Its ID is unique within the session.
type UpstreamRequest struct {
	ID string
	// Say, if not empty, is a text to speak word for word. The conversation stays as it is.
	Say string
	// Instructions, if not empty, are followed in place of the session's.
	Instructions string
}

// UpstreamEvent is what a service reports. Kind determines which other fields are set.
type UpstreamEvent struct {
	Kind UpstreamKind
	// Item is the user's speech, or the agent's words and sound, in the terms of the service.
	Item string
	// Request is the ID of the request that the event answers.
	Request string
	Text    string
	PCM     []int16       // valid only during the call
	At      time.Duration // a position in the sound that was written
	Call    ToolCall
	Failure *Failure
}

// UpstreamKind says what an [UpstreamEvent] reports.
type UpstreamKind uint8

// The kinds of events.
const (
	UpstreamVoice   UpstreamKind = iota // a voice begins: Item, At
	UpstreamSilence                     // the voice has ended and the turn is complete: Item, At
	UpstreamHearing                     // the words of a voice so far: Item, Text
	UpstreamHeard                       // the final words of a voice, empty if it had none or they are not known: Item, Text
	UpstreamBegun                       // the service works on a request: Request
	UpstreamText                        // the next words of an answer: Request, Item, Text
	UpstreamSound                       // the next sound of an answer: Request, Item, PCM
	UpstreamCall                        // an answer calls a tool: Request, Call
	UpstreamDone                        // an answer is complete, or has failed if Failure is not nil: Request
	UpstreamClosed                      // the session is over, and Failure says why; no event follows
)
