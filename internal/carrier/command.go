package carrier

import (
	"context"
	"errors"
	"time"

	"github.com/hocketvoice/hocket/internal/wait"
	"github.com/hocketvoice/hocket/port"
	"github.com/hocketvoice/hocket/port/errclass"
)

const (
	// attemptLimit and commandLimit are the time limits of an attempt and of a command with its
	// retries.
	attemptLimit = 5 * time.Second
	commandLimit = 30 * time.Second
	pause        = 250 * time.Millisecond // before the first retry; it doubles
)

// Repeat makes the attempts of a command to a carrier, as the class of a [*port.Failure] allows,
// within 30 s. Each attempt has 5 s.
func Repeat(ctx context.Context, attempt func(context.Context) error) error {
	ctx, cancel := context.WithTimeout(ctx, commandLimit)
	defer cancel()
	for n, delay := 0, pause; ; n, delay = n+1, 2*delay {
		err := Once(ctx, attempt)
		f, ok := errors.AsType[*port.Failure](err)
		if !ok || !f.Retryable || n == errclass.Of(f.Code).Retries {
			return err
		}
		until := max(delay, f.After)
		if end, _ := ctx.Deadline(); time.Until(end) < until || wait.For(ctx, until) != nil {
			return err
		}
	}
}

// Once makes one attempt, for a command that must not be carried out twice.
func Once(ctx context.Context, attempt func(context.Context) error) error {
	ctx, cancel := context.WithTimeout(ctx, attemptLimit)
	defer cancel()
	return attempt(ctx)
}
