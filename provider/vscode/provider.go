package vscode

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/hocketvoice/hocket/port"
	"github.com/hocketvoice/hocket/port/errclass"
)

// Model is the language model of the editor's user. It is safe for concurrent use.
type Model struct{ o Options }

var _ port.Model = (*Model)(nil)

// New returns a model.
func New(o Options) (*Model, error) {
	if err := o.Validate(); err != nil {
		return nil, err
	}
	return &Model{o.withDefaults()}, nil
}

// Reply answers a request: see [port.Model]. It makes one request to the editor.
func (m *Model) Reply(ctx context.Context, r port.Request, emit func(port.Delta) error) error {
	q, err := request(r)
	if err != nil {
		return fmt.Errorf("vscode: %w", err)
	}
	a := answer{o: m.o, emit: emit}
	if err := m.o.Editor.Request(ctx, MethodReply, q, nil, a.part); err != nil {
		return failure(err, a.text.String())
	}
	if a.text.Len() == 0 && a.calls == 0 {
		return &port.Failure{Code: errclass.ServerError, Message: "the editor's model has answered with nothing", Retryable: true}
	}
	return nil
}

// answer is one reply as far as it has arrived.
type answer struct {
	o     Options
	emit  func(port.Delta) error
	text  strings.Builder
	bytes int
	calls int
}

// part passes one part on.
func (a *answer) part(b json.RawMessage) error {
	var p Part
	if err := json.Unmarshal(b, &p); err != nil {
		return a.nonsense("a part of the answer is invalid: " + err.Error())
	}
	a.bytes += len(b)
	if a.bytes > a.o.MaxReply {
		return a.nonsense(fmt.Sprintf("the answer has more than %d bytes", a.o.MaxReply))
	}
	if p.Text != "" {
		a.text.WriteString(p.Text)
		if err := a.emit(port.Delta{Text: p.Text}); err != nil {
			return err
		}
	}
	if p.Call == nil {
		return nil
	}
	if a.calls++; a.calls > a.o.MaxCalls {
		return a.nonsense(fmt.Sprintf("the answer has more than %d calls of tools", a.o.MaxCalls))
	}
	if p.Call.ID == "" || p.Call.Name == "" || !isObject(p.Call.Input) {
		return a.nonsense("a call of a tool has no id, no name, or an input that is not an object")
	}
	return a.emit(port.Delta{Call: &port.ToolCall{ID: p.Call.ID, Name: p.Call.Name, Arguments: string(p.Call.Input)}})
}

func (a *answer) nonsense(why string) error {
	return &port.Failure{Code: errclass.ServerError, Message: line(why), Retryable: true, Partial: a.text.String()}
}
