package porttest

import (
	"context"
	"sync"

	"github.com/hocketvoice/hocket/port"
)

var (
	_ port.Model = (*Model)(nil)
	_ port.Tool  = (*Tool)(nil)
)

// Model is a fake language model. It is safe for concurrent use.
type Model struct {
	// Answer returns the pieces of a reply. If it is nil, the model repeats the
	// last message word by word.
	Answer func(port.Request) []port.Delta
	// Fail, if not nil, may return an error in place of the n-th piece, counted
	// from 0.
	Fail func(r port.Request, n int) error
	// Block makes a reply wait for the end of ctx before its n-th piece, counted
	// from 1. The value 0 means never.
	Block int
}

// Reply emits the answer.
func (m *Model) Reply(ctx context.Context, r port.Request, emit func(port.Delta) error) error {
	answer := m.Answer
	if answer == nil {
		answer = echo
	}
	deltas := answer(r)
	for n := 0; ; n++ {
		if m.Block == n+1 {
			<-ctx.Done()
		}
		if err := ctx.Err(); err != nil {
			return err
		}
		if m.Fail != nil {
			if err := m.Fail(r, n); err != nil {
				return err
			}
		}
		if n == len(deltas) {
			return nil
		}
		if err := emit(deltas[n]); err != nil {
			return err
		}
	}
}

// echo returns the last message in pieces.
func echo(r port.Request) []port.Delta {
	if len(r.Messages) == 0 {
		return nil
	}
	text := r.Messages[len(r.Messages)-1].Content
	var deltas []port.Delta
	for len(text) > 0 {
		n := min(len(text), 5)
		deltas = append(deltas, port.Delta{Text: text[:n]})
		text = text[n:]
	}
	return deltas
}

// Tool is a fake that calls a function. It is safe for concurrent use.
type Tool struct {
	Known []port.ToolSpec
	// Run carries out a call. If it is nil, a call returns its arguments.
	Run func(ctx context.Context, call port.ToolCall, progress func(string)) (string, error)

	mu    sync.Mutex // guards calls
	calls []port.ToolCall
}

// Specs returns a copy of Known.
func (t *Tool) Specs() []port.ToolSpec { return append([]port.ToolSpec(nil), t.Known...) }

// Calls returns the calls in the order in which they were made.
func (t *Tool) Calls() []port.ToolCall {
	t.mu.Lock()
	defer t.mu.Unlock()
	return append([]port.ToolCall(nil), t.calls...)
}

// Call runs one call.
func (t *Tool) Call(ctx context.Context, call port.ToolCall, progress func(string)) (string, error) {
	t.mu.Lock()
	t.calls = append(t.calls, call)
	t.mu.Unlock()
	known := false
	for _, s := range t.Known {
		known = known || s.Name == call.Name
	}
	if !known {
		return "", &port.Failure{Code: "TOOL_ERROR", Message: "unknown tool " + call.Name}
	}
	if err := ctx.Err(); err != nil {
		return "", err
	}
	if t.Run == nil {
		return call.Arguments, nil
	}
	if progress == nil {
		progress = func(string) {}
	}
	return t.Run(ctx, call, progress)
}
