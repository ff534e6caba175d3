package wait

import (
	"context"
	"time"
)

// For waits for a duration. It returns the context's error if the context has ended or
// ends before. It does not wait if d is 0 or less.
func For(ctx context.Context, d time.Duration) error {
	if err := ctx.Err(); err != nil || d <= 0 {
		return err
	}
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// Longer returns a context that ends a duration after ctx, for work that must be
// completed even then. The caller must call end.
func Longer(ctx context.Context, d time.Duration) (longer context.Context, end context.CancelFunc) {
	longer, cancel := context.WithCancel(context.WithoutCancel(ctx))
	stop := context.AfterFunc(ctx, func() {
		_ = For(longer, d) // ends with longer
		cancel()
	})
	return longer, func() {
		stop()
		cancel()
	}
}
