package conv

import (
	"fmt"
	"time"

	"github.com/hocketvoice/hocket/turn"
)

// This file: who has the floor. Seed 001, 4.2; seed 002; seed 004, features 1
// to 3.

// staleSpeech reports a fact about a stretch of speech, or a user turn, that is
// answered or given up.
func (s *State) staleSpeech(number, utterance int) bool {
	if utterance != 0 && utterance <= s.Floor.Closed {
		return true
	}
	return number != 0 && number != s.User.Turn
}

// profile is the barge-in policy for what the agent is doing now: the one that was
// set while the conversation runs, or the options' own.
func (s *State) profile(o *Options) turn.BargeInOptions {
	p := o.BargeIn.Reply
	switch {
	case !s.Audible():
		p = o.BargeIn.Thinking
	case s.Reply.Kind == ReplyGreeting:
		p = o.BargeIn.Greeting
	case s.Expect.ReadBack:
		p = o.BargeIn.ReadBack
	}
	if policy := s.Rules.BargeIn; policy != "" {
		p.Policy = policy
	}
	return p
}

// thinking reports whether a reply is being made.
func (s *State) thinking() bool {
	switch s.Phase {
	case Waiting, Generating:
		return true
	case Understanding:
		return !s.awaitingFinal()
	default:
		return false
	}
}

// awaitingFinal reports whether the user's turn has ended and its final
// transcript is not in: nothing has been asked for it.
func (s *State) awaitingFinal() bool {
	return s.Phase == Understanding && s.User.Turn != 0
}

// openUserTurn gives the user's turn its number, if it has none.
func (s *State) openUserTurn(out *Output) {
	u := &s.User
	if u.Turn != 0 {
		return
	}
	s.LastTurn++
	u.Turn, u.Started = s.LastTurn, s.Now
	out.Turns = append(out.Turns, TurnEvent{Type: TurnStarted, Turn: u.Turn, Role: RoleUser, At: s.Now})
}

// closeUserTurn gives the user's turn its last event and forgets its words.
func (s *State) closeUserTurn(out *Output, how TurnEventType) {
	u := &s.User
	if u.Turn != 0 {
		out.Turns = append(out.Turns, TurnEvent{
			Type: how, Turn: u.Turn, Role: RoleUser, Confidence: u.Confidence,
			Duration: s.Now.Sub(u.Started), At: s.Now,
		})
	}
	if f := &s.Floor; !f.Speaking {
		// A stretch of which no words came stays open: they may still come.
		f.Closed = max(f.Closed, f.Worded)
		f.Voice, f.VoiceOf = time.Time{}, 0
	}
	*u = UserTurn{}
}

func (c *Conversation) handleSpeechStarted(e SpeechStarted) {
	f := &c.st.Floor
	if c.st.Phase == Idle || c.st.Phase == Terminating {
		return
	}
	pushed := e.Source == SourcePushToTalk
	if c.opts.Endpoint == turn.PolicyManual && !pushed && !c.st.Audible() {
		return // Under this policy a button opens the turn, not a voice.
	}
	c.st.Floor.noteUtterance(e.Utterance)
	if f.Speaking && (f.Pushed || !pushed) {
		return // The event is repeated.
	}
	if !f.Speaking {
		f.Voice, f.VoiceOf = c.st.Now.Add(-e.Lag), e.Utterance
	}
	f.Speaking, f.Pushed = true, pushed
	f.Tail, f.TailOpen, f.Overlap = 0, 0, c.st.Audible()
	switch c.st.Phase {
	case ListeningReady:
		c.takeFloor(causeSpeechStarted)
	case ListeningCapturing:
		c.st.disarm(TimerEndpoint)
	case Understanding, Waiting, Generating, Speaking, ToolRunning, Delegated:
		switch {
		case c.st.Audible() && pushed:
			c.bargeIn(causeSpeechStarted) // a button is a decision
		case c.st.Audible():
			c.speechOverAgent(causeSpeechStarted)
		case c.st.Phase == Understanding || c.st.thinking():
			c.speechWhileThinking(causeSpeechStarted)
		}
	case Interrupted:
		f.BrokeIn = true
		c.st.openUserTurn(&c.out)
	default:
		// Preparing, Reconnecting, Faulted: heard when the microphone opens.
	}
}

// speechOverAgent: a voice is heard over the agent's.
func (c *Conversation) speechOverAgent(cause Cause) {
	if c.st.Barge.Quiet() {
		c.st.Over = UserTurn{} // what was let pass before does not belong to this
	}
	c.actOnBarge(c.st.Barge.SpeechStarted(c.st.profile(&c.opts), c.st.Now), cause)
}

// takeFloor gives the user the floor.
func (c *Conversation) takeFloor(cause Cause) {
	c.st.openUserTurn(&c.out)
	c.become(ListeningCapturing, cause)
	if !c.st.Floor.Speaking {
		c.st.armEndpoint(&c.opts)
	}
}

// speechWhileThinking: a voice is heard while the reply is being made. The user
// may go on talking, or it is a noise that must not lose the answer: the reply
// is held (seed 001, PROCESSING -> LISTENING).
func (c *Conversation) speechWhileThinking(cause Cause) {
	st := &c.st
	if c.st.awaitingFinal() {
		// Nothing is asked yet: the user goes on with the same turn.
		st.User.Ended = false
		c.become(ListeningCapturing, cause)
		return
	}
	if c.st.profile(&c.opts).Policy == turn.BargeInNone {
		return // The words are queued and answered after the reply.
	}
	st.Reply.Hold = HoldReply
	c.st.stopHeldClock()
	c.st.holdPlayout(&c.out)
	c.takeFloor(cause)
	if st.User.Words() != "" {
		c.cancelReply(TurnInterrupted)
	}
}

func (c *Conversation) handleSpeechStopped(e SpeechStopped) {
	f := &c.st.Floor
	c.st.Floor.noteUtterance(e.Utterance)
	if !f.Speaking {
		return // The event is repeated.
	}
	if c.opts.Endpoint == turn.PolicyManual && f.Pushed && e.Source.voice() {
		return // A pause to think: the button is still pressed.
	}
	f.Speaking, f.Pushed = false, false
	switch {
	case c.st.Phase == ListeningCapturing:
		c.st.armEndpoint(&c.opts)
	case c.st.Audible():
		c.actOnBarge(c.st.Barge.SpeechStopped(c.st.profile(&c.opts), c.st.Now), causeSpeechStopped)
		if c.st.Audible() && c.st.Over.Partial == "" {
			// Its last words are in: it was no interruption, and it is no input.
			c.st.Over = UserTurn{}
		}
	}
}

// armEndpoint bounds how long a silent user keeps the floor when nobody ends
// the turn: no turn may stall.
func (s *State) armEndpoint(o *Options) {
	if o.Endpoint == turn.PolicyManual && s.Floor.Pushed {
		return
	}
	if s.User.Words() == "" {
		s.arm(TimerEndpoint, o.Limits.NoTranscript)
		return
	}
	s.arm(TimerEndpoint, o.Limits.NoEndpoint)
}

// actOnBarge carries out what the barge-in policy decided.
func (c *Conversation) actOnBarge(a turn.Action, cause Cause) {
	st := &c.st
	switch a {
	case turn.None:
	case turn.Duck:
		st.Playout.duck(&c.out)
	case turn.Pause:
		c.st.pausePlayout(&c.out)
	case turn.Resume:
		c.st.Playout.resume(&c.out, c.st.Now)
		if !st.Floor.Speaking {
			st.Over = UserTurn{} // it was let pass
		}
	case turn.Stop:
		c.bargeIn(cause)
	default:
		panic(fmt.Sprintf("conv: unexpected barge-in action %v", a))
	}
}

// bargeIn: the user takes the floor from the agent's audio. What was said over
// it is the beginning of what the user says.
func (c *Conversation) bargeIn(cause Cause) {
	st := &c.st
	over := c.st.takeOver()
	switch st.Phase {
	case Speaking:
		st.User.Ended = over.Ended
		c.interrupt(cause, true)
	case ToolRunning, Delegated:
		// The tool runs on; only its announcement is cut off.
		c.st.cutAnnouncement(&c.out)
		st.User.Ended = st.User.Ended || over.Ended
		if over.Ended {
			st.Floor.Speaking = false
		}
	default:
		c.st.cutAnnouncement(&c.out)
		c.speechWhileThinking(cause)
		switch {
		case c.st.thinking():
			c.maybeEndReply(cause) // the words wait for the reply, which may have nothing more to say
		case over.Ended && st.Phase == ListeningCapturing:
			c.endTurn(cause, false)
		}
	}
}

// overIsOver: the agent's audio has come to its end while something was said
// over it. From here on it is input like any other, but for an echo.
func (s *State) overIsOver(e *ear) {
	over := s.Over
	s.Over = UserTurn{}
	s.Barge.Reset()
	echo := e.echoesEnd(over.Words(), s.Reply.Text)
	if !s.Floor.Speaking {
		echo = e.classify(over.Words(), s.Reply.Text).Kind == turn.Echo // all of it was said over the agent
	}
	if over.Words() == "" || echo {
		return
	}
	s.Over = over
	s.takeOver()
	s.User.Ended = s.User.Ended || over.Ended
}

// takeOver makes the words over the agent's audio the user's, and returns them.
func (s *State) takeOver() UserTurn {
	over := s.Over
	s.Over = UserTurn{}
	if over.Text != "" {
		s.User.note(over.Text, over.Confidence, true, over.Began)
	}
	if over.Partial != "" {
		s.User.note(over.Partial, over.Confidence, false, over.Began)
	}
	return over
}

// interrupt ends the agent's turn because the floor was taken: one decision,
// two effects (seed 000, REQ-007; seed 001, 4.4).
func (c *Conversation) interrupt(cause Cause, voice bool) {
	st := &c.st
	st.Floor.BrokeIn = voice
	st.Floor.Barged = st.Reply.Turn
	if c.opts.ResumeAfterFalseInterruption && voice {
		st.Pending.Resume = c.st.unheard()
		c.st.asksLater(st.Pending.Resume)
	}
	if !voice {
		// Somebody is there, and has had enough of this.
		st.Pending.Ending, st.Pending.Apology = false, ""
		st.DeadAir.UserActive(c.st.Now)
	}
	c.cancelReply(TurnInterrupted)
	c.become(Interrupted, cause)
	if voice {
		c.st.openUserTurn(&c.out)
	}
}

// leaveInterrupted ends the pause after a barge-in.
func (c *Conversation) leaveInterrupted() {
	if !c.st.Floor.BrokeIn {
		c.become(ListeningReady, causeInterruptCleared)
		return
	}
	c.become(ListeningCapturing, causeInterruptCleared)
	switch {
	case c.st.User.Ended:
		c.endTurn(causeInterruptCleared, false)
	case !c.st.Floor.Speaking:
		c.st.armEndpoint(&c.opts)
	}
}
