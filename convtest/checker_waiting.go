package convtest

import (
	"fmt"

	"github.com/hocketvoice/hocket/conv"
	"github.com/hocketvoice/hocket/internal/timers"
)

// This file checks deadlines and states of rest.

// checkDeadlines checks that no deadline is overdue after a step, so that a driver
// never spins.
func (k *Checker) checkDeadlines(s step) error {
	if _, ok := s.event.(conv.DeadlinePassed); !ok {
		return nil
	}
	if next := k.c.NextDeadline(); !next.IsZero() && !next.After(s.now) {
		return fmt.Errorf("the next deadline is already due: the driver would spin")
	}
	return nil
}

// checkWaiting checks that every waiting phase has an armed deadline or an open
// microphone.
func (k *Checker) checkWaiting(s step) error {
	var armed []timers.Timer
	st := s.after
	switch st.Phase {
	case conv.Idle:
		if !st.Starting() {
			return nil
		}
		armed = []timers.Timer{timers.Start}
	case conv.Preparing:
		armed = []timers.Timer{timers.Start}
	case conv.ListeningReady:
		if !st.Session.Audio {
			return fmt.Errorf("listening with a closed microphone")
		}
		armed = []timers.Timer{timers.Session, timers.DeadAir, timers.Inactivity}
	case conv.ListeningCapturing:
		armed = []timers.Timer{timers.Listening}
	case conv.Understanding:
		armed = []timers.Timer{timers.Final, timers.AfterYes, timers.Processing, timers.Try}
	case conv.Waiting, conv.Generating:
		armed = []timers.Timer{timers.Processing}
	case conv.ToolRunning, conv.Delegated:
		armed = []timers.Timer{timers.Tool, timers.Task}
	case conv.Speaking:
		armed = []timers.Timer{timers.Playout}
	case conv.Interrupted:
		armed = []timers.Timer{timers.Interrupted}
	case conv.Suspended:
		armed = []timers.Timer{timers.Suspended}
	case conv.Reconnecting:
		armed = []timers.Timer{timers.ReconnectLimit}
	case conv.Faulted:
		armed = []timers.Timer{timers.Fault, timers.Breaker}
	case conv.Terminating:
		armed = []timers.Timer{timers.Release}
	}
	for _, t := range armed {
		if !st.Timers[t].IsZero() {
			return nil
		}
	}
	return fmt.Errorf("%v waits without a deadline", st.Phase)
}

// checkArmed checks that no deadline or flag outlives its reason.
func (k *Checker) checkArmed(s step) error {
	st := s.after
	r := &st.Reply
	switch s.event.(type) {
	case conv.ConnectionRestored, conv.SessionReady, conv.SessionRenewed:
		k.closed = false
	default:
		// The others do not open a connection.
	}
	for _, e := range s.out.Effects {
		if _, ok := e.(conv.CloseConnection); ok {
			k.closed = true
		}
	}
	if st.Phase == conv.Idle {
		k.closed = false
	}
	armed := func(t timers.Timer) bool { return !st.Timers[t].IsZero() }
	frozen := func(t timers.Timer) bool {
		return st.Phase == conv.Suspended && !st.Suspended.Timers[t].IsZero()
	}
	awaiting := st.Phase == conv.Understanding && st.User.Turn != 0
	for _, c := range []struct {
		broken bool
		what   string
	}{
		{(armed(timers.Grace) || frozen(timers.Grace)) && !st.Shaky(), "the grace timer runs, but the connection is not shaky"},
		{st.Shaky() && !armed(timers.Grace) && !frozen(timers.Grace), "the connection is shaky, but the grace timer does not run"},
		{armed(timers.Final) && !awaiting, "the timer for the final transcript runs after the turn"},
		{armed(timers.AfterYes) && (st.Phase != conv.Understanding || r.Turn == 0 || r.Request != 0), "the timer after a yes runs without a yes that waits"},
		{armed(timers.Endpoint) && st.Phase != conv.ListeningCapturing, "the endpoint timer runs outside a turn"},
		{armed(timers.Try) && (r.Turn == 0 || r.Request == 0), "the timer of an attempt runs without a request"},
		{armed(timers.Processing) && r.Turn == 0, "the processing timer runs without a reply"},
		{armed(timers.Session) != st.Session.Alive(), "the session timer does not match the session's state"},
		{st.BreakerOpen() && st.Phase != conv.Faulted && st.Phase != conv.Reconnecting && st.Phase != conv.Terminating, "the circuit breaker is open, but the conversation continues"},
		{st.Playout.Playing && (r.Turn == 0 || st.Playout.Turn != r.Turn), "audio of a turn that is not open is being played"},
		{r.Held() && r.Turn == 0, "a reply is held, but there is none"},
		{st.Pending.Ending && st.Phase == conv.Idle, "a conversation that has ended is ending"},
		{k.closed && st.Phase == conv.ListeningReady, "listening on a connection that was closed and not restored"},
	} {
		if c.broken {
			return fmt.Errorf("%s", c.what)
		}
	}
	return nil
}

// checkRest checks for silent dead ends and contradictions between regions.
func (k *Checker) checkRest(s step) error {
	st := s.after
	r := &st.Reply
	switch st.Phase {
	case conv.Waiting, conv.Generating:
		if r.Complete() && !r.Held() && !r.Voiced() && !r.Earlier && !st.Playout.Playing {
			return fmt.Errorf("the reply is complete, but has not ended")
		}
	case conv.Speaking:
		if r.Turn == 0 || r.Held() {
			return fmt.Errorf("speaking without a reply, or with a held one")
		}
	case conv.ListeningReady:
		if r.Turn != 0 || st.User.Turn != 0 {
			return fmt.Errorf("ready, but turns %d and %d are open", r.Turn, st.User.Turn)
		}
		if st.Floor.Speaking && k.c.Options().Endpoint != "manual" {
			return fmt.Errorf("a voice is heard, but does not have the floor")
		}
	default:
		// Other phases are checked by checkWaiting.
	}
	if v := st.Views().Interaction; v.IsSpeaking() && v.Interrupted() {
		return fmt.Errorf("the flags of seed 004 contradict each other")
	}
	return nil
}
