package wait

import (
	"context"
	"time"
)

// For waits for a time. It returns the context's error if that has ended, or ends before;
// a time of 0 or less waits for nothing.
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

// Longer returns a context that lasts for a time longer than ctx does, for what is to be
// done even then. Its end must be called.
func Longer(ctx context.Context, d time.Duration) (longer context.Context, end context.CancelFunc) {
	longer, cancel := context.WithCancel(context.WithoutCancel(ctx))
	stop := context.AfterFunc(ctx, func() {
		_ = For(longer, d) // its end
		cancel()
	})
	return longer, func() {
		stop()
		cancel()
	}
}
