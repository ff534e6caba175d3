package conv

import (
	"time"

	"github.com/hocketvoice/hocket/internal/timers"
)

// This file handles lost connections. Sources: seed 000, REQ-009, PER-003; seed 001, 4.8 and
// section 6.

// codeReconnect is the code of the fault when a connection could not be restored.
const codeReconnect = "RECONNECT_FAILED"

// connection describes disturbances of the connection to the user. A connection that may
// come back by itself is shaky, see [State.Shaky]. The package documentation describes the
// states of a connection.
type connection struct {
	Lost     bool // the connection is lost, not only the session with the services
	Attempts int  // in Reconnecting: how many attempts to reconnect have been made
	// Unanswered is the user's turn whose answer was lost with the connection or to a fault.
	Unanswered unanswered
}

// unanswered is a turn of the user that still waits for its answer.
type unanswered struct {
	Turn  int       // number of the turn; zero: no turn waits
	Text  string    // what the user said
	Began time.Time // when the voice began that said it
	Fate  fate
}

// fate says whether the words of an unanswered turn are complete, and whether they have been
// handled.
type fate string

// The values of [fate].
const (
	fateUnread   fate = ""      // the words are complete and have not been handled
	fateTaken    fate = "taken" // the words have been handled; only the answer was lost
	fateCutWords fate = "words" // the final transcript is missing; it may still come
	fateCutVoice fate = "voice" // the user was cut off while speaking; only the beginning is known
)

// Taken reports whether the words have been handled, so that only the answer was lost.
func (u *unanswered) Taken() bool { return u.Fate == fateTaken }

// CutWords reports whether the final transcript is missing. It may still come.
func (u *unanswered) CutWords() bool { return u.Fate == fateCutWords }

// CutVoice reports whether the user was cut off while speaking.
func (u *unanswered) CutVoice() bool { return u.Fate == fateCutVoice }

// cut reports whether the words are incomplete. The user is then asked to repeat them.
func (u *unanswered) cut() bool { return u.CutWords() || u.CutVoice() }

// unread returns the text of the turn if it is complete and has not been handled.
func (u *unanswered) unread() string {
	if u.Turn == 0 || u.Fate != fateUnread {
		return ""
	}
	return u.Text
}

// completed sets the text of the turn when its final transcript has come.
func (u *unanswered) completed(text string) {
	u.Text = text
	if u.CutWords() {
		u.Fate = fateUnread
	}
}

// take returns the turn and removes it from u. The caller answers it, or drops it because
// nobody wants the answer.
func (u *unanswered) take() unanswered {
	taken := *u
	*u = unanswered{}
	return taken
}

// Shaky reports whether the connection is disturbed and may still come back by itself:
// [Limits.Grace] has not passed.
func (s *State) Shaky() bool { return s.Timers.Armed(timers.Grace) }

// handleConnectionLost begins to reconnect: at once, or after [Limits.Grace] if the
// connection may come back by itself (seed 001, section 6: ICE disconnected).
func (c *Conversation) handleConnectionLost(e ConnectionLost) {
	st := &c.st
	switch st.Phase {
	case Idle, Terminating:
		return
	case Reconnecting:
		st.Conn.Lost = true
		return
	default:
	}
	if e.Retryable {
		if !st.Shaky() {
			c.st.arm(timers.Grace, c.opts.Limits.Grace)
			c.out.notify(LevelInfo, "connection.shaky")
		}
		return
	}
	c.st.Conn.Lost = true
	c.becomeReconnecting(causeConnectionLost)
}

// becomeReconnecting saves the context and begins to restore the connection and the
// session (seed 001, 4.8).
func (c *Conversation) becomeReconnecting(cause Cause) {
	st := &c.st
	running := c.st.Calls.announce(c.st.Reply.Turn) // before dropSuspension, which may end calls
	c.dropSuspension()
	c.st.untold(&c.opts)
	if r := &st.Reply; !running && r.Kind == ReplyAnswer && r.UserTurn != 0 && !c.st.partHeard() {
		u := unanswered{Turn: r.UserTurn, Text: c.st.History.utteranceText(r.UserTurn), Began: r.Began, Fate: fateTaken}
		switch at, there := st.History.placeOf(r.UserTurn); {
		case r.unreadWords():
			u.Fate = fateUnread
		case there && st.History[at].Unwritten != 0:
			u.Fate = fateCutWords // the next session has not heard the sound
		}
		st.Conn.Unanswered = u
	}
	if !running && st.Reply.Turn != 0 && c.st.partHeard() {
		st.leaveOff() // said after the connection is restored, unless the user speaks first
	}
	rest := st.Going
	if st.User.Words() != "" {
		rest = going{}
	}
	c.breakOff(TurnInterrupted)
	st.Going = rest
	st.Conn.Attempts = 0
	c.become(Reconnecting, cause)
	c.out.emit(SaveContext{Reason: string(cause)})
	if st.Conn.Lost {
		c.out.emit(CloseConnection{})
	}
	c.st.arm(timers.ReconnectLimit, c.opts.Limits.Reconnect)
	c.st.scheduleReconnect(&c.opts)
}

// breakOff ends the reply and the user's turn because of a fault or a lost connection. It
// keeps what the user said.
func (c *Conversation) breakOff(how TurnEventType) {
	st := &c.st
	c.cancelReply(how)
	c.st.Barge.Reset()
	c.st.keepWords(&c.out, &c.opts, &c.ear)
	st.Floor.Speaking, st.Floor.Barged = false, 0
	st.Going = going{}
	c.st.disarm(timers.Grace)
}

// scheduleReconnect arms the timer of the next attempt, if any attempt is left.
func (s *State) scheduleReconnect(o *Options) {
	if n := s.Conn.Attempts; n < len(o.Retry.Reconnect) {
		s.arm(timers.Reconnect, o.Retry.Reconnect[n])
	}
}

func (s *State) attemptReconnect(out *Output, o *Options) {
	s.Conn.Attempts++
	out.emit(Reconnect{Attempt: s.Conn.Attempts})
	s.scheduleReconnect(o)
}

func (c *Conversation) handleConnectionRestored() {
	st := &c.st
	switch {
	case st.Shaky():
		c.st.disarm(timers.Grace)
		c.out.notify(LevelInfo, "connection.restored")
	case st.Phase == Reconnecting:
		st.Conn.Lost = false
		c.restored(causeConnectionRestored)
	case st.Phase == Faulted:
		st.Conn.Lost = false // recoverFromFault need not reconnect
	default:
		// The connection was not lost.
	}
}

// restored continues the conversation. It assumes that there is a session and a working
// audio path: the driver has restored both before it reports a restored connection (seed
// 001, 4.8, steps 1 to 4).
func (c *Conversation) restored(cause Cause) {
	st := &c.st
	if !st.Session.Alive() {
		c.st.sessionLives(&c.opts, "")
	}
	st.Session.Audio = true
	st.Conn.Lost, st.Conn.Attempts = false, 0
	c.out.emit(RestoreContext{})
	if st.BreakerOpen() {
		// The connection is restored, but the circuit breaker is still open.
		c.become(Faulted, causeBreakerOpen)
		return
	}
	c.out.emit(Cue{Code: "reconnected", Text: c.phrases.Text("reconnected")})
	c.become(ListeningReady, cause)
}

// resumeUnanswered asks again for the answer of the unanswered turn: its request was
// cancelled with the reply. If the words of the turn are incomplete, the agent asks the
// user to repeat them, because half a sentence may mean anything.
func (c *Conversation) resumeUnanswered() {
	u := c.st.Conn.Unanswered.take()
	c.st.Going = going{}
	if u.cut() {
		c.st.Pending.Apology = "" // apology.cut takes its place
		c.say(ReplyNotice, c.phrases.Text("apology.cut"), "apology.cut", causeResumed)
		return
	}
	c.st.openReply(&c.out, ReplyAnswer, u.Turn)
	c.st.Reply.Began = u.Began
	c.become(Understanding, causeResumed)
	if c.opts.Agent != nil && u.Fate == fateTaken {
		c.followDialogue(c.opts.Agent.Repeat(c.st.flows(), c.st.Now), "resumed")
		return
	}
	c.ask(RequestResumed, u.Text, 1, "resumed")
}

func (c *Conversation) handleReconnectFailed(e ReconnectFailed) {
	if c.st.Phase != Reconnecting {
		return
	}
	if e.Retryable && c.st.Conn.Attempts < len(c.opts.Retry.Reconnect) {
		return // the timer of the next attempt is armed
	}
	c.fault(codeReconnect, false, causeReconnectFailed)
}
