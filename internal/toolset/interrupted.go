package toolset

import (
	"context"
	"errors"

	"github.com/hocketvoice/hocket/port"
)

// The codes of a call that was interrupted, as the machine expects them.
const (
	codeCancelled = "CANCELLED"
	codeTimeout   = "TASK_TIMEOUT"
)

// interrupted is a failure that also wraps the context's error.
type interrupted struct {
	failure *port.Failure
	cause   error
}

// Error returns the failure's message.
func (e *interrupted) Error() string { return e.failure.Error() }

// Unwrap returns the failure and the context's error.
func (e *interrupted) Unwrap() []error { return []error{e.failure, e.cause} }

// Interrupted returns the error of a call whose context has ended: it wraps both a
// [*port.Failure] with the partial result and the context's error.
func Interrupted(ctx context.Context, name, partial string) error {
	f := &port.Failure{Code: codeCancelled, Message: name + " was called off", Partial: partial}
	if errors.Is(ctx.Err(), context.DeadlineExceeded) {
		f.Code, f.Message = codeTimeout, name+" took too long"
	}
	return &interrupted{f, ctx.Err()}
}
