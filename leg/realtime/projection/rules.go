package projection

import (
	"time"

	"github.com/hocketvoice/hocket/conv"
	wire "github.com/hocketvoice/hocket/internal/wire/realtime"
	"github.com/hocketvoice/hocket/turn"
)

// MachineOptions are the machine's options for this protocol: the client has the clocks
// that the machine has for a caller, and hears of failures by events.
func MachineOptions(o conv.Options) conv.Options {
	o.Endpoint = turn.PolicySilence
	o.DeadAir = turn.DeadAirOptions{Off: true}
	o.SpeakNotices, o.ResumeAfterFalseInterruption = false, false
	o.SummaryTurns = -1 // what the model is given is the client's
	l := &o.Limits
	l.Session, l.SessionWarning = 24*time.Hour, time.Minute // the connection's lifetime is shorter
	l.Inactivity = 24 * time.Hour
	l.Listening = 10 * time.Minute
	l.NoTranscript, l.NoEndpoint = LongestSilence, LongestSilence
	l.Waiting, l.Processing = time.Minute, time.Minute
	l.Error, l.BreakerFaults = 100*time.Millisecond, 1<<20
	o.Retry.Max, o.Retry.Recover = -1, 1<<20
	for _, p := range []*turn.BargeInOptions{&o.BargeIn.Greeting, &o.BargeIn.Reply, &o.BargeIn.ReadBack} {
		p.Policy = "" // the rules' one
	}
	return o
}

// LongestSilence ends the user's turn when nothing else does, a client that has
// stopped sending included. It is the eight seconds of eagerness "low".
const LongestSilence = 8 * time.Second

// Patience is the silence that ends a turn under semantic_vad: where all is settled, and
// in any case.
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

// rules are the machine's part of a configuration.
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

// configure brings the session's configuration to the machine, when it has left idle, and
// to the uplink, when it runs.
func (p *Projection) configure() {
	if p.running {
		p.do(Configure{})
	}
	if p.ruled {
		p.post(rules(&p.session))
	}
}

// configured sees that rules have come into effect. Two changes may have been
// posted in the wrong order; what counts is what the client was told.
func (p *Projection) configured(e conv.SessionConfigured) {
	if want := rules(&p.session); e != want {
		p.post(want)
	}
}
