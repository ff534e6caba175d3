package conv

import "time"

// This file: what the playout reports. History holds what was heard (seed 001,
// 4.4; DESIGN rule 8).

// stalePlayout reports a fact about audio that is no longer wanted.
func (c *Conversation) stalePlayout(number int) bool {
	switch c.st.Phase {
	case Idle, Preparing, ListeningReady, Interrupted, Reconnecting, Faulted, Terminating:
		return true
	case ListeningCapturing:
		if !c.st.Reply.Held {
			return true
		}
	default:
	}
	if number != 0 && number != c.st.Reply.Turn {
		return true
	}
	if c.consulting() && !c.st.Reply.Earlier {
		return true // nothing of the reply is there
	}
	return c.st.Reply.Turn == 0 && !c.replyExpected()
}

// staleFlush reports an answer to a flush that nobody can use: nothing of its
// turn in the history was cut off.
func (c *Conversation) staleFlush(e PlayoutFlushed) bool {
	for i := range c.st.History {
		it := &c.st.History[i]
		if it.Turn == e.Turn && it.Role == RoleAgent && (it.Interrupted || it.Cut) {
			return false
		}
	}
	return true
}

func (c *Conversation) handlePlayoutStarted(e PlayoutStarted) {
	c.adoptReply()
	st := &c.st
	p := &st.Playout
	if p.Turn != st.Reply.Turn {
		*p = Playout{Turn: st.Reply.Turn}
	}
	part := e.Part
	switch {
	case c.consulting():
		part = st.Reply.Part - 1 // what was said before the tool: nothing else is there
	case part == 0:
		part = st.Reply.Part
	}
	p.Part, p.Playing, p.At = part, true, c.st.Now
	st.Reply.Voiced = st.Reply.Voiced || part == st.Reply.Part
	st.Floor.Barged = 0
	st.DeadAir.AgentSpoke()
	if st.Reply.Held {
		return // It played for a moment before the pause took effect.
	}
	switch st.Phase {
	case Understanding, Waiting, Generating:
		if part < st.Reply.Part {
			return // the announcement before a tool, late; the answer comes behind it
		}
		c.disarm(TimerTry, TimerProcessing)
		c.become(Speaking, c.event)
		c.armStall()
		if st.Floor.Speaking {
			// A voice that is heard still is one that is heard now.
			st.Floor.Overlap = true
			c.speechOverAgent(c.event)
		}
	default:
		// Speaking: known. While a tool runs the phase is the tool's.
	}
}

// notePlayout keeps the heard ledger's last report.
func (c *Conversation) notePlayout(heard time.Duration, text string) {
	p := &c.st.Playout
	if p.Turn != c.st.Reply.Turn {
		return // No op. Nothing of this turn has started to play.
	}
	if heard > p.Heard {
		p.Heard = heard
	}
	if len(text) > len(p.Text) {
		p.Text = text
	}
	p.At = c.st.Now
	c.hearReadBack()
	if c.st.Phase == Speaking {
		c.arm(TimerPlayout, c.opts.Limits.PlayoutStall)
	}
}

func (c *Conversation) handlePlayoutFinished(e PlayoutFinished) {
	if e.Heard == 0 {
		e.Heard = c.heardSoFar() // it cannot tell
	}
	c.notePlayout(e.Heard, e.Text)
	st := &c.st
	p := &st.Playout
	if !p.Playing || e.Part != 0 && e.Part < p.Part {
		return // No op. It had not started, or was told before.
	}
	p.Playing, p.Ducked, p.Paused = false, false, false
	c.partPlayed(p.Part)
	switch {
	case st.Phase == Speaking && p.Part == st.Reply.Part:
		if !st.Reply.Done {
			// The playout knows better than the mind that this was all.
			c.emit(CancelTurn{Turn: st.Reply.Turn})
		}
		c.overIsOver()
		c.endReply(TurnCompleted)
		c.become(ListeningReady, "playout.finished")
	case p.Part == st.Reply.Part && st.Reply.Held && st.Reply.Done && !c.callsHeld():
		// The last of it played before the pause took effect: nothing is left to
		// hold back.
		c.endReply(TurnCompleted)
	default:
		c.announcementEnded(p.Part)
	}
}

// announcementEnded: what was said before a tool has played to its end, or what
// of a held reply was on its way.
func (c *Conversation) announcementEnded(part int) {
	r := &c.st.Reply
	// It was heard to its end, however long the estimate would have it last.
	c.measured(r.Turn, part)
	r.Earlier = false
	r.Voiced = r.Voiced && part != r.Part
	c.overIsOver()
	if !c.thinking() {
		return
	}
	if c.st.Floor.Speaking || c.st.User.Words() != "" {
		c.speechWhileThinking(c.event)
		return
	}
	c.maybeEndReply(c.event)
}

// callsHeld reports whether the reply has calls that wait for the floor.
func (c *Conversation) callsHeld() bool {
	for i := range c.st.Calls {
		if call := &c.st.Calls[i]; call.State == CallHeld && call.Turn == c.st.Reply.Turn {
			return true
		}
	}
	return false
}

// holdPlayout keeps what there is of a held reply's audio from the ear.
func (c *Conversation) holdPlayout() {
	if r := &c.st.Reply; r.Voiced || r.Earlier || c.st.Playout.Playing {
		c.pausePlayout()
	}
}

// pausePlayout holds the current turn's audio where it is.
func (c *Conversation) pausePlayout() {
	p := &c.st.Playout
	if p.Paused {
		return
	}
	if p.Turn != c.st.Reply.Turn {
		*p = Playout{Turn: c.st.Reply.Turn}
	}
	p.Heard, p.At = c.heardSoFar(), c.st.Now
	p.Paused = true
	c.emit(PausePlayout{Turn: p.Turn})
}

// resumePlayout takes back what was done to the audio for a voice.
func (c *Conversation) resumePlayout() {
	p := &c.st.Playout
	if !p.Ducked && !p.Paused {
		return
	}
	if p.Paused {
		p.At = c.st.Now
	}
	p.Ducked, p.Paused = false, false
	c.emit(ResumePlayout{Turn: p.Turn})
}

// cutAnnouncement drops what plays while a tool runs: the user spoke over it.
func (c *Conversation) cutAnnouncement() {
	r, p := &c.st.Reply, &c.st.Playout
	heard, part := c.heardSoFar(), max(p.Part, 1)
	c.st.Said, c.st.SaidCut = r.Text, true
	c.emit(FlushPlayout{Turn: r.Turn, Part: part, Heard: heard})
	c.markHeard(r.Turn, part, heard, p.Text)
	c.measured(r.Turn, part)
	p.Heard, p.At = heard, c.st.Now
	p.Playing, p.Ducked, p.Paused = false, false, false
	if part == r.Part {
		r.Voiced = false
	}
	if b := &c.st.ReadBack; part >= b.Part {
		b.Turn = 0 // what is told of it from here on is of audio that was dropped
	}
	if c.asking() {
		c.st.Consent.open() // some of the question may have been dropped
	}
	r.Earlier = false
	c.st.Barge.Reset()
}

func (c *Conversation) handlePlayoutFailed(e PlayoutFailed) {
	code := e.Code
	if code == "" {
		code = "PLAYBACK_ERROR"
	}
	if c.st.Reply.Held {
		c.notify(LevelWarning, "reply.failed")
		c.cancelReply(TurnFailed)
		return
	}
	c.fault(code, false, "playout.failed")
}

// handlePlayoutFlushed corrects the history of a turn that was cut off.
func (c *Conversation) handlePlayoutFlushed(e PlayoutFlushed) {
	c.flushedReadBack(e)
	part := e.Part
	if part == 0 {
		for i := range c.st.History {
			if it := &c.st.History[i]; it.Turn == e.Turn && it.Role == RoleAgent && (it.Interrupted || it.Cut) {
				part = it.Part
			}
		}
	}
	var cut []*Item
	c.eachPart(e.Turn, part, func(it *Item) {
		if it.Cut && it.Part == part {
			it.Cut = false // measured anew
			cut = append(cut, it)
		}
	})
	c.markHeard(e.Turn, part, e.Heard, e.Text)
	for _, it := range cut {
		it.Cut = true
	}
	if p := &c.st.Playout; p.Turn == e.Turn && len(cut) > 0 {
		p.Heard, p.Text = e.Heard, e.Text
	}
}
