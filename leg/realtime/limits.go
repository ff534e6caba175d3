package realtime

import (
	"context"
	"time"

	"github.com/hocketvoice/hocket/internal/wait"
)

// A client's events are taken as fast as they come for 2000 of them, and then a
// thousand a second: more than any client needs, and less than takes the processor
// from others. One that sends more for eventPatience is sent away.
const (
	eventTime     = time.Millisecond
	eventBurst    = 2 * time.Second
	eventPatience = 5 * time.Second
)

// pace slows down what comes too fast. Its zero value has a whole burst before it.
// It belongs to one goroutine.
type pace struct {
	due   time.Time
	since time.Time // since when it is too fast; zero: it is not
}

// tooFast reports whether it has been so for a time.
func (p *pace) tooFast(d time.Duration) bool { return !p.since.IsZero() && time.Since(p.since) > d }

// doze is the shortest wait that is worth it.
const doze = 20 * time.Millisecond

// wait lets something happen that takes so much of the time, of which a burst may be
// used at once. It ends with ctx.
func (p *pace) wait(ctx context.Context, cost, burst time.Duration) error {
	now := time.Now()
	if earliest := now.Add(-burst); p.due.Before(earliest) {
		p.due = earliest
	}
	p.due = p.due.Add(cost)
	ahead := p.due.Sub(now)
	switch {
	case ahead < -burst/2:
		p.since = time.Time{}
	case ahead > 0 && p.since.IsZero():
		p.since = now
	}
	if ahead < doze {
		return nil
	}
	return wait.For(ctx, ahead)
}
