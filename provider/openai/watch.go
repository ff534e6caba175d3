package openai

import (
	"context"
	"fmt"
	"time"
)

// silence is why a request was ended: the server said nothing for too long.
type silence struct {
	what  string
	limit time.Duration
}

// Error says what did not come.
func (s *silence) Error() string { return fmt.Sprintf("%s for %v", s.what, s.limit) }

// watch ends a request when its server is silent for too long. It is used by
// the goroutine of the request alone; the timer's callback does nothing but
// cancel the request's context, and whoever loses that race sees a request that
// ended a moment before its next event.
type watch struct {
	cancel context.CancelCauseFunc
	timer  *time.Timer
	due    *silence // what timer waits for
}

// newWatch returns the context of a request and its watch. stop must be called.
func newWatch(ctx context.Context) (context.Context, *watch) {
	ctx, cancel := context.WithCancelCause(ctx)
	return ctx, &watch{cancel: cancel}
}

// await begins to wait.
func (w *watch) await(s *silence) {
	if w.timer != nil && w.due == s {
		w.timer.Reset(s.limit)
		return
	}
	w.pause()
	w.due = s
	w.timer = time.AfterFunc(s.limit, func() { w.cancel(s) })
}

// pause stops the clock while the one who is waited for is on this side.
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
