package convtest

import (
	"fmt"

	"github.com/hocketvoice/hocket/conv"
)

// This file checks deadlines and states of rest.

// checkDeadlines checks that no deadline is overdue after a step, so that a driver
// never spins.
func (k *Checker) checkDeadlines(s step) error {
	if _, ok := s.event.(conv.DeadlinePassed); !ok {
		return nil
	}
	if next := k.c.NextDeadline(); !next.IsZero() && !next.After(s.now) {
		return fmt.Errorf("the next deadline is due at once: the driver would spin")
	}
	return nil
}

// checkWaiting checks that every waiting phase has an armed deadline or an open
// microphone.
func (k *Checker) checkWaiting(s step) error {
	var armed []conv.Timer
	st := s.after
	switch st.Phase {
	case conv.Idle:
		if !st.Starting() {
			return nil
		}
		armed = []conv.Timer{conv.TimerStart}
	case conv.Preparing:
		armed = []conv.Timer{conv.TimerStart}
	case conv.ListeningReady:
		if !st.Session.Audio {
			return fmt.Errorf("it listens and the microphone is closed")
		}
		armed = []conv.Timer{conv.TimerSession, conv.TimerDeadAir, conv.TimerInactivity}
	case conv.ListeningCapturing:
		armed = []conv.Timer{conv.TimerListening}
	case conv.Understanding:
		armed = []conv.Timer{conv.TimerFinal, conv.TimerProcessing, conv.TimerTry}
	case conv.Waiting, conv.Generating:
		armed = []conv.Timer{conv.TimerProcessing}
	case conv.ToolRunning, conv.Delegated:
		armed = []conv.Timer{conv.TimerTool, conv.TimerTask}
	case conv.Speaking:
		armed = []conv.Timer{conv.TimerPlayout}
	case conv.Interrupted:
		armed = []conv.Timer{conv.TimerInterrupted}
	case conv.Suspended:
		armed = []conv.Timer{conv.TimerSuspended}
	case conv.Reconnecting:
		armed = []conv.Timer{conv.TimerReconnectLimit}
	case conv.Faulted:
		armed = []conv.Timer{conv.TimerFault, conv.TimerBreaker}
	case conv.Terminating:
		armed = []conv.Timer{conv.TimerRelease}
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
	armed := func(t conv.Timer) bool { return !st.Timers[t].IsZero() }
	frozen := func(t conv.Timer) bool {
		return st.Phase == conv.Suspended && !st.Suspended.Timers[t].IsZero()
	}
	awaiting := st.Phase == conv.Understanding && st.User.Turn != 0
	for _, c := range []struct {
		broken bool
		what   string
	}{
		{(armed(conv.TimerGrace) || frozen(conv.TimerGrace)) && !st.Shaky(), "the grace of a connection runs that is not shaky"},
		{st.Shaky() && !armed(conv.TimerGrace) && !frozen(conv.TimerGrace), "the connection is shaky and its grace does not run"},
		{armed(conv.TimerFinal) && !awaiting, "the final transcript is waited for after the turn"},
		{armed(conv.TimerEndpoint) && st.Phase != conv.ListeningCapturing, "the end of a turn is waited for outside of it"},
		{armed(conv.TimerTry) && (r.Turn == 0 || r.Request == 0), "a try runs and nothing is asked"},
		{armed(conv.TimerProcessing) && r.Turn == 0, "the making of a reply runs and there is none"},
		{armed(conv.TimerSession) != st.Session.Alive(), "the session's clock and its life disagree"},
		{st.BreakerOpen() && st.Phase != conv.Faulted && st.Phase != conv.Reconnecting && st.Phase != conv.Terminating, "the circuit breaker is open and the conversation goes on"},
		{st.Playout.Playing && (r.Turn == 0 || st.Playout.Turn != r.Turn), "audio plays of a turn that is not open"},
		{r.Held() && r.Turn == 0, "a reply is held and there is none"},
		{st.Pending.Ending && st.Phase == conv.Idle, "a conversation that is over is ending"},
		{k.closed && st.Phase == conv.ListeningReady, "it listens on a connection that it closed and nobody restored"},
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
			return fmt.Errorf("the reply has nothing more to say and is not over")
		}
	case conv.Speaking:
		if r.Turn == 0 || r.Held() {
			return fmt.Errorf("it speaks without a reply, or with one that is held")
		}
	case conv.ListeningReady:
		if r.Turn != 0 || st.User.Turn != 0 {
			return fmt.Errorf("it is ready with turn %d and turn %d open", r.Turn, st.User.Turn)
		}
		if st.Floor.Speaking && k.c.Options().Endpoint != "manual" {
			return fmt.Errorf("a voice is heard and has not the floor")
		}
	default:
		// Other phases are checked by checkWaiting.
	}
	if v := st.Views().Interaction; v.IsSpeaking() && v.Interrupted() {
		return fmt.Errorf("the flags of seed 004 contradict each other")
	}
	return nil
}
