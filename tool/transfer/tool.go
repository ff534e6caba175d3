package transfer

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"github.com/hocketvoice/hocket/internal/dialing"
	"github.com/hocketvoice/hocket/port"
	"github.com/hocketvoice/hocket/port/errclass"
	"github.com/hocketvoice/hocket/session"
)

// Tools connects the person of a call with somebody else. It is safe for concurrent use.
type Tools struct{ targets []Target }

var _ port.Tool = (*Tools)(nil)

// New returns the tools. It returns an error if an option is invalid.
func New(o Options) (*Tools, error) {
	if err := o.Validate(); err != nil {
		return nil, fmt.Errorf("transfer: %w", err)
	}
	return &Tools{targets: slices.Clone(o.Targets)}, nil
}

const (
	noArguments = `{"type":"object","properties":{},"additionalProperties":false}`
	aNumber     = `{"type":"object","properties":{"to":{"type":"string","description":"the telephone number, such as +15550100"}},"required":["to"],"additionalProperties":false}`
)

// Specs returns the descriptions of the tools.
func (t *Tools) Specs() []port.ToolSpec {
	specs := make([]port.ToolSpec, len(t.targets))
	for i, target := range t.targets {
		schema := noArguments
		if target.To == "" {
			schema = aNumber
		}
		specs[i] = port.ToolSpec{
			Name: target.Name, Schema: []byte(schema), Irreversible: true, Confirm: target.Confirm, Announced: true,
			Description: cmp.Or(target.Description, "connects the caller with a person") +
				". Tell the caller before. If it fails, the caller is back: say so and go on.",
		}
	}
	return specs
}

// Call connects the person, and returns when somebody has answered. An error is a [*port.Failure]
// that says why the person could not be connected.
func (t *Tools) Call(ctx context.Context, call port.ToolCall, _ func(string)) (string, error) {
	at := slices.IndexFunc(t.targets, func(target Target) bool { return target.Name == call.Name })
	if at < 0 {
		return "", failed("there is no target %q", call.Name)
	}
	target := t.targets[at]
	to, err := target.number(call.Arguments)
	if err != nil {
		return "", &port.Failure{Code: errclass.InvalidArgs, Message: "the number is " + err.Error()}
	}
	within, ok := session.ContextOf(ctx)
	if !ok {
		return "", failed("%v", session.ErrNoTransfer)
	}
	err = within.Transfer(ctx, port.Transfer{To: to, From: target.From, Ring: cmp.Or(target.Ring, DefaultRing)})
	switch {
	case err == nil:
		return `{"status":"connected"}`, nil
	case errors.Is(err, session.ErrNoTransfer):
		return "", failed("%v", err)
	}
	for _, why := range []error{port.ErrLineBusy, port.ErrNoAnswer, port.ErrRejected, port.ErrUnreachable} {
		if errors.Is(err, why) {
			return "", failed("the caller could not be connected: %v", why)
		}
	}
	if f, ok := errors.AsType[*port.Failure](err); ok {
		return "", failed("the caller could not be connected: %s", f.Message)
	}
	return "", failed("the caller could not be connected")
}

func failed(format string, args ...any) error {
	return &port.Failure{Code: errclass.ToolError, Message: fmt.Sprintf(format, args...)}
}

// number returns whom a call of the tool names.
func (t Target) number(arguments string) (string, error) {
	if t.To != "" {
		return dialing.Parse(t.To)
	}
	var m struct{ To string }
	if err := json.Unmarshal([]byte(arguments), &m); err != nil {
		return "", dialing.ErrInvalid
	}
	return dialing.List(t.Allow).Allow(m.To)
}
