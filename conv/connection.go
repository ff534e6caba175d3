package conv

import "time"

// This file: lost connections. Seed 000, REQ-009, PER-003; seed 001, 4.8 and section 6.

// codeReconnect is the fault of a connection that could not be restored.
const codeReconnect = "RECONNECT_FAILED"

// Connection is the state of the leg as far as it is disturbed. A connection that may
// come back by itself is shaky, see [State.Shaky]; the package documentation has its
// life.
type Connection struct {
	Lost     bool // it is gone, and not the session alone
	Attempts int  // Reconnecting: attempts made to restore it
	// Unanswered is the user's turn whose answer the loss, or a fault, cut off.
	Unanswered Unanswered
}

// Unanswered is a turn of the user that still waits for its answer.
type Unanswered struct {
	Turn  int // zero: none waits
	Text  string
	Began time.Time // when the voice of its words began
	Fate  Fate
}

// Fate says how much of a turn without an answer is known, and to whom.
type Fate string

// The values of [Fate].
const (
	FateUnread   Fate = ""      // its words are complete, and nobody has taken them in
	FateTaken    Fate = "taken" // the dialogue has taken them in; its answer alone was lost
	FateCutWords Fate = "words" // the final words are missing; they may still come
	FateCutVoice Fate = "voice" // the user was cut off while speaking: half a sentence is known
)

// cut reports whether nobody knows what the user said: they are asked to say it again.
func (u *Unanswered) cut() bool { return u.Fate == FateCutWords || u.Fate == FateCutVoice }

// unread is the text of the turn if nobody has taken it in and it is complete.
func (u *Unanswered) unread() string {
	if u.Turn == 0 || u.Fate != FateUnread {
		return ""
	}
	return u.Text
}

// completed takes the final words of a turn that was cut off without them.
func (u *Unanswered) completed(text string) {
	u.Text = text
	if u.Fate == FateCutWords {
		u.Fate = FateUnread
	}
}

// take removes the turn: it is answered now, or nobody wants its answer any more.
func (u *Unanswered) take() Unanswered {
	taken := *u
	*u = Unanswered{}
	return taken
}

// Shaky reports whether the connection is lost and may come back by itself: until
// the grace for that is over.
func (s *State) Shaky() bool { return s.Timers.armed(TimerGrace) }

// handleConnectionLost reconnects, after a grace if the connection may come
// back by itself (seed 001, section 6: ICE disconnected).
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
			c.st.arm(TimerGrace, c.opts.Limits.Grace)
			c.out.notify(LevelInfo, "connection.shaky")
		}
		return
	}
	c.st.Conn.Lost = true
	c.becomeReconnecting(causeConnectionLost)
}

// becomeReconnecting keeps the context and begins to restore connection and
// session (seed 001, 4.8).
func (c *Conversation) becomeReconnecting(cause Cause) {
	st := &c.st
	running := c.st.Calls.announce(c.st.Reply.Turn) // before their results, if those came in meanwhile
	c.dropSuspension()
	c.st.untold(&c.opts)
	if r := &st.Reply; !running && r.Kind == ReplyAnswer && r.UserTurn != 0 && !c.st.partHeard() {
		u := Unanswered{Turn: r.UserTurn, Text: c.st.utteranceText(r.UserTurn), Began: r.Began, Fate: FateTaken}
		if r.unreadWords() {
			u.Fate = FateUnread
		}
		st.Conn.Unanswered = u
	}
	rest := ""
	if !running && st.Reply.Turn != 0 && c.st.partHeard() {
		rest = c.st.unheard() // it is said when the line is back, unless the user says something first
	}
	c.st.asksLater(rest)
	c.breakOff(TurnInterrupted)
	st.Pending.Resume = rest
	st.Conn.Attempts = 0
	c.become(Reconnecting, cause)
	c.out.emit(SaveContext{Reason: string(cause)})
	if st.Conn.Lost {
		c.out.emit(CloseConnection{})
	}
	c.st.arm(TimerReconnectLimit, c.opts.Limits.Reconnect)
	c.st.scheduleReconnect(&c.opts)
}

// breakOff ends what goes on, for a fault or a lost connection; what the user said
// is kept.
func (c *Conversation) breakOff(how TurnEventType) {
	st := &c.st
	c.cancelReply(how)
	c.st.Barge.Reset()
	c.st.keepWords(&c.out, &c.opts, &c.ear)
	st.Floor.Speaking, st.Floor.Barged = false, 0
	st.Pending.Resume = ""
	c.st.disarm(TimerGrace)
}

// scheduleReconnect arms the next attempt, if there is one.
func (s *State) scheduleReconnect(o *Options) {
	if n := s.Conn.Attempts; n < len(o.Retry.Reconnect) {
		s.arm(TimerReconnect, o.Retry.Reconnect[n])
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
		c.st.disarm(TimerGrace)
		c.out.notify(LevelInfo, "connection.restored")
	case st.Phase == Reconnecting:
		st.Conn.Lost = false
		c.restored(causeConnectionRestored)
	case st.Phase == Faulted:
		st.Conn.Lost = false // the recovery finds it there
	default:
		// It was not lost.
	}
}

// restored goes on with the conversation. Who reports a restored connection
// has a session and a working audio path (seed 001, 4.8, steps 1 to 4).
func (c *Conversation) restored(cause Cause) {
	st := &c.st
	if !st.Session.Alive() {
		c.st.sessionLives(&c.opts, "")
	}
	st.Session.Audio = true
	st.Conn.Lost, st.Conn.Attempts = false, 0
	c.out.emit(RestoreContext{})
	if st.BreakerOpen() {
		// The line is back, what kept failing has not been given its rest.
		c.become(Faulted, causeBreakerOpen)
		return
	}
	c.out.emit(Cue{Code: "reconnected", Text: c.phrases.Text("reconnected")})
	c.become(ListeningReady, cause)
}

// resumeUnanswered asks again for the answer that the loss cut off: the old
// request died with its turn. Where the words were cut off, the user is asked to
// say them again: half a sentence may mean anything.
func (c *Conversation) resumeUnanswered() {
	u := c.st.Conn.Unanswered.take()
	if u.cut() {
		c.st.Pending.Apology = "" // it asks for the same
		c.say(ReplyNotice, c.phrases.Text("apology.cut"), "apology.cut", causeResumed)
		return
	}
	c.st.openReply(&c.out, ReplyAnswer, u.Turn)
	c.st.Reply.Began = u.Began
	c.become(Understanding, causeResumed)
	if c.opts.Agent != nil && u.Fate == FateTaken {
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
		return // The next attempt is due already.
	}
	c.fault(codeReconnect, false, causeReconnectFailed)
}
