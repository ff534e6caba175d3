package toolset

import (
	"context"
	"errors"

	"github.com/hocketvoice/hocket/port"
)

// The codes of a call that was ended from outside, as the machine has them.
const (
	codeCancelled = "CANCELLED"
	codeTimeout   = "TASK_TIMEOUT"
)

// interrupted is a failure that is also the end of its context.
type interrupted struct {
	failure *port.Failure
	cause   error
}

// Error is the failure's.
func (e *interrupted) Error() string { return e.failure.Error() }

// Unwrap gives both.
func (e *interrupted) Unwrap() []error { return []error{e.failure, e.cause} }

// Interrupted is the error of a call whose context has ended: both a
// [*port.Failure], with what there is of a result, and the context's own error.
func Interrupted(ctx context.Context, name, partial string) error {
	f := &port.Failure{Code: codeCancelled, Message: name + " was called off", Partial: partial}
	if errors.Is(ctx.Err(), context.DeadlineExceeded) {
		f.Code, f.Message = codeTimeout, name+" took too long"
	}
	return &interrupted{f, ctx.Err()}
}
