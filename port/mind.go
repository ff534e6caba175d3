package port

import (
	"context"
	"errors"
	"strings"
	"time"
)

// Model is a language model that answers. It is safe for concurrent use.
type Model interface {
	// Reply answers the request and calls emit with the pieces in their order,
	// from one goroutine. It returns after the last piece, when ctx ends, or when
	// emit fails. A failure is a [*Failure] if its class is known.
	Reply(ctx context.Context, r Request, emit func(Delta) error) error
}

// ErrLong is among the causes of an error about an answer that is longer than it may be.
var ErrLong = errors.New("the answer is too long")

// Text asks a model, once, and returns its whole answer without the white space around
// it. An answer of more than most bytes is given up, with [ErrLong]. It may be called
// wherever the model may.
func Text(ctx context.Context, m Model, r Request, most int) (string, error) {
	var b strings.Builder
	err := m.Reply(ctx, r, func(d Delta) error {
		if b.Len()+len(d.Text) > most {
			return ErrLong
		}
		b.WriteString(d.Text)
		return nil
	})
	if err != nil {
		return "", err
	}
	return strings.TrimSpace(b.String()), nil
}

// Request is what a model is asked.
type Request struct {
	Instructions string
	Messages     []Message
	Tools        []ToolSpec
	// Form, if set, is the form of the answer: one JSON value, handed over as text.
	// The request has no tools then. Who asks checks the answer: a model may not
	// hold itself to it.
	Form *Form
	// Turn is the agent's turn that is answered, 0 where there is none.
	Turn int
	// ToolChoice is "none", "required" or the name of the one tool to call; empty:
	// the model decides.
	ToolChoice string
}

// Form is the form that an answer has.
type Form struct {
	Name        string // letters, digits, _ and -; "answer" if empty
	Description string
	Schema      []byte // JSON Schema of the answer, an object
	// Strict has the service hold the model to the schema. OpenAI then accepts a
	// part of JSON Schema only.
	Strict bool
}

// Message is one entry of the context, the oldest first.
type Message struct {
	Role    string // "user", "agent", "tool", "system"
	Content string
	// Call describes the call that a tool's message answers.
	CallID, Name, Arguments string
}

// Delta is a piece of a reply: text, or a whole call of a tool.
type Delta struct {
	Text string
	Call *ToolCall
}

// Tool runs what a model or a flow calls.
type Tool interface {
	// Specs are the tools there are.
	Specs() []ToolSpec
	// Call runs one call to its end, once. progress, which may be nil, hears what
	// a long one does. A failure is a [*Failure].
	Call(ctx context.Context, call ToolCall, progress func(string)) (output string, err error)
}

// ToolSpec describes a tool.
type ToolSpec struct {
	Name, Description string
	Schema            []byte // JSON Schema of the arguments
	// Long marks a delegated agent; Irreversible a tool that must not run for a
	// turn that may be taken back, and that is not run again when nobody knows
	// whether it was done; Confirm one that the user has to say yes to.
	Long, Irreversible, Confirm bool
}

// ToolCall is one call: ID is its idempotency key.
type ToolCall struct{ ID, Name, Arguments string }

// Failure is an error of a service whose class is known (seed 001, 4.7).
type Failure struct {
	Code      string // a class of package errclass, or a code of the service's own
	Message   string // for people and models; never a credential
	Retryable bool
	After     time.Duration // the service's own wish, 0 if none
	Partial   string        // what there is of a result
}

// Error is the class and the message.
func (f *Failure) Error() string { return f.Code + ": " + f.Message }
