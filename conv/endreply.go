package conv

import (
	"time"

	"github.com/hocketvoice/hocket/internal/timers"
)

// This file ends the agent's turn, takes it back, holds it and releases it. Sources: DESIGN
// rule 8; seed 001, 4.4.

// maybeEndReply ends the reply if nothing of it is left to say or to play.
func (c *Conversation) maybeEndReply(cause Cause) {
	r := &c.st.Reply
	if !r.over() || c.st.Playout.Playing {
		return
	}
	c.endReply(TurnCompleted)
	c.st.Floor.Barged = 0
	c.become(ListeningReady, cause)
}

// endReply ends the agent's turn: it writes the rest of the turn to the history and emits the
// last turn event.
func (c *Conversation) endReply(how TurnEventType) {
	r := &c.st.Reply
	if r.Turn == 0 {
		return
	}
	if how != TurnCompleted || c.st.Playout.Turn == r.Turn && !r.Silent {
		c.st.Reply.dropUnsaid()
	}
	c.st.sealPart(&c.opts)
	if how == TurnCompleted {
		c.st.Faults.Recoveries = 0
		c.st.Going = going{}
		c.st.Consent.heard(r, c.st.Now)
	} else {
		c.st.markCutOff()
	}
	if c.opts.Agent != nil && r.Request != 0 && !c.st.Reply.consulting() {
		c.opts.Agent.Answered(c.st.flows(), c.st.Now, c.st.History.agentText(r.Turn, r.Part))
	}
	if how == TurnInterrupted && !c.st.partHeard() {
		c.st.Pending.untoldNews(c.opts.Limits.Queue) // told again after the user's turn
	}
	c.st.Pending.told()
	if r.sounding() || c.st.Playout.Turn == r.Turn {
		c.st.Said, c.st.SaidCut = r.Text, how != TurnCompleted
	}
	c.st.Over = userTurn{}
	c.out.Turns = append(c.out.Turns, TurnEvent{
		Type: how, Turn: r.Turn, Role: RoleAgent, Kind: r.Kind, Duration: c.st.Now.Sub(r.Started), At: c.st.Now,
	})
	c.st.Calls.leave(r.Turn)
	c.st.disarm(timers.Try, timers.Processing)
	*r = reply{}
	c.st.Playout.stopped()
	c.st.Barge.Reset()
}

// markCutOff writes down what was heard of a reply that ends early.
func (s *State) markCutOff() {
	r := &s.Reply
	s.changed = true
	s.History.markHeard(r.Turn, r.Part, s.heardSoFar(), s.Playout.Text)
	if s.Playout.Playing {
		// The part is cut off even if by the estimate all of it was heard. The exact measure
		// follows (PlayoutFlushed).
		s.History.eachPart(r.Turn, r.Part, func(it *Item) { it.Interrupted = it.Interrupted || it.Part == r.Part && !it.Cut })
	}
}

// cancelReply takes the reply back: it cancels the request and the synthesis and drops the
// audio. Calls that were held never run. Running calls continue, and their results are kept.
func (c *Conversation) cancelReply(how TurnEventType) {
	r := &c.st.Reply
	if r.Turn == 0 {
		return
	}
	c.unread()
	c.out.emit(CancelTurn{Turn: r.Turn})
	if r.sounding() || c.st.Playout.Playing {
		c.out.emit(FlushPlayout{Turn: r.Turn, Heard: c.st.heardSoFar()})
	}
	c.st.Reply.dropUnsaid()
	c.st.sealPart(&c.opts)
	for i := 0; i < len(c.st.Calls); {
		if c.st.Calls[i].Turn == r.Turn && c.st.Calls[i].Held() {
			c.endCall(i, failedResult("CANCELLED", "the user went on before it ran", ""))
			continue
		}
		i++
	}
	c.endReply(how)
}

// stopHeldClock disarms the timers of a held reply that is complete or has calls to start.
// Such a reply waits only for the user, whose turn has its own time limits.
func (s *State) stopHeldClock() {
	if r := &s.Reply; r.Held() && (r.Complete() || s.Calls.held(s.Reply.Turn)) {
		s.disarm(timers.Try, timers.Processing)
	}
}

// releaseReply continues a held reply, because the voice that was heard said no words.
func (c *Conversation) releaseReply(cause Cause) {
	r := &c.st.Reply
	owed := r.Hold == holdResults
	r.Hold = holdNone
	c.st.Playout.resume(&c.out, c.st.Now)
	if owed {
		if !c.startHeldCalls(cause) { // the results of these calls also lead to the request
			c.st.request(&c.out, &c.opts, RequestToolResult, "")
		}
		return
	}
	switch {
	case r.agrees():
		c.giveYes(cause)
		return
	case r.Advised():
		c.followAdvice(cause)
		return
	case r.consulting():
		return // the phase stays Understanding until the advice comes
	case c.st.Playout.Playing && c.st.Playout.Part == r.Part:
		c.st.disarm(timers.Try, timers.Processing)
		c.become(Speaking, cause)
		c.st.armStall(&c.opts)
	case r.answered():
		c.become(Generating, cause)
		c.st.arm(timers.Processing, c.opts.Limits.Processing)
	case r.Requested:
		c.become(Waiting, cause)
	default:
		// The phase stays Understanding until the driver confirms the request.
	}
	if c.opts.SpeechToSpeech {
		c.st.Reply.speakWords(&c.out)
	}
	c.st.Reply.speakSentences(&c.out, r.Complete())
	c.st.Reply.close(&c.out)
	if c.startHeldCalls(cause) {
		return
	}
	c.maybeEndReply(cause)
}

// partHeard reports whether the current part of the reply has begun to play.
func (s *State) partHeard() bool {
	return s.Playout.plays(s.Reply.Turn, s.Reply.Part)
}

// heardSoFar estimates how long the user has heard the audio of the open reply. It returns 0
// if none of it has played.
func (s *State) heardSoFar() time.Duration {
	p := &s.Playout
	if p.Turn != s.Reply.Turn {
		return 0
	}
	if s.Phase == Suspended {
		return p.Heard // no audio plays during a suspension
	}
	return p.estimate(s.Now)
}
