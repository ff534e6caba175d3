package conv

import (
	"time"

	"github.com/hocketvoice/hocket/internal/timers"
)

// This file handles planned pauses. Sources: seed 000, REQ-008, AC-005; seed 001, 4.8.

// handleSessionRenewal begins a planned pause. It keeps the phase and stops the timers, except
// those that run during a suspension.
func (c *Conversation) handleSessionRenewal(e SessionRenewal) {
	st := &c.st
	if !st.Phase.Active() {
		return // nothing can be paused, or the pause has begun
	}
	// A voice that has not interrupted by now is not judged any further.
	st.Barge.Reset()
	st.Over = userTurn{}
	c.st.armDerived(&c.opts)
	st.Playout.measure(st.heardSoFar(), st.Now)
	source := e.Source
	if source == "" {
		source = SourceRenewal
	}
	st.Before = st.Phase
	st.Suspended = suspension{Source: source, At: c.st.Now, Timers: st.Timers}
	for t := range st.Timers {
		if timers.Timer(t).RunsWhileSuspended() {
			st.Suspended.Timers[t] = time.Time{}
		} else {
			st.Timers[t] = time.Time{}
		}
	}
	c.record(Suspended, c.event)
	c.st.arm(timers.Suspended, c.opts.Limits.Suspended)
	c.out.emit(PauseAudio{})
}

// handleSessionRenewed ends a suspension. It returns to the phase before it, shifts the timers
// by the length of the pause, and handles the deferred events in their order. In any other
// phase it notes that the session was renewed without a pause.
func (c *Conversation) handleSessionRenewed(e SessionRenewed) {
	st := &c.st
	if st.Phase != Suspended {
		if st.Session.Alive() {
			c.st.sessionLives(&c.opts, e.ID)
		}
		return
	}
	if st.Suspended.Source == SourceRenewal || !st.Session.Alive() {
		c.st.sessionLives(&c.opts, e.ID)
	}
	pause := st.Suspended
	st.Suspended = suspension{}
	shift := c.st.Now.Sub(pause.At)
	for t := range st.Timers {
		if at := pause.Timers[t]; !at.IsZero() {
			st.Timers[t] = at.Add(shift)
		}
	}
	st.Timers[timers.Suspended] = time.Time{}
	for i := range st.Calls {
		if !st.Calls[i].Deadline.IsZero() {
			st.Calls[i].Deadline = st.Calls[i].Deadline.Add(shift)
		}
	}
	st.Playout.At = c.st.Now
	if st.Before == ListeningReady {
		st.DeadAir.Stop()
		st.DeadAir.Start(c.st.Now)
	}
	c.record(st.Before, c.event)
	c.out.emit(ResumeAudio{})
	if !st.Reply.Held() {
		c.st.Playout.resume(&c.out, c.st.Now)
	}
	event := c.event
	for _, fact := range pause.Facts {
		c.event = Cause(EventType(fact))
		if !describe(fact).late(&c.check, &c.st, fact) {
			c.handle(fact)
			c.settle()
		}
	}
	c.event = event
}

// put queues an event until the suspension ends. An event that replaces or continues the
// last one is merged with it. If the queue is full, the oldest event that only reports progress
// is dropped. If the queue has none, the new event is dropped and the person is notified.
func (s *suspension) put(out *Output, o *Options, ev Event) {
	q := &s.Facts
	out.Deferred = true
	if n := len(*q); n > 0 {
		if merged, ok := mergeFacts((*q)[n-1], ev); ok {
			(*q)[n-1] = merged
			return
		}
	}
	if len(*q) >= o.Limits.Queue {
		i := 0
		for i < len(*q) && !describe((*q)[i]).passing {
			i++
		}
		if i == len(*q) {
			out.Deferred = false
			out.notify(LevelError, "queue.full")
			return
		}
		*q = append((*q)[:i], (*q)[i+1:]...)
	}
	*q = append(*q, ev)
}

// mergeFacts returns an event that stands for the two events last and ev, and reports whether
// there is one.
func mergeFacts(last, ev Event) (Event, bool) {
	switch e := ev.(type) {
	case STTPartial:
		_, ok := last.(STTPartial)
		return e, ok
	case PlayoutProgress:
		l, ok := last.(PlayoutProgress)
		return e, ok && l.Turn == e.Turn
	case TaskProgress:
		l, ok := last.(TaskProgress)
		return e, ok && l.ID == e.ID
	case ReplyDelta:
		l, ok := last.(ReplyDelta)
		if !ok || l.Turn != e.Turn || l.Request != e.Request {
			return nil, false
		}
		e.Text = l.Text + e.Text
		return e, true
	default:
		return nil, false
	}
}

// dropSuspension ends a suspension without a return to the phase before it. Of the deferred
// events it handles the results of calls, the words of the user and typed lines.
func (c *Conversation) dropSuspension() {
	st := &c.st
	if st.Phase != Suspended {
		return
	}
	if st.Before == ListeningReady {
		st.DeadAir.Stop()
	}
	facts := st.Suspended.Facts
	st.Suspended = suspension{}
	for _, fact := range facts {
		if describe(fact).late(&c.check, &c.st, fact) {
			continue
		}
		switch e := fact.(type) {
		case ToolDone:
			c.endInBackground(c.st.Calls.find(e.ID, false), result{Text: e.Output})
		case TaskDone:
			c.endInBackground(c.st.Calls.find(e.ID, true), result{Text: e.Output})
		case ToolFailed:
			c.endInBackground(c.st.Calls.find(e.ID, false), failedResult(e.Code, e.Message, e.Output))
		case TaskFailed:
			c.endInBackground(c.st.Calls.find(e.ID, true), failedResult(e.Code, e.Message, e.Output))
		case STTPartial:
			c.st.User.note(squeeze(e.Text), e.Confidence, false, c.began)
		case STTFinal:
			c.st.User.note(squeeze(e.Text), e.Confidence, true, c.began)
		case UserText:
			if text := squeeze(e.Text); text != "" {
				c.st.Pending.queueText(&c.out, &c.opts, text, c.began)
			}
		default:
			// The event means nothing after the suspension.
		}
	}
}
