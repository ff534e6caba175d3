package realtime

import (
	"context"
	"time"

	"github.com/hocketvoice/hocket/internal/wait"
)

// A client may send a burst of 2000 events, and then 1000 per second: more than any
// client needs, but not enough to use all of the processor. The connection of a client
// that sends faster for longer than eventPatience is closed.
const (
	eventTime     = time.Millisecond
	eventBurst    = 2 * time.Second
	eventPatience = 5 * time.Second
)

// pace limits a rate. Its zero value allows a whole burst. It must be used by one
// goroutine.
type pace struct {
	due   time.Time
	since time.Time // when the rate became too high; zero if it is not
}

// tooFast reports whether the rate has been too high for longer than d.
func (p *pace) tooFast(d time.Duration) bool { return !p.since.IsZero() && time.Since(p.since) > d }

// doze is the shortest wait.
const doze = 20 * time.Millisecond

// wait waits until the next event is allowed. Each event costs the duration cost; burst
// is the sum of the costs allowed at once. It returns an error if ctx ends.
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
