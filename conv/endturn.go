package conv

import (
	"github.com/hocketvoice/hocket/internal/timers"
	"github.com/hocketvoice/hocket/turn"
)

// This file ends the user's turn and begins the reply to it. Source: seed 000, REQ-004, AC-002,
// INT-005.

func (c *Conversation) handleTurnEnded(e TurnEnded) {
	c.st.Floor.noteUtterance(e.Utterance)
	speaking := e.Cause == EndMaxDuration && c.st.Floor.Speaking
	switch c.st.Phase {
	case ListeningReady:
		if e.Cause == EndManual {
			// No voice was detected, but the recognizer may have words.
			c.takeFloor(causeTurnEnded)
			c.endTurn(causeTurnEnded, false)
		}
	case ListeningCapturing:
		c.endTurn(causeTurnEnded, speaking)
	case Interrupted:
		c.st.User.Ended = true
		c.st.Floor.Speaking = speaking
	case ToolRunning, Delegated, Understanding, Generating, Waiting:
		if c.st.Audible() || c.st.awaitingFinal() {
			return // words over the agent's audio do not end a turn; or the turn has already ended
		}
		if u := &c.st.User; u.Words() != "" {
			if u.Partial != "" && !u.Ended {
				c.out.emit(FinalizeTranscript{Turn: u.Turn})
			}
			u.Ended = true
		}
		c.st.Floor.Speaking = speaking
	default:
		// The user has no open turn in the other phases.
	}
}

// noteAnswer tells the driver how far the words of the user's turn answer what the agent expects.
// before contains the words before this event. If the answer was undecided with those and still
// is, noteAnswer emits nothing.
func (c *Conversation) noteAnswer(before string) {
	if c.opts.Endpoint != turn.PolicyAuto || c.opts.Agent == nil || c.st.Phase != ListeningCapturing {
		return
	}
	read := func(words string) turn.Completeness {
		return c.opts.Agent.Completeness(&c.st.Dialogue, c.st.Now, words)
	}
	if now := read(c.st.User.Words()); now != turn.Undecided || read(before) != turn.Undecided {
		c.out.emit(NoteAnswer{Utterance: c.st.Floor.Utterance, Answer: now})
	}
}

// endTurn ends the user's turn. It commits the turn if its transcript is final, and else waits
// for the final transcript. stillSpeaking is true only if the turn was cut at its maximum
// duration.
func (c *Conversation) endTurn(cause Cause, stillSpeaking bool) {
	u := &c.st.User
	u.Ended = true
	c.st.Floor.Speaking = stillSpeaking && c.st.Floor.Speaking
	c.st.Floor.Pushed = false
	final := u.Partial == "" && u.Text != ""
	none := c.event == causeSttFinal && u.Words() == ""
	c.become(Understanding, cause)
	if final || none {
		c.commit(cause)
		return
	}
	c.out.emit(FinalizeTranscript{Turn: u.Turn})
	if c.answersSound() {
		c.answerSound(cause)
		return
	}
	wait := c.opts.Limits.FinalNoWords
	if u.Partial != "" {
		wait = c.opts.Limits.FinalWords
	}
	c.st.arm(timers.Final, wait)
}

// commit answers the user's turn if it has words.
func (c *Conversation) commit(cause Cause) {
	c.st.disarm(timers.Final)
	u := c.st.User
	text := u.Words()
	if text == "" || c.untrusted(text, &u, cause) {
		c.nothingSaid(cause)
		return
	}
	c.answer(cause)
}

// answer answers the user's turn, exactly once (AC-002, INT-005): it writes the words to the
// history, opens the reply and asks for it.
func (c *Conversation) answer(cause Cause) {
	u := c.st.User
	text := u.Words()
	if c.st.Reply.Turn != 0 {
		c.cancelReply(TurnInterrupted) // a held reply is taken back when the user has said words
	}
	p := &c.st.Pending
	p.Ending, p.Apology = false, ""
	before := ""
	if waits := &c.st.Conn.Unanswered; c.opts.Agent != nil {
		if before = waits.unread(); before != "" { // a model reads it in the history, but the dialogue does not
			u.Began = waits.Began
		}
	}
	// The unanswered turn is in the history and is answered together with this one.
	c.st.Conn.Unanswered.take()
	c.st.DeadAir.UserActive(c.st.Now)
	c.st.addItem(&c.opts, Item{Turn: u.Turn, Role: RoleUser, Text: c.st.written(&c.opts, text)})
	c.st.Consent.answered(&c.ear, u.Turn, text, u.Began)
	c.st.Floor.noteTail(u, u.Partial != "")
	c.st.closeUserTurn(&c.out, TurnCompleted)
	if c.opts.Agent == nil || c.st.Rules.ListenOnly || cause == causeUserText {
		c.st.Going = going{} // otherwise ask decides
	}
	if c.st.Rules.ListenOnly && cause != causeUserText {
		c.st.Floor.Barged = 0
		c.become(ListeningReady, cause)
		return
	}
	c.st.openReply(&c.out, ReplyAnswer, u.Turn)
	c.st.Reply.Began = u.Began
	if words := joinWords(before, text); !c.waitForMore(words, u.Confidence, cause) {
		c.ask(RequestUtterance, words, u.Confidence, cause)
	}
}

// nothingSaid ends a turn of the user without words, or without words that count. It continues
// a reply that was held or cut off; without one, the machine listens again. A voice that has
// said no words by then counts as noise.
func (c *Conversation) nothingSaid(cause Cause) {
	c.st.Floor.Speaking = false
	c.st.closeUserTurn(&c.out, TurnAbandoned)
	if c.st.Reply.Turn != 0 {
		c.releaseReply(cause)
		return
	}
	c.st.Floor.Barged = 0
	if !c.st.Going.waits() {
		c.st.Going = going{Row: c.st.Going.Row}
	}
	c.become(ListeningReady, cause)
}

// keepWords ends the user's turn at a fault or a lost connection and keeps its words as the
// unanswered turn. The turn is answered afterwards if its words are final or become so.
func (s *State) keepWords(out *Output, o *Options, e *ear) {
	words := s.User.Words()
	if words == "" {
		s.closeUserTurn(out, TurnAbandoned)
		return
	}
	s.openUserTurn(out)
	u := s.User
	s.addItem(o, Item{Turn: u.Turn, Role: RoleUser, Text: s.written(o, words)})
	s.Consent.answered(e, u.Turn, words, u.Began)
	if !s.Rules.ListenOnly {
		waits := &s.Conn.Unanswered
		if before := waits.unread(); before != "" {
			words, u.Began = joinWords(before, words), waits.Began
		}
		*waits = unanswered{Turn: u.Turn, Text: words, Began: u.Began}
		switch {
		case u.Partial == "":
		case s.Conn.Lost && s.Floor.Speaking:
			waits.Fate = fateCutVoice
		default:
			waits.Fate = fateCutWords
		}
	}
	s.Floor.noteTail(u, u.Partial != "")
	s.closeUserTurn(out, TurnCompleted)
}
