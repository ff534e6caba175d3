package conv

import "time"

// This file: how the agent's turn ends, is taken back, or is held and let go.
// DESIGN rule 8; seed 001, 4.4.

// maybeEndReply ends a reply that has nothing more to say or to play.
func (c *Conversation) maybeEndReply(cause string) {
	r := &c.st.Reply
	if !r.Done || r.Held || r.Voiced || r.Earlier || c.st.Playout.Playing {
		return
	}
	c.endReply(TurnCompleted)
	c.st.Floor.Barged = 0
	c.become(ListeningReady, cause)
}

// endReply gives the agent's turn its last event and its place in the history.
func (c *Conversation) endReply(how TurnEventType) {
	r := &c.st.Reply
	if r.Turn == 0 {
		return
	}
	if how != TurnCompleted || c.st.Playout.Turn == r.Turn && !r.Silent {
		c.dropUnsaid()
	}
	c.sealPart()
	if how == TurnCompleted {
		c.st.Faults.Recoveries = 0
		c.consentAsked()
	} else {
		c.markHeard(r.Turn, r.Part, c.heardSoFar(), c.st.Playout.Text)
		if c.st.Playout.Playing {
			// Cut off, whatever the estimate allows: the exact measure is to come.
			c.eachPart(r.Turn, r.Part, func(it *Item) { it.Interrupted = it.Interrupted || it.Part == r.Part && !it.Cut })
		}
	}
	if c.opts.Agent != nil && r.Request != 0 && !c.consulting() {
		c.opts.Agent.Answered(c.flows(), c.st.Now, c.agentText(r.Turn))
	}
	if how == TurnInterrupted && !c.partHeard() {
		c.untoldNews() // the user goes first
	}
	c.st.Pending.Telling, c.st.Pending.Announcing = nil, nil
	if r.Voiced || r.Earlier || c.st.Playout.Turn == r.Turn {
		c.st.Said, c.st.SaidCut = r.Text, how != TurnCompleted
	}
	c.st.Over = UserTurn{}
	c.out.Turns = append(c.out.Turns, TurnEvent{
		Type: how, Turn: r.Turn, Role: RoleAgent, Kind: r.Kind, Duration: c.st.Now.Sub(r.Started), At: c.st.Now,
	})
	for i := range c.st.Calls {
		if c.st.Calls[i].Turn == r.Turn {
			c.st.Calls[i].Background = true
		}
	}
	c.disarm(TimerTry, TimerProcessing)
	*r = Reply{}
	p := &c.st.Playout
	p.Playing, p.Ducked, p.Paused = false, false, false
	c.st.Barge.Reset()
}

// dropUnsaid takes back what the voice was never given: it was not said.
func (c *Conversation) dropUnsaid() {
	r := &c.st.Reply
	r.Text = r.Text[:len(r.Text)-min(len(r.Unsaid), len(r.Text)-r.Sealed)]
	r.Unsaid = ""
}

// cancelReply takes the reply back: its context is cancelled, its audio
// dropped. Calls that were held never run; calls that run go on, and their
// results are kept.
func (c *Conversation) cancelReply(how TurnEventType) {
	r := &c.st.Reply
	if r.Turn == 0 {
		return
	}
	c.unadvised()
	c.emit(CancelTurn{Turn: r.Turn})
	if r.Voiced || r.Earlier || c.st.Playout.Playing {
		c.emit(FlushPlayout{Turn: r.Turn, Heard: c.heardSoFar()})
	}
	c.dropUnsaid()
	c.sealPart()
	for i := 0; i < len(c.st.Calls); {
		if c.st.Calls[i].Turn == r.Turn && c.st.Calls[i].State == CallHeld {
			c.endCall(i, failedResult("CANCELLED", "the user went on before it ran", ""))
			continue
		}
		i++
	}
	c.endReply(how)
}

// cutAudio ends whatever the agent is doing.
func (c *Conversation) cutAudio(how TurnEventType) {
	if c.st.Reply.Turn != 0 {
		c.cancelReply(how)
	}
	c.st.Barge.Reset()
}

// stopHeldClock: a held reply that is complete, or waits for its tools, waits for
// the user alone, whose turn has bounds of its own.
func (c *Conversation) stopHeldClock() {
	if r := &c.st.Reply; r.Held && (r.Done || c.callsHeld()) {
		c.disarm(TimerTry, TimerProcessing)
	}
}

// releaseReply lets a held reply go on: the voice brought no words.
func (c *Conversation) releaseReply(cause string) {
	r := &c.st.Reply
	r.Held = false
	c.resumePlayout()
	if r.Owed {
		r.Owed = false
		if !c.startHeldCalls(cause) { // whose results lead to the request as well
			c.request(RequestToolResult, "")
		}
		return
	}
	switch {
	case c.consulting() && r.Advised:
		c.followAdvice(cause)
		return
	case c.consulting():
		return // Understanding: the advice is on its way.
	case c.st.Playout.Playing && c.st.Playout.Part == r.Part:
		c.disarm(TimerTry, TimerProcessing)
		c.become(Speaking, cause)
		c.armStall()
	case r.Answered && !r.Retrying:
		c.become(Generating, cause)
		c.arm(TimerProcessing, c.opts.Limits.Processing)
	case r.Requested:
		c.become(Waiting, cause)
	default:
		// Understanding: the request is on its way.
	}
	c.speakSentences(r.Done)
	c.closePart()
	if c.startHeldCalls(cause) {
		return
	}
	c.maybeEndReply(cause)
}

// unheard is what of the reply has not reached the ear.
func (c *Conversation) unheard() string {
	r := &c.st.Reply
	heard := heardPrefix(r.Text, c.heardSoFar(), c.st.Playout.Text)
	return squeeze(r.Text[len(heard):])
}

// partHeard reports whether the current part of the reply has begun to play.
func (c *Conversation) partHeard() bool {
	p, r := &c.st.Playout, &c.st.Reply
	return p.Turn == r.Turn && p.Part == r.Part && p.Part != 0
}

// heardSoFar is the best estimate of what has been heard of the current turn:
// the last report, and the pacer's clock since.
func (c *Conversation) heardSoFar() time.Duration {
	p := &c.st.Playout
	if p.Turn != c.st.Reply.Turn {
		return 0
	}
	if !p.Playing || p.Paused || c.st.Phase == Suspended {
		return p.Heard
	}
	return p.Heard + c.st.Now.Sub(p.At)
}
