package projection

import (
	"time"

	"github.com/hocketvoice/hocket/conv"
	wire "github.com/hocketvoice/hocket/internal/wire/realtime"
	"github.com/hocketvoice/hocket/turn"
)

// MachineOptions returns the machine's options for this protocol. The timeouts that
// prompt or end a silent call are disabled, because the client has its own, and
// failures are reported by events and not spoken.
func MachineOptions(o conv.Options) conv.Options {
	o.Endpoint = turn.PolicySilence
	o.DeadAir = turn.DeadAirOptions{Off: true}
	o.SpeakNotices, o.ResumeAfterFalseInterruption = false, false
	o.SummaryTurns = -1 // the client decides what the model is told
	l := &o.Limits
	l.Session, l.SessionWarning = 24*time.Hour, time.Minute // the connection's lifetime is shorter
	l.Inactivity = 24 * time.Hour
	l.Listening = 10 * time.Minute
	l.NoTranscript, l.NoEndpoint = LongestSilence, LongestSilence
	l.Waiting, l.Processing = time.Minute, time.Minute
	l.Error, l.BreakerFaults = 100*time.Millisecond, 1<<20
	o.Retry.Max, o.Retry.Recover = -1, 1<<20
	for _, p := range []*turn.BargeInOptions{&o.BargeIn.Greeting, &o.BargeIn.Reply, &o.BargeIn.ReadBack} {
		p.Policy = "" // as set by SessionConfigured
	}
	return o
}

// LongestSilence ends the person's turn if nothing else does, even if the client has
// stopped sending. It equals the eight seconds of eagerness "low".
const LongestSilence = 8 * time.Second

// Patience returns the silence after which a turn ends under semantic_vad: least if the
// words are complete, and most in any case.
func Patience(eagerness string) (least, most time.Duration) {
	switch eagerness {
	case "low":
		return 800 * time.Millisecond, LongestSilence
	case "high":
		return 300 * time.Millisecond, 2 * time.Second
	default:
		return 400 * time.Millisecond, 4 * time.Second
	}
}

// rules returns the machine's part of a configuration.
func rules(s *wire.Session) conv.SessionConfigured {
	r := conv.SessionConfigured{BargeIn: turn.BargeInEnergy, ListenOnly: true}
	if t := s.Input.TurnDetection; t != nil {
		if !t.InterruptResponse {
			r.BargeIn = turn.BargeInNone
		}
		r.ListenOnly = !t.CreateResponse || s.Type == wire.TypeTranscription
	}
	return r
}

// configure passes the session's configuration to the machine, once it has left idle,
// and to the uplink, once it runs.
func (p *Projection) configure() {
	if p.running {
		p.do(Configure{})
	}
	if p.ruled {
		p.post(rules(&p.session))
	}
}

// configured checks the rules that have come into effect. Two changes may have been
// posted in the wrong order; the last one sent to the client counts.
func (p *Projection) configured(e conv.SessionConfigured) {
	if want := rules(&p.session); e != want {
		p.post(want)
	}
}
