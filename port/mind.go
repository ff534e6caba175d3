package port

import (
	"context"
	"errors"
	"strings"
	"time"
)

// Model is a language model that answers requests. It is safe for concurrent use.
type Model interface {
	// Reply answers the request and calls emit with the pieces in order, from one
	// goroutine. It returns after the last piece, when ctx ends, or when emit
	// fails. An error whose class is known is a [*Failure].
	Reply(ctx context.Context, r Request, emit func(Delta) error) error
}

// ErrLong is wrapped by errors about an answer that exceeds its limit.
var ErrLong = errors.New("the answer is too long")

// Text asks a model once and returns its whole answer without surrounding white
// space. It stops an answer of more than most bytes and returns an error that wraps
// [ErrLong]. Text is safe for concurrent use.
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

// Request is a request to a model.
type Request struct {
	Instructions string
	Messages     []Message
	Tools        []ToolSpec
	// Form, if not nil, asks for an answer of one JSON value, emitted as text. The
	// request then has no tools. The caller must check the answer, since a model
	// may not comply with the form.
	Form *Form
	// Turn is the agent's turn that the reply belongs to, or 0.
	Turn int
	// ToolChoice is "none", "required" or the name of the one tool to call. If it
	// is empty, the model decides.
	ToolChoice string
}

// Form describes the form of an answer.
type Form struct {
	Name        string // letters, digits, _ and -; "answer" if empty
	Description string
	Schema      []byte // JSON Schema of the answer, which must be an object
	// Strict asks the service to enforce the schema. OpenAI then accepts only a
	// subset of JSON Schema.
	Strict bool
}

// Message is one entry of the context. The oldest entry comes first.
type Message struct {
	Role    string // "user", "agent", "tool", "system"
	Content string
	// CallID, Name and Arguments describe the call that a tool's message answers.
	CallID, Name, Arguments string
}

// Delta is a piece of a reply: text, or a complete tool call.
type Delta struct {
	Text string
	Call *ToolCall
}

// Tool runs the calls that a model or a flow makes. It is safe for concurrent use.
type Tool interface {
	// Specs returns the descriptions of the tools.
	Specs() []ToolSpec
	// Call runs one call once, until it ends. progress, which may be nil, receives
	// reports on a long call. An error whose class is known is a [*Failure].
	Call(ctx context.Context, call ToolCall, progress func(string)) (output string, err error)
}

// ToolSpec describes a tool.
type ToolSpec struct {
	Name, Description string
	Schema            []byte // JSON Schema of the arguments
	// Long marks a delegated agent. Irreversible marks a tool that must not run for
	// a turn that may be taken back, and that is not run again when the outcome of
	// a call is unknown. Confirm marks a tool that needs the user's consent. Announced
	// marks one that takes the person away: what the agent says before it is heard to
	// its end first.
	Long, Irreversible, Confirm, Announced bool
}

// ToolCall is one call. ID is its idempotency key.
type ToolCall struct{ ID, Name, Arguments string }

// Failure is a service's error whose class is known (seed 001, section 4.7).
type Failure struct {
	Code      string // a class of package errclass, or the service's own code
	Message   string // for people and models; must not contain credentials
	Retryable bool
	After     time.Duration // how long the service asks to wait; 0 if it does not say
	Partial   string        // the part of the result that is known
}

// Error returns the code and the message.
func (f *Failure) Error() string { return f.Code + ": " + f.Message }
