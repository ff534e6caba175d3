package llm

import (
	"context"
	"fmt"
	"time"
)

// silence is the reason for ending a request whose server sent nothing for too
// long.
type silence struct {
	what  string
	limit time.Duration
}

// Error returns what did not arrive in time.
func (s *silence) Error() string { return fmt.Sprintf("%s for %v", s.what, s.limit) }

// watch ends a request when its server is silent for too long. Only the goroutine
// of the request uses it; the timer only cancels the request's context. If an event
// arrives at the same moment, the request may still be ended.
type watch struct {
	cancel context.CancelCauseFunc
	timer  *time.Timer
	due    *silence // what the timer waits for
}

// newWatch returns the context of a request and its watch. The caller must call
// stop.
func newWatch(ctx context.Context) (context.Context, *watch) {
	ctx, cancel := context.WithCancelCause(ctx)
	return ctx, &watch{cancel: cancel}
}

// await starts the timer.
func (w *watch) await(s *silence) {
	if w.timer != nil && w.due == s {
		w.timer.Reset(s.limit)
		return
	}
	w.pause()
	w.due = s
	w.timer = time.AfterFunc(s.limit, func() { w.cancel(s) })
}

// pause stops the timer while this side is busy.
func (w *watch) pause() {
	if w.timer != nil {
		w.timer.Stop()
	}
}

// stop ends the watch and the request.
func (w *watch) stop() {
	w.pause()
	w.cancel(nil)
}
