package port

import (
	"context"
	"time"
)

// Retry is an attempt within one call of a tool that failed and is followed by another.
type Retry struct {
	Name    string // of the tool
	Class   string // see errclass
	Attempt int    // the one that failed, from 1
	Latency time.Duration
}

type retryKey struct{}

// WithRetries returns a context with which [NoteRetry] calls a function, which must be
// safe for concurrent use and not block.
func WithRetries(ctx context.Context, note func(Retry)) context.Context {
	return context.WithValue(ctx, retryKey{}, note)
}

// NoteRetry reports an attempt that is followed by another to who makes the call, if they
// want to know.
func NoteRetry(ctx context.Context, r Retry) {
	if note, ok := ctx.Value(retryKey{}).(func(Retry)); ok {
		note(r)
	}
}
