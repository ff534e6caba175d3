package conv

import "time"

// This file: lost connections. Seed 000, REQ-009, PER-003; seed 001, 4.8 and section 6.

// codeReconnect is the fault of a connection that could not be restored.
const codeReconnect = "RECONNECT_FAILED"

// Connection is the leg's state as far as it is disturbed.
type Connection struct {
	Shaky    bool `json:"shaky"`    // lost, may come back by itself
	Lost     bool `json:"lost"`     // Reconnecting: the connection is gone
	Attempts int  `json:"attempts"` // Reconnecting: attempts made
	// Unanswered is the user's turn whose answer the loss cut off.
	Unanswered     int    `json:"unanswered"`
	UnansweredText string `json:"unanswered_text"`
	// Taken: the dialogue took the turn in; only its answer was lost.
	Taken bool      `json:"taken"`
	Began time.Time `json:"began,omitzero"` // when the voice of its words did
	// Cut says that the turn was cut off before its words were final. Nobody knows
	// what the user said: they are asked to say it again.
	Cut Cut `json:"cut,omitempty"`
}

// Cut says what of the user's turn was cut off.
type Cut string

// The ways to be cut off.
const (
	CutWords Cut = "words" // the final words: they may still come
	CutVoice Cut = "voice" // the voice itself: what is final of it is half a sentence
)

// owes notes that the answer to a turn of the user's was cut off.
func (n *Connection) owes(number int, text string, taken bool, began time.Time) {
	n.Unanswered, n.UnansweredText, n.Taken, n.Began, n.Cut = number, text, taken, began, ""
}

// unread are the words of a turn that nobody has taken in.
func (n *Connection) unread() string {
	if n.Unanswered == 0 || n.Taken || n.Cut != "" {
		return ""
	}
	return n.UnansweredText
}

// answered forgets it: the answer is made again, or nobody wants it any more.
func (n *Connection) answered() { n.owes(0, "", false, time.Time{}) }

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
		if !st.Conn.Shaky {
			st.Conn.Shaky = true
			c.st.arm(TimerGrace, c.opts.Limits.Grace)
			c.notify(LevelInfo, "connection.shaky")
		}
		return
	}
	c.lineLost("connection.lost")
}

// lineLost reconnects where the connection itself is gone, not the session alone.
func (c *Conversation) lineLost(cause string) {
	c.st.Conn.Lost = true
	c.becomeReconnecting(cause)
}

// becomeReconnecting keeps the context and begins to restore connection and
// session (seed 001, 4.8).
func (c *Conversation) becomeReconnecting(cause string) {
	st := &c.st
	running := c.st.announceLater() // before their results, if those came in meanwhile
	c.dropSuspension()
	c.untold()
	if r := &st.Reply; !running && r.Kind == ReplyAnswer && r.UserTurn != 0 && !c.st.partHeard() {
		st.Conn.owes(r.UserTurn, c.st.utteranceText(r.UserTurn), !c.st.Reply.unreadWords(), r.Began)
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
	c.emit(SaveContext{Reason: cause})
	if st.Conn.Lost {
		c.emit(CloseConnection{})
	}
	c.st.arm(TimerReconnectLimit, c.opts.Limits.Reconnect)
	c.scheduleReconnect()
}

// breakOff ends what goes on, for a fault or a lost connection; what the user said
// is kept.
func (c *Conversation) breakOff(how TurnEventType) {
	st := &c.st
	c.cutAudio(how)
	c.keepWords()
	st.Floor.Speaking, st.Floor.Barged = false, 0
	st.Pending.Resume = ""
	st.Conn.Shaky = false
	c.st.disarm(TimerGrace)
}

// scheduleReconnect arms the next attempt, if there is one.
func (c *Conversation) scheduleReconnect() {
	if n := c.st.Conn.Attempts; n < len(c.opts.Retry.Reconnect) {
		c.st.arm(TimerReconnect, c.opts.Retry.Reconnect[n])
	}
}

func (c *Conversation) attemptReconnect() {
	c.st.Conn.Attempts++
	c.emit(Reconnect{Attempt: c.st.Conn.Attempts})
	c.scheduleReconnect()
}

func (c *Conversation) handleConnectionRestored() {
	st := &c.st
	switch {
	case st.Conn.Shaky:
		st.Conn.Shaky = false
		c.st.disarm(TimerGrace)
		c.notify(LevelInfo, "connection.restored")
	case st.Phase == Reconnecting:
		st.Conn.Lost = false
		c.restored("connection.restored")
	case st.Phase == Faulted:
		st.Conn.Lost = false // the recovery finds it there
	default:
		// No op. It was not lost.
	}
}

// restored goes on with the conversation. Who reports a restored connection
// has a session and a working audio path (seed 001, 4.8, steps 1 to 4).
func (c *Conversation) restored(cause string) {
	st := &c.st
	if !st.Session.Alive {
		c.sessionLives("")
	}
	st.Session.Audio = true
	st.Conn.Lost, st.Conn.Attempts = false, 0
	c.emit(RestoreContext{})
	if st.Faults.BreakerOpen {
		// The line is back, what kept failing has not been given its rest.
		c.become(Faulted, "breaker.open")
		return
	}
	c.emit(Cue{Code: "reconnected", Text: c.phrase("reconnected")})
	c.become(ListeningReady, cause)
}

// resumeUnanswered asks again for the answer that the loss cut off: the old
// request died with its turn. Where the words were cut off, the user is asked to
// say them again: half a sentence may mean anything.
func (c *Conversation) resumeUnanswered() {
	conn := &c.st.Conn
	number, text, taken, cut, began := conn.Unanswered, conn.UnansweredText, conn.Taken, conn.Cut, conn.Began
	conn.answered()
	if cut != "" {
		c.st.Pending.Apology = "" // it asks for the same
		c.say(ReplyNotice, c.phrase("apology.cut"), "apology.cut", "resumed")
		return
	}
	c.openReply(ReplyAnswer, number)
	c.st.Reply.Began = began
	c.become(Understanding, "resumed")
	if c.opts.Agent != nil && taken {
		c.repeatFromDialogue()
		return
	}
	if c.opts.Agent != nil {
		c.answerFromDialogue(text, 1, "resumed")
		return
	}
	c.request(RequestResumed, text)
}

func (c *Conversation) handleReconnectFailed(e ReconnectFailed) {
	if c.st.Phase != Reconnecting {
		return
	}
	if e.Retryable && c.st.Conn.Attempts < len(c.opts.Retry.Reconnect) {
		return // The next attempt is due already.
	}
	c.fault(codeReconnect, false, "reconnect.failed")
}
