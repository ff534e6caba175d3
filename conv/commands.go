package conv

import (
	"github.com/hocketvoice/hocket/internal/timers"
	"github.com/hocketvoice/hocket/turn"
)

// This file handles the commands that a person gives with a button or a keyboard.
// Sources: seed 000, PAT-003; seed 001, section 5, client events.

func (c *Conversation) handleUserInterrupt(e UserInterrupt) {
	st := &c.st
	voice := e.Source.voice()
	if !voice {
		st.Going = going{}
	}
	switch st.Phase {
	case Speaking:
		if voice && c.st.profile(&c.opts).Policy == turn.BargeInNone {
			return // a voice does not interrupt this reply
		}
		if e.Heard > 0 {
			c.st.notePlayout(&c.opts, e.Heard, "")
		}
		if voice {
			c.bargeIn(causeUserInterrupt)
			return
		}
		c.interrupt(causeUserInterrupt, st.Floor.Speaking)
	case Understanding, Waiting, Generating:
		if !voice {
			c.callOff(causeUserInterrupt)
			return
		}
		c.interruptThinking()
	case ToolRunning:
		switch {
		case !voice:
			c.callOff(causeUserInterrupt)
		case c.st.Audible() && !c.st.leaving(&c.opts):
			c.bargeIn(causeUserInterrupt)
		}
	case Delegated:
		if c.st.Audible() {
			c.bargeIn(causeUserInterrupt) // the delegated agent continues; user.cancel ends it
		}
	default:
		// Nothing can be interrupted in the other phases (GUD-004).
	}
}

// interruptThinking handles a voice that a service has found while the reply is being made.
func (c *Conversation) interruptThinking() {
	if f := &c.st.Floor; !f.Speaking {
		f.Speaking = true
		f.Voice, f.VoiceOf = c.st.Now, 0
	}
	if c.st.Audible() {
		c.bargeIn(causeUserInterrupt)
		return
	}
	c.speechWhileThinking(causeUserInterrupt)
}

// callOff gives up the reply that is being made because the person asked for that. News
// that the reply was to tell is dropped.
func (c *Conversation) callOff(cause Cause) {
	c.st.Pending.told()
	c.takeReplyBack(cause)
	// The unanswered turn is dropped now because settle would answer it after the event.
	c.st.Conn.Unanswered.take()
}

// takeReplyBack gives up the reply that is being made, and the user's open turn, and
// listens again.
func (c *Conversation) takeReplyBack(cause Cause) {
	st := &c.st
	st.DeadAir.UserActive(c.st.Now)
	st.Pending.Ending, st.Going = false, going{}
	if st.Reply.Turn != 0 {
		c.cancelReply(TurnInterrupted)
	}
	if st.User.Turn != 0 {
		c.st.closeUserTurn(&c.out, TurnAbandoned)
	}
	st.Floor.Barged = 0
	if st.Phase == ToolRunning {
		c.become(Understanding, cause)
	}
	c.become(ListeningReady, cause)
}

func (c *Conversation) handleUserCancel(e UserCancel) {
	if e.ID != "" {
		c.callOffTask(c.st.Calls.task(e.ID))
		return
	}
	c.st.Going = going{}
	switch c.st.Phase {
	case ListeningCapturing:
		c.st.Floor.Speaking = false
		c.become(Understanding, causeUserCancel)
		c.cancelTasks()
		c.callOff(causeUserCancel)
	case Understanding, Waiting, Generating, ToolRunning:
		c.cancelTasks()
		c.callOff(causeUserCancel)
	case Delegated:
		c.cancelTasks()
		c.leaveTasks(causeUserCancel)
	case Speaking:
		c.interrupt(causeUserCancel, false)
	case Reconnecting:
		c.becomeTerminating(causeUserCancel)
	case Faulted:
		c.st.disarm(timers.Breaker)
		c.recoverFromFault(causeUserCancel)
	default:
		// Nothing can be cancelled in the other phases.
	}
}

// handleUserRecover continues after an error of the machine, of the dialogue, or of both.
// It does nothing while the user speaks or waits for an answer: what the user says then
// decides whether the dialogue leaves its error state.
func (c *Conversation) handleUserRecover() {
	st := &c.st
	failed := st.dialogueFailed(&c.opts)
	switch st.Phase {
	case ListeningReady:
		if failed {
			st.DeadAir.UserActive(st.Now)
			st.Pending.Recover = true // settle recovers in the same step
		}
	case Speaking:
		if failed {
			st.Pending.Recover = true
			c.interrupt(causeUserRecover, false)
		}
	case Faulted:
		st.Pending.Recover = failed
		st.disarm(timers.Breaker) // a person's command closes the circuit breaker
		c.recoverFromFault(causeUserRecover)
	default:
		// Nothing has failed, or the turn in progress decides.
	}
}

// handleUserKey stops the agent, who is answered by keys. A key is a sign of life where the user
// is waited for.
func (c *Conversation) handleUserKey() {
	st := &c.st
	st.Going = going{}
	switch st.Phase {
	case ListeningReady:
		st.DeadAir.UserActive(st.Now)
	case Speaking:
		c.interrupt(causeUserKey, false)
	default:
		// The line that follows does what is to be done.
	}
}

// handleUserText takes a typed line. In ListeningCapturing the line ends the spoken turn
// and becomes part of it. Otherwise the line is queued: a reply is interrupted or taken
// back first, a running tool is waited for.
func (c *Conversation) handleUserText(e UserText) {
	text := squeeze(e.Text)
	if text == "" {
		return
	}
	st := &c.st
	if st.Phase == Idle || st.Phase == Terminating {
		c.out.emit(Reject{Code: "no_conversation"})
		return
	}
	c.began = st.Now.Add(heardMargin) // typed words answer what is on the screen, so they need no margin
	if st.Phase == ListeningCapturing {
		if st.Reply.Held() {
			c.cancelReply(TurnInterrupted)
		}
		c.st.User.note(joinWords(st.User.Partial, text), 1, true, c.began)
		c.endTurn(causeUserText, false)
		return
	}
	if !c.st.Pending.queueText(&c.out, &c.opts, text, c.began) {
		return
	}
	switch {
	case st.Phase == Speaking:
		c.interrupt(causeUserText, false)
	case c.st.thinking():
		c.takeReplyBack(causeUserText)
	default:
		// settle takes the line when the phase is ListeningReady.
	}
}
