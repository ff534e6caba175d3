package projection

import (
	"time"

	wire "github.com/hocketvoice/hocket/internal/wire/realtime"
)

// limits count what a conversation has had in the current minute.
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

// usage is an estimate: the language model has an account of its own, which its port
// does not tell.
func (r *response) usage() wire.Usage {
	u := wire.Usage{InputText: r.input, InputAudio: heardTokens(r.inputSound), OutputText: r.tokens}
	for _, call := range r.calls {
		u.OutputText += Tokens(call.Name) + Tokens(call.Arguments)
	}
	u.OutputAudio = saidTokens(r.samples.Duration(Rate))
	return u
}

// Tokens counts the tokens of a text: four letters are one, as is usual.
func Tokens(s string) int { return (len(s) + 3) / 4 }

// OpenAI's rates: a token is a tenth of a second of the person's sound, a twentieth
// of the agent's.
func heardTokens(d time.Duration) int {
	return int((d + 99*time.Millisecond) / (100 * time.Millisecond))
}

func saidTokens(d time.Duration) int { return int((d + 49*time.Millisecond) / (50 * time.Millisecond)) }
