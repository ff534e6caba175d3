package projection

import (
	"time"

	wire "github.com/hocketvoice/hocket/internal/wire/realtime"
)

// limits counts the responses and tokens of a conversation in the current minute.
type limits struct {
	responses, tokens int // the limits
	since             time.Time
	made, spent       int
}

// roll begins a new minute when the current one is over.
func (l *limits) roll(now time.Time) {
	if now.Sub(l.since) >= time.Minute {
		l.since, l.made, l.spent = now, 0, 0
	}
}

// take counts a response, if the limits allow one.
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

// left returns the remaining responses and tokens.
func (l *limits) left(now time.Time) wire.RateLimits {
	l.roll(now)
	reset := (time.Minute - now.Sub(l.since)).Seconds()
	return wire.RateLimits{RateLimits: []wire.RateLimit{
		{Name: "requests", Limit: l.responses, Remaining: l.responses - l.made, ResetSeconds: reset},
		{Name: "tokens", Limit: l.tokens, Remaining: max(0, l.tokens-l.spent), ResetSeconds: reset},
	}}
}

// usage returns an estimate of the tokens, since the port of the language model does
// not report them.
func (r *response) usage() wire.Usage {
	u := wire.Usage{InputText: r.input, InputAudio: heardTokens(r.inputSound), OutputText: r.tokens}
	for _, call := range r.calls {
		u.OutputText += Tokens(call.Name) + Tokens(call.Arguments)
	}
	u.OutputAudio = saidTokens(r.samples.Duration(Rate))
	return u
}

// Tokens returns the number of tokens of a text, estimated as one for every four bytes.
func Tokens(s string) int { return (len(s) + 3) / 4 }

// OpenAI counts a token for each 100 ms of the person's sound, and for each 50 ms of
// the agent's.
func heardTokens(d time.Duration) int {
	return int((d + 99*time.Millisecond) / (100 * time.Millisecond))
}

func saidTokens(d time.Duration) int { return int((d + 49*time.Millisecond) / (50 * time.Millisecond)) }
