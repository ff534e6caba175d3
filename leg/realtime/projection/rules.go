package projection

import (
	"github.com/hocketvoice/hocket/conv"
	wire "github.com/hocketvoice/hocket/internal/wire/realtime"
	"github.com/hocketvoice/hocket/turn"
)

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

// configure brings the session's configuration to the uplink and to the machine.
func (p *Projection) configure() {
	if !p.running {
		return // it is done when the machine runs
	}
	p.do(Configure{})
	p.post(rules(&p.session))
}

// configured sees that rules have come into effect. Two changes may have been
// posted in the wrong order; what counts is what the client was told.
func (p *Projection) configured(e conv.SessionConfigured) {
	if want := rules(&p.session); e != want {
		p.post(want)
	}
}
