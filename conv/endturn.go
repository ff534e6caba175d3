package conv

// This file: the end of the user's turn and what follows from it. Seed 000,
// REQ-004, AC-002, INT-005.

func (c *Conversation) handleTurnEnded(e TurnEnded) {
	c.st.Floor.noteUtterance(e.Utterance)
	speaking := e.Cause == EndMaxDuration && c.st.Floor.Speaking
	switch c.st.Phase {
	case ListeningReady:
		if e.Cause == EndManual {
			// A commit without a detected voice: the recognizer may have words.
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
			return // what is said over the agent has no end of turn; or it has ended
		}
		if u := &c.st.User; u.Words() != "" {
			if u.Partial != "" && !u.Ended {
				c.out.emit(FinalizeTranscript{Turn: u.Turn}) // who waits to be asked is asked
			}
			u.Ended = true
		}
		c.st.Floor.Speaking = speaking
	default:
		// The user has no open turn.
	}
}

// endTurn ends the user's turn. stillSpeaking is true only when the turn was
// cut at its longest duration.
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
	wait := c.opts.Limits.FinalNoWords
	if u.Partial != "" {
		wait = c.opts.Limits.FinalWords
	}
	c.st.arm(TimerFinal, wait)
}

// commit turns the user's words into a request, exactly once (AC-002, INT-005).
func (c *Conversation) commit(cause Cause) {
	c.st.disarm(TimerFinal)
	u := c.st.User
	text := u.Words()
	if text == "" {
		c.nothingSaid(cause)
		return
	}
	if c.st.Reply.Turn != 0 {
		c.cancelReply(TurnInterrupted) // it was held, and words have come
	}
	p := &c.st.Pending
	p.Resume, p.Ending, p.Apology = "", false, ""
	before := ""
	if waits := &c.st.Conn.Unanswered; c.opts.Agent != nil {
		if before = waits.unread(); before != "" { // a model reads it in the history, a dialogue does not
			u.Began = waits.Began
		}
	}
	// The history has it; it is answered with this turn.
	c.st.Conn.Unanswered.take()
	c.st.DeadAir.UserActive(c.st.Now)
	c.st.addItem(&c.opts, Item{Turn: u.Turn, Role: RoleUser, Text: c.st.written(&c.opts, text)})
	c.st.Consent.answered(&c.ear, u.Turn, text, u.Began)
	c.st.Floor.noteTail(u, u.Partial != "")
	c.st.closeUserTurn(&c.out, TurnCompleted)
	if c.st.Rules.ListenOnly && cause != causeUserText {
		c.st.Floor.Barged = 0
		c.become(ListeningReady, cause)
		return
	}
	c.st.openReply(&c.out, ReplyAnswer, u.Turn)
	c.st.Reply.Began = u.Began
	c.ask(RequestUtterance, joinWords(before, text), u.Confidence, cause)
}

// nothingSaid: the user's turn held no words. A held reply goes on; else the
// machine listens again. A voice that said nothing in all that time is a noise.
func (c *Conversation) nothingSaid(cause Cause) {
	c.st.Floor.Speaking = false
	c.st.closeUserTurn(&c.out, TurnAbandoned)
	if c.st.Reply.Turn != 0 {
		c.releaseReply(cause)
		return
	}
	c.st.Floor.Barged = 0
	c.become(ListeningReady, cause)
}

// keepWords saves what the user said, and nobody has answered, from a fault or
// a lost connection: it is answered afterwards if its words are final, or become so.
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
		*waits = Unanswered{Turn: u.Turn, Text: words, Began: u.Began}
		switch {
		case u.Partial == "":
		case s.Conn.Lost && s.Floor.Speaking:
			waits.Fate = FateCutVoice
		default:
			waits.Fate = FateCutWords
		}
	}
	s.Floor.noteTail(u, u.Partial != "")
	s.closeUserTurn(out, TurnCompleted)
}
