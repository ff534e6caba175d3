package realtime

import (
	"context"
	"time"

	"github.com/hocketvoice/hocket/internal/wait"
	wire "github.com/hocketvoice/hocket/internal/wire/realtime"
)

// limits count what a connection has had in the current minute. It is part of the
// connection's state.
type limits struct {
	responses, tokens int // allowed
	since             time.Time
	made, spent       int
}

// roll begins a new minute when the old one is over.
func (l *limits) roll(now time.Time) {
	if now.Sub(l.since) >= time.Minute {
		l.since, l.made, l.spent = now, 0, 0
	}
}

// take counts a response, if there is room for one.
func (l *limits) take(now time.Time) bool {
	l.roll(now)
	if l.made >= l.responses || l.spent >= l.tokens {
		return false
	}
	l.made++
	return true
}

// spend counts tokens.
func (l *limits) spend(now time.Time, n int) {
	l.roll(now)
	l.spent += n
}

// left tells what is left.
func (l *limits) left(now time.Time) wire.RateLimits {
	l.roll(now)
	reset := (time.Minute - now.Sub(l.since)).Seconds()
	return wire.RateLimits{RateLimits: []wire.RateLimit{
		{Name: "requests", Limit: l.responses, Remaining: l.responses - l.made, ResetSeconds: reset},
		{Name: "tokens", Limit: l.tokens, Remaining: max(0, l.tokens-l.spent), ResetSeconds: reset},
	}}
}

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

// The tokens of a text and of a sound are estimates: the language model behind
// has an account of its own, which its port does not tell.

// textTokens counts four letters for one, as is usual.
func textTokens(s string) int { return (len(s) + 3) / 4 }

// OpenAI's rates: a token is a tenth of a second of the person's sound, a twentieth
// of the agent's.
func heardTokens(d time.Duration) int {
	return int((d + 99*time.Millisecond) / (100 * time.Millisecond))
}

func saidTokens(d time.Duration) int { return int((d + 49*time.Millisecond) / (50 * time.Millisecond)) }
