package conv

import (
	"fmt"
	"slices"
	"time"

	"github.com/hocketvoice/hocket/internal/timers"
	"github.com/hocketvoice/hocket/turn"
)

// This file gives and takes the floor. Sources: seed 001, 4.2; seed 002; seed 004, features 1
// to 3.

// staleSpeech reports whether an event belongs to a stretch of speech, or a turn of the user,
// that is answered or given up.
func (s *State) staleSpeech(number, utterance int) bool {
	if utterance != 0 && utterance <= s.Floor.Closed {
		return true
	}
	return number != 0 && number != s.User.Turn
}

// profile returns the barge-in options for what the agent is doing now. A policy that
// [SessionConfigured] has set replaces the policy of the options.
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
	if s.Going.Row > 0 && p.Policy == turn.BargeInHybrid {
		p.MinSpeech = turn.Off // the noise that cut off the reply does not cut off the rest
	}
	if s.leaving(o) {
		p.Policy = turn.BargeInNone
	}
	return p
}

// leaving reports whether the open reply has called a tool that takes the person away
// ([Options.Announced]).
func (s *State) leaving(o *Options) bool {
	return len(o.Announced) > 0 && slices.ContainsFunc(s.Calls, func(call Call) bool {
		return call.Running() && call.Turn == s.Reply.Turn && slices.Contains(o.Announced, call.Name)
	})
}

// Announcing reports whether words that the agent has said before its calls are still to be heard.
func (s *State) Announcing() bool { return s.Reply.Turn != 0 && s.Reply.sounding() }

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

// awaitingFinal reports whether the user's turn has ended and the machine waits for its final
// transcript before it answers.
func (s *State) awaitingFinal() bool {
	return s.Phase == Understanding && s.User.Turn != 0
}

// openUserTurn begins a turn of the user, unless one is open.
func (s *State) openUserTurn(out *Output) {
	u := &s.User
	if u.Turn != 0 {
		return
	}
	s.LastTurn++
	u.Turn, u.Started = s.LastTurn, s.Now
	out.Turns = append(out.Turns, TurnEvent{Type: TurnStarted, Turn: u.Turn, Role: RoleUser, At: s.Now})
}

// closeUserTurn ends the user's turn, if one is open, and forgets its words.
func (s *State) closeUserTurn(out *Output, how TurnEventType) {
	u := &s.User
	if u.Turn != 0 {
		out.Turns = append(out.Turns, TurnEvent{
			Type: how, Turn: u.Turn, Role: RoleUser, Confidence: u.Confidence,
			Duration: s.Now.Sub(u.Started), At: s.Now,
		})
	}
	if f := &s.Floor; !f.Speaking {
		// A stretch of speech without words stays open, because its words may still come.
		f.Closed = max(f.Closed, f.Worded)
		f.Voice, f.VoiceOf = time.Time{}, 0
	}
	*u = userTurn{}
}

func (c *Conversation) handleSpeechStarted(e SpeechStarted) {
	f := &c.st.Floor
	if c.st.Phase == Idle || c.st.Phase == Terminating {
		return
	}
	pushed := e.Source == SourcePushToTalk
	if c.opts.Endpoint == turn.PolicyManual && !pushed && !c.st.Audible() {
		return // under this policy only a button opens a turn
	}
	c.st.Floor.noteUtterance(e.Utterance)
	if f.Speaking && (f.Pushed || !pushed) {
		return // the event is repeated
	}
	if !f.Speaking {
		f.Voice, f.VoiceOf = c.st.Now.Add(-e.Lag), e.Utterance
	}
	f.Speaking, f.Pushed = true, pushed
	f.Tail, f.TailOpen, f.Overlap = 0, 0, c.st.Audible() || e.Echo
	c.voiceBegan(pushed)
}

// voiceBegan handles a new voice, or a button, in the phase.
func (c *Conversation) voiceBegan(pushed bool) {
	switch c.st.Phase {
	case ListeningReady:
		c.takeFloor(causeSpeechStarted)
	case ListeningCapturing:
		c.st.disarm(timers.Endpoint)
	case Understanding, Waiting, Generating, Speaking, ToolRunning, Delegated:
		switch {
		case c.st.Audible() && pushed:
			c.bargeIn(causeSpeechStarted) // a button always interrupts
		case c.st.Audible():
			c.speechOverAgent(causeSpeechStarted)
		case c.st.Phase == Understanding || c.st.thinking():
			c.speechWhileThinking(causeSpeechStarted)
		}
	case Interrupted:
		c.st.Floor.BrokeIn = true
		c.st.openUserTurn(&c.out)
	default:
		// In Preparing, Reconnecting and Faulted, settle handles the voice later.
	}
}

// speechOverAgent handles a voice over the agent's audio.
func (c *Conversation) speechOverAgent(cause Cause) {
	if c.st.Barge.Quiet() {
		c.st.Over = userTurn{} // earlier words that did not interrupt do not belong to this voice
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

// speechWhileThinking handles a voice while the reply is being made. The user may continue to
// speak, or the voice may be a noise that must not cost the answer. So the reply is held (seed
// 001, PROCESSING -> LISTENING).
func (c *Conversation) speechWhileThinking(cause Cause) {
	st := &c.st
	if c.st.awaitingFinal() {
		// No reply has been requested yet, so the user continues the same turn.
		st.User.Ended = false
		c.become(ListeningCapturing, cause)
		return
	}
	if c.st.profile(&c.opts).Policy == turn.BargeInNone && !st.Reply.agrees() {
		return // the words are kept and answered after the reply
	}
	st.Reply.Hold = holdReply
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
		return // the event is repeated
	}
	if c.opts.Endpoint == turn.PolicyManual && f.Pushed && e.Source.voice() {
		return // the button is still pressed
	}
	f.Speaking, f.Pushed = false, false
	switch {
	case c.st.Phase == ListeningCapturing:
		c.st.armEndpoint(&c.opts)
	case c.st.Audible():
		c.actOnBarge(c.st.Barge.SpeechStopped(c.st.profile(&c.opts), c.st.Now), causeSpeechStopped)
		if c.st.Audible() && c.st.Over.Partial == "" && !c.st.leaving(&c.opts) {
			// The voice did not interrupt and all its words have come, so they are dropped.
			c.st.Over = userTurn{}
		}
	}
}

// armEndpoint limits how long a silent user keeps the floor if no TurnEnded comes, so that no
// turn stalls.
func (s *State) armEndpoint(o *Options) {
	if o.Endpoint == turn.PolicyManual && s.Floor.Pushed {
		return
	}
	if s.User.Words() == "" {
		s.arm(timers.Endpoint, o.Limits.NoTranscript)
		return
	}
	s.arm(timers.Endpoint, o.Limits.NoEndpoint)
}

// actOnBarge carries out a decision of the barge-in policy.
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
			st.Over = userTurn{} // the voice did not interrupt
		}
	case turn.Stop:
		c.bargeIn(cause)
	default:
		panic(fmt.Sprintf("conv: unexpected barge-in action %v", a))
	}
}

// bargeIn lets the user take the floor from the agent's audio. The words over the audio become
// the beginning of the user's turn.
func (c *Conversation) bargeIn(cause Cause) {
	st := &c.st
	over := st.Over
	st.Over = userTurn{}
	st.User.takeOver(over)
	switch st.Phase {
	case Speaking:
		st.User.Ended = over.Ended
		c.interrupt(cause, true)
	case ToolRunning, Delegated:
		// The tool continues; only its announcement is cut off.
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
			c.maybeEndReply(cause) // the policy makes the words wait for the reply, which may be over
		case over.Ended && st.Phase == ListeningCapturing:
			c.endTurn(cause, false)
		}
	}
}

// overIsOver makes the words over the agent's audio part of the user's turn when the audio has
// ended. Words that are an echo are dropped.
func (s *State) overIsOver(e *ear) {
	over := s.Over
	s.Over = userTurn{}
	s.Barge.Reset()
	echo := e.echoesEnd(over.Words(), s.Reply.Text)
	if !s.Floor.Speaking {
		echo = e.classify(over.Words(), s.Reply.Text).Kind == turn.Echo // all words were said over the audio
	}
	if over.Words() == "" || echo {
		return
	}
	s.User.takeOver(over)
	s.User.Ended = s.User.Ended || over.Ended
}

// interrupt ends the agent's turn: it cancels the reply and drops its audio (seed 000, REQ-007;
// seed 001, 4.4). voice says whether a voice interrupted, and not a command.
func (c *Conversation) interrupt(cause Cause, voice bool) {
	st := &c.st
	st.Floor.BrokeIn = voice
	st.Floor.Barged = st.Reply.Turn
	if voice {
		st.cutOff(&c.opts)
	} else {
		st.Going = going{}
		// A person gave the command, so the agent neither says goodbye nor apologizes.
		st.Pending.Ending, st.Pending.Apology = false, ""
		st.DeadAir.UserActive(c.st.Now)
	}
	c.cancelReply(TurnInterrupted)
	c.become(Interrupted, cause)
	if voice {
		c.st.openUserTurn(&c.out)
	}
}

// leaveInterrupted ends the pause after a barge-in. After a voice, the user has the floor.
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
