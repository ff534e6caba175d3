package fake

import (
	"net/http"
	"time"
)

// dial places a call for the server.
func (f *Telnyx) dial(r *http.Request) (*TelnyxCall, *refusal) {
	m, no := f.read(r, "dial")
	if no != nil {
		return nil, no
	}
	f.mu.Lock()
	for _, c := range f.calls {
		if at, again := c.commands[m.CommandID]; again && time.Since(at) < remembers {
			f.mu.Unlock()
			return c, nil
		}
	}
	f.mu.Unlock()
	detects := m.Machine == "" || m.Machine == "detect" || m.Machine == "greeting_end" || m.Machine == "premium"
	switch {
	case m.Connection == "" || !detects || m.Timeout < 5 || m.Timeout > 600:
		return nil, f.rule("dial: %+v", m)
	case !isNumber(m.To) || !isNumber(m.From):
		return nil, &refusal{http.StatusUnprocessableEntity, "10016", "Phone number must be in +E164 format"}
	}
	c := f.newCall(m.From, m.To)
	f.mu.Lock()
	c.outgoing, c.state = true, m.ClientState
	if m.SendSilence == nil || !*m.SendSilence {
		c.idle = idleLimit
	}
	f.mu.Unlock()
	f.note(c, m.CommandID, "dial", func() {})
	f.done.Go(func() { f.ringOut(c, m, nil) })
	return c, nil
}

// party returns who is called under a number.
func (f *Telnyx) party(to string) Party {
	if f.o.Parties == nil {
		return Party{}
	}
	return f.o.Parties(to)
}

// pause waits. It reports whether the call and the account go on.
func (f *Telnyx) pause(d time.Duration, over <-chan struct{}) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-over:
	case <-f.stop:
	}
	return false
}

// ringOut lives through a call that is placed, up to its answer. If bridged is not nil it is called
// then.
func (f *Telnyx) ringOut(c *TelnyxCall, m fields, bridged func(Party)) {
	f.tell(c, "call.initiated", map[string]any{"state": "bridging"})
	p, limit := f.party(c.to), time.Duration(m.Timeout)*time.Second
	if p.How == "no_answer" || p.After > limit {
		p.How, p.After = "no_answer", limit
	}
	if !f.pause(p.After, c.over) {
		return
	}
	if !p.answers() {
		cause := map[string]string{"busy": "user_busy", "no_answer": "timeout", "reject": "call_rejected", "unreachable": "not_found"}[p.How]
		c.end(cause, "callee")
		return
	}
	f.mu.Lock()
	c.answered = true
	f.mu.Unlock()
	f.tell(c, "call.answered", map[string]any{"state": "answered"})
	if bridged != nil {
		bridged(p)
		return
	}
	if m.Machine == "" || p.Detected == "" || !f.pause(p.DetectedAfter, c.over) {
		return
	}
	f.tell(c, "call.machine.detection.ended", map[string]any{"result": p.Detected})
	if p.Beep > 0 && m.Machine == "greeting_end" && f.pause(p.Beep, c.over) {
		f.tell(c, "call.machine.greeting.ended", map[string]any{"result": "beep_detected"})
	}
}

// transfer connects the person of a call with somebody else.
func (f *Telnyx) transfer(c *TelnyxCall, m fields) {
	other := f.newCall(m.From, m.To)
	f.mu.Lock()
	other.session, other.outgoing = c.session, true
	f.mu.Unlock()
	f.ringOut(other, m, func(p Party) {
		f.tell(c, "call.bridged", nil)
		f.tell(other, "call.bridged", nil)
		if p.Talk == 0 {
			p.Talk = 24 * time.Hour
		}
		if f.pause(p.Talk, c.over) {
			c.end("normal_clearing", "callee")
		}
		other.end("normal_clearing", "callee")
	})
}
