package conv

import "github.com/hocketvoice/hocket/internal/timers"

// This file starts and ends the conversation and its session with the services. Sources:
// seed 000, REQ-002, REQ-003, INT-001, CON-002; seed 001, section 6, session timeout.

func (c *Conversation) handleUserStart(e UserStart) {
	switch c.st.Phase {
	case Idle:
		if c.st.Starting() {
			return // a start already waits for the session
		}
		c.st.Pending.Greeted = c.st.Pending.Greeted || e.Silent
		if c.st.Session.Life == sessionLives {
			c.becomePreparing(causeUserStart)
			return
		}
		c.out.emit(OpenSession{})
		c.st.arm(timers.Start, c.opts.Limits.Start)
	case Faulted:
		c.st.disarm(timers.Breaker) // a person's command closes the circuit breaker
		c.recoverFromFault(causeUserStart)
	default:
		c.out.emit(Reject{Code: "conversation_active"})
	}
}

// Starting reports whether a [UserStart] waits for the session in [Idle].
func (s *State) Starting() bool { return s.Phase == Idle && s.Timers.Armed(timers.Start) }

// becomePreparing leaves Idle or Faulted. It opens the session and primes the audio if they
// are not ready.
func (c *Conversation) becomePreparing(cause Cause) {
	st := &c.st
	c.become(Preparing, cause)
	c.st.arm(timers.Start, c.opts.Limits.Start)
	if !st.Session.Alive() {
		c.out.emit(OpenSession{})
	}
	if st.Session.Audio {
		c.maybeListen(causeAudioReady)
		return
	}
	c.out.emit(PrimeAudio{})
}

// maybeListen starts to listen when both session and audio are ready (REQ-003).
func (c *Conversation) maybeListen(cause Cause) {
	if c.st.Phase == Preparing && c.st.Session.Alive() && c.st.Session.Audio {
		c.become(ListeningReady, cause)
	}
}

func (c *Conversation) handleAudioReady() {
	if c.st.Phase == Idle || c.st.Phase == Terminating {
		return // this conversation has not asked for the audio
	}
	c.st.Session.Audio = true
	c.maybeListen(causeAudioReady)
}

func (c *Conversation) handleSessionReady(e SessionReady) {
	st := &c.st
	if st.Phase == Terminating {
		return // the session will be released
	}
	if st.Phase == Suspended {
		c.handleSessionRenewed(SessionRenewed(e))
		return
	}
	fresh := st.Session.Life != sessionLives
	if fresh {
		c.st.sessionLives(&c.opts, e.ID)
	}
	switch st.Phase {
	case Idle:
		if st.Starting() {
			c.becomePreparing(causeSessionReady)
		}
	case Preparing:
		c.maybeListen(causeSessionReady)
	case Reconnecting:
		// If only the session was lost, the conversation can continue now.
		if !st.Conn.Lost {
			c.restored(causeSessionReady)
		}
	case Faulted:
		if fresh && !st.BreakerOpen() {
			c.recoverFromFault(causeSessionReady)
		}
	default:
		// A repeated or early event changes nothing (GUD-004).
	}
}

// handleSessionConfigured changes the rules from now on. A voice that is already heard over
// the agent has been judged by the old rules.
func (s *State) handleSessionConfigured(e SessionConfigured) {
	if s.Phase == Idle && !s.Starting() || s.Phase == Terminating {
		return // no conversation has begun, or it is ending
	}
	s.Rules = rules(e)
	if e.ListenOnly {
		s.Going = going{} // the client starts the replies
	}
}

// sessionLives notes that the session has begun and arms its timers.
func (s *State) sessionLives(o *Options, id string) {
	s.Session.begins(id, s.Now)
	s.arm(timers.Session, o.Limits.Session)
	s.arm(timers.Warning, o.Limits.Session-o.Limits.SessionWarning)
}

// sessionDies notes that the session has ended and disarms its timers.
func (s *State) sessionDies() {
	s.Session.ends()
	s.disarm(timers.Session, timers.Warning)
}

// handleSessionExpiring prepares for the end of the session. It is called when the service
// warns, or [Limits.SessionWarning] before the session reaches its limit (seed 001, section
// 6).
func (s *State) handleSessionExpiring(out *Output, o *Options) {
	if s.Session.Life != sessionLives {
		return // the end was announced before, or there is no session
	}
	s.Session.Life = sessionExpires
	s.disarm(timers.Warning)
	if s.Phase == Idle || s.Phase == Terminating {
		return
	}
	out.emit(SaveContext{Reason: "session.expiring"})
	if !o.SessionRenews {
		out.notify(LevelInfo, "session.expiring")
	}
}

func (c *Conversation) handleSessionExpired(cause Cause) {
	c.st.sessionDies()
	switch c.st.Phase {
	case Idle, Terminating:
	case Reconnecting:
		// The attempts to reconnect open a new session.
	default:
		c.becomeReconnecting(cause)
	}
}

func (c *Conversation) startTimedOut() {
	if c.st.Phase == Idle {
		c.st.Rules, c.st.Context = rules{}, Context{}
		c.out.notify(LevelError, "start.timeout")
		return
	}
	c.fault("START_TIMEOUT", false, causeStartTimeout)
}

func (c *Conversation) handleUserStop() {
	switch c.st.Phase {
	case Idle:
		c.st.disarm(timers.Start)
		c.st.Rules, c.st.Context = rules{}, Context{}
	case Terminating:
		// The conversation is already ending.
	default:
		c.becomeTerminating(causeUserStop)
	}
}

// handleSessionEnded ends the conversation: in Terminating everything has been released, in
// any other phase the far end has hung up.
func (c *Conversation) handleSessionEnded() {
	c.st.sessionDies()
	switch c.st.Phase {
	case Idle:
	case Terminating:
		c.becomeIdle(causeSessionEnded)
	default:
		c.becomeTerminating(causeSessionEnded)
	}
}

// becomeTerminating ends every open turn and every call, each with its last event or its
// result, and asks the driver to release everything.
func (c *Conversation) becomeTerminating(cause Cause) {
	c.dropSuspension()
	c.cancelReply(TurnInterrupted)
	c.st.Barge.Reset()
	c.st.closeUserTurn(&c.out, TurnAbandoned)
	for len(c.st.Calls) > 0 {
		call := c.st.Calls[0]
		if call.Running() && call.Long && c.opts.TasksOutlive {
			c.endCall(0, failedResult("LEFT_RUNNING", "the conversation ended before its result", ""))
			continue
		}
		if call.Running() {
			c.st.cancelCall(&c.out, 0)
		}
		c.endCall(0, failedResult("CANCELLED", "the conversation ended", ""))
	}
	c.st.Pending, c.st.Going = pending{}, going{}
	c.st.Conn = connection{}
	c.st.Floor.Barged = 0
	c.st.disarm(timers.Grace)
	c.become(Terminating, cause)
	c.st.arm(timers.Release, c.opts.Limits.Release)
	c.out.emit(Release{Reason: string(cause)})
}

// becomeIdle forgets the conversation. It keeps the numbers of turns, requests, calls and
// stretches of speech, so that a late result is never taken for a new one.
func (c *Conversation) becomeIdle(cause Cause) {
	c.become(Idle, cause)
	fresh := State{
		Phase: c.st.Phase, Previous: c.st.Previous, Entered: c.st.Entered, Now: c.st.Now,
		LastTurn: c.st.LastTurn, LastRequest: c.st.LastRequest, LastCall: c.st.LastCall,
		Floor: floor{Utterance: c.st.Floor.Utterance, Worded: c.st.Floor.Utterance, Closed: c.st.Floor.Utterance},
	}
	c.st = fresh
}
