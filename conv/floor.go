package conv

import (
	"fmt"

	"github.com/hocketvoice/hocket/turn"
)

// This file: what the user says, and who has the floor. Seed 001, 4.2; seed
// 002; seed 004, features 1, 2, 4 and 6.

// staleSpeech reports a fact about a stretch of speech, or a user turn, that is
// answered or given up.
func (c *Conversation) staleSpeech(number, utterance int) bool {
	if utterance != 0 && utterance <= c.st.Floor.Closed {
		return true
	}
	return number != 0 && number != c.st.User.Turn
}

// spoken reports whether the source of an interruption is a voice.
func spoken(source string) bool {
	switch source {
	case "vad", "energy", "words", "speech", "easyturn", "stt", "semantic":
		return true
	default:
		return false
	}
}

// profile is the barge-in policy for what the agent is doing now.
func (c *Conversation) profile() turn.BargeInOptions {
	p := &c.opts.BargeIn
	switch {
	case c.st.Phase != Speaking && !c.st.Playout.Playing:
		return p.Thinking
	case c.st.Reply.Kind == ReplyGreeting:
		return p.Greeting
	case c.st.Expect.ReadBack:
		return p.ReadBack
	default:
		return p.Reply
	}
}

// audible reports whether the agent's audio is playing.
func (c *Conversation) audible() bool { return c.st.Phase == Speaking || c.st.Playout.Playing }

// openUserTurn gives the user's turn its number, if it has none.
func (c *Conversation) openUserTurn() {
	u := &c.st.User
	if u.Turn != 0 {
		return
	}
	c.st.LastTurn++
	u.Turn, u.Started = c.st.LastTurn, c.now
	c.out.Turns = append(c.out.Turns, TurnEvent{Type: TurnStarted, Turn: u.Turn, Role: RoleUser, At: c.now})
}

// closeUserTurn gives the user's turn its last event and forgets its words.
func (c *Conversation) closeUserTurn(how TurnEventType) {
	u := &c.st.User
	if u.Turn != 0 {
		c.out.Turns = append(c.out.Turns, TurnEvent{
			Type: how, Turn: u.Turn, Role: RoleUser, Confidence: u.Confidence,
			Duration: c.now.Sub(u.Started), At: c.now,
		})
	}
	if !c.st.Floor.Speaking {
		c.st.Floor.Closed = c.st.Floor.Utterance
	}
	*u = UserTurn{}
}

func (c *Conversation) noteUtterance(n int) {
	if n > c.st.Floor.Utterance {
		c.st.Floor.Utterance = n
	}
}

func (c *Conversation) handleSpeechStarted(e SpeechStarted) {
	f := &c.st.Floor
	if c.st.Phase == Idle || c.st.Phase == Terminating {
		return
	}
	pushed := e.Source == "push_to_talk"
	if c.opts.Endpoint == "manual" && !pushed && !c.audible() {
		return // No op. Under this policy a button opens the turn, not a voice.
	}
	c.noteUtterance(e.Utterance)
	if f.Speaking {
		return // No op. Repeated.
	}
	f.Speaking, f.Since, f.Pushed = true, c.now, pushed
	switch c.st.Phase {
	case ListeningReady:
		c.takeFloor("speech.started")
	case ListeningCapturing:
		c.disarm(TimerEndpoint)
	case Understanding, Waiting, Generating:
		c.speechWhileThinking("speech.started")
	case Speaking, ToolRunning, Delegated:
		if c.audible() {
			c.actOnBarge(c.st.Barge.SpeechStarted(c.profile(), c.now), "speech.started")
		}
	case Interrupted:
		f.BrokeIn = true
		c.openUserTurn()
	default:
		// Preparing, Reconnecting, Faulted: heard when the microphone opens.
	}
}

// takeFloor gives the user the floor.
func (c *Conversation) takeFloor(cause string) {
	c.openUserTurn()
	c.become(ListeningCapturing, cause)
	if !c.st.Floor.Speaking {
		c.armEndpoint()
	}
}

// speechWhileThinking: a voice is heard while the reply is being made. The user
// may go on talking, or it is a noise that must not lose the answer: the reply
// is held (seed 001, PROCESSING -> LISTENING).
func (c *Conversation) speechWhileThinking(cause string) {
	st := &c.st
	if c.awaitingFinal() {
		// Nothing is asked yet: the user goes on with the same turn.
		st.User.Ended = false
		c.become(ListeningCapturing, cause)
		if st.Reply.Held {
			c.arm(TimerHeld, c.opts.Limits.Held)
		}
		return
	}
	if c.profile().Policy == turn.BargeInNone {
		return // The words are queued and answered after the reply.
	}
	st.Reply.Held = true
	if st.Reply.Voiced || st.Reply.Earlier || st.Playout.Playing {
		c.pausePlayout()
	}
	c.takeFloor(cause)
	c.arm(TimerHeld, c.opts.Limits.Held)
}

func (c *Conversation) handleSpeechStopped(e SpeechStopped) {
	f := &c.st.Floor
	c.noteUtterance(e.Utterance)
	if !f.Speaking {
		return // No op. Repeated.
	}
	f.Speaking, f.Pushed, f.Since = false, false, c.now
	switch c.st.Phase {
	case ListeningCapturing:
		c.armEndpoint()
	case Speaking, ToolRunning, Delegated:
		if c.audible() {
			c.actOnBarge(c.st.Barge.SpeechStopped(c.profile(), c.now), "speech.stopped")
		}
	default:
	}
}

// awaitingFinal reports whether the user's turn has ended and its final
// transcript is not in: nothing has been asked for it.
func (c *Conversation) awaitingFinal() bool {
	return c.st.Phase == Understanding && c.st.User.Turn != 0
}

// armEndpoint bounds how long a silent user keeps the floor when nobody ends
// the turn: no turn may stall.
func (c *Conversation) armEndpoint() {
	if c.opts.Endpoint == "manual" && c.st.Floor.Pushed {
		return
	}
	if c.st.User.Words() == "" {
		c.arm(TimerEndpoint, c.opts.Limits.NoTranscript)
		return
	}
	c.arm(TimerEndpoint, c.opts.Limits.NoEndpoint)
}

// endpointMissing ends a turn that nobody else ended.
func (c *Conversation) endpointMissing() {
	if c.st.User.Words() == "" {
		c.endTurn("no_transcript", false)
		return
	}
	c.endTurn("no_endpoint", false)
}

func (c *Conversation) handlePartial(e STTPartial) {
	c.noteUtterance(e.Utterance)
	c.hear(e.Text, e.Confidence, false, false)
}

func (c *Conversation) handleFinal(e STTFinal) {
	c.noteUtterance(e.Utterance)
	c.hear(e.Text, e.Confidence, true, e.Endpoint)
}

// hear takes the recognizer's words. Filters apply while the agent's audio
// plays and at no other time (seed 004, feature 6).
func (c *Conversation) hear(text string, confidence float64, final, endpoint bool) {
	text = squeeze(text)
	ends := final && (c.opts.Endpoint == "recognizer" || endpoint && c.opts.Endpoint != "manual")
	switch c.st.Phase {
	case ListeningReady:
		if text == "" {
			return
		}
		c.takeFloor(c.event)
		c.noteWords(text, confidence, final)
		c.afterWords(ends)
	case ListeningCapturing:
		c.noteWords(text, confidence, final)
		if text != "" && c.st.Reply.Held {
			c.cancelReply(TurnInterrupted)
		}
		// A silent user of whom the recognizer has understood nothing has said
		// nothing.
		c.afterWords(ends || final && !c.st.Floor.Speaking && c.st.User.Words() == "" && !c.st.Floor.Pushed)
	case Understanding, Waiting, Generating:
		c.hearWhileThinking(text, confidence, final, ends)
	case Speaking:
		c.hearOverAgent(text, confidence, final, ends)
	case ToolRunning, Delegated:
		c.noteWords(text, confidence, final)
		c.st.User.Ended = c.st.User.Ended || ends && c.st.User.Words() != ""
		if c.audible() && text != "" {
			c.actOnBarge(c.st.Barge.Words(c.profile(), c.now, c.classify(text), final), c.event)
		}
	case Interrupted:
		c.st.Floor.BrokeIn = true
		c.openUserTurn()
		c.noteWords(text, confidence, final)
		c.st.User.Ended = c.st.User.Ended || ends
	default:
		// The microphone is not open.
	}
}

// noteWords adds words to the user's turn.
func (c *Conversation) noteWords(text string, confidence float64, final bool) {
	u := &c.st.User
	if !final {
		if text != "" {
			u.Partial = text
		}
		return
	}
	u.Partial = ""
	if text == "" {
		return
	}
	if u.Text == "" || confidence < u.Confidence {
		u.Confidence = confidence
	}
	u.Text = joinWords(u.Text, text)
}

// afterWords decides what follows from words in ListeningCapturing.
func (c *Conversation) afterWords(ends bool) {
	c.disarm(TimerHeld)
	if c.st.Reply.Held {
		c.arm(TimerHeld, c.opts.Limits.Held)
	}
	if ends {
		c.endTurn(c.event, false)
		return
	}
	if !c.st.Floor.Speaking {
		c.armEndpoint()
	}
}

// hearWhileThinking takes words after the end of the turn: the final transcript
// that was waited for, or the tail of what is answered already.
func (c *Conversation) hearWhileThinking(text string, confidence float64, final, ends bool) {
	st := &c.st
	if c.awaitingFinal() {
		c.noteWords(text, confidence, final)
		if final {
			c.commit(c.event)
		}
		return
	}
	if !st.Floor.Speaking {
		// The request is out and no new voice was heard: these words are part of
		// what is being answered, and answering them again would be wrong.
		c.out.Late = true
		return
	}
	if c.profile().Policy == turn.BargeInNone {
		c.noteWords(text, confidence, final)
		st.User.Ended = st.User.Ended || ends
		return
	}
	if text == "" {
		return
	}
	// The user has gone on talking since before the turn was cut at its limit.
	c.speechWhileThinking(c.event)
	c.cancelReply(TurnInterrupted)
	c.noteWords(text, confidence, final)
	c.afterWords(ends)
}

// hearOverAgent takes words while the agent speaks.
func (c *Conversation) hearOverAgent(text string, confidence float64, final, ends bool) {
	if text == "" {
		return
	}
	c.noteWords(text, confidence, final)
	action := c.st.Barge.Words(c.profile(), c.now, c.classify(c.st.User.Words()), final)
	if action == turn.Stop {
		c.st.User.Ended = ends
	}
	c.actOnBarge(action, c.event)
	if final && c.st.Phase == Speaking {
		// Filtered: it was no interruption, and it is no input either.
		c.st.User = UserTurn{}
	}
}

func (c *Conversation) classify(text string) turn.Verdict {
	return turn.Classify(text, c.st.Reply.Text, c.words, c.opts.Filter)
}

// actOnBarge carries out what the barge-in policy decided.
func (c *Conversation) actOnBarge(a turn.Action, cause string) {
	st := &c.st
	switch a {
	case turn.None:
	case turn.Duck:
		if !st.Playout.Ducked {
			st.Playout.Ducked = true
			c.emit(DuckPlayout{Turn: st.Playout.Turn})
		}
	case turn.Pause:
		c.pausePlayout()
	case turn.Resume:
		c.resumePlayout()
	case turn.Stop:
		if st.Phase == Speaking {
			c.interrupt(cause, true)
			return
		}
		// A tool runs on while its announcement is cut off.
		c.cutAnnouncement()
	default:
		panic(fmt.Sprintf("conv: unexpected barge-in action %v", a))
	}
}

// interrupt ends the agent's turn because the floor was taken: one decision,
// two effects (seed 000, REQ-007; seed 001, 4.4).
func (c *Conversation) interrupt(cause string, voice bool) {
	st := &c.st
	st.Floor.BrokeIn = voice
	st.Floor.Barged = st.Reply.Turn
	if c.opts.ResumeAfterFalseInterruption && voice {
		st.Pending.Resume = c.unheard()
	}
	c.cancelReply(TurnInterrupted)
	c.become(Interrupted, cause)
	if voice {
		c.openUserTurn()
	} else {
		st.User = UserTurn{}
		st.Pending.Ending = false
	}
	st.Barge.Reset()
}

// leaveInterrupted ends the pause after a barge-in.
func (c *Conversation) leaveInterrupted() {
	if !c.st.Floor.BrokeIn {
		c.become(ListeningReady, "interrupt.cleared")
		return
	}
	c.become(ListeningCapturing, "interrupt.cleared")
	switch {
	case c.st.User.Ended:
		c.endTurn("interrupt.cleared", false)
	case !c.st.Floor.Speaking:
		c.armEndpoint()
	}
}

func (c *Conversation) handleUserInterrupt(e UserInterrupt) {
	st := &c.st
	voice := spoken(e.Source)
	switch st.Phase {
	case Speaking:
		if voice && c.profile().Policy == turn.BargeInNone {
			return // No op. This reply is not to be interrupted by a voice.
		}
		if e.Heard > 0 {
			c.notePlayout(e.Heard, "")
		}
		c.interrupt("user.interrupt", voice || st.Floor.Speaking)
	case Understanding, Waiting, Generating:
		if voice {
			if !st.Floor.Speaking {
				st.Floor.Speaking, st.Floor.Since = true, c.now
			}
			c.speechWhileThinking("user.interrupt")
			return
		}
		c.callOff("user.interrupt")
	case ToolRunning:
		if !voice {
			c.callOff("user.interrupt")
		}
	default:
		// No op. There is nothing to interrupt (GUD-004).
	}
}

// callOff gives up the reply that is being made, by command.
func (c *Conversation) callOff(cause string) {
	if cause == "user.cancel" {
		c.cancelTasks()
	}
	if c.st.Reply.Turn != 0 {
		c.cancelReply(TurnInterrupted)
	}
	c.closeUserTurn(TurnAbandoned)
	if c.st.Phase == ToolRunning {
		c.become(Understanding, cause)
	}
	c.become(ListeningReady, cause)
}

func (c *Conversation) handleUserCancel() {
	switch c.st.Phase {
	case ListeningCapturing:
		c.closeUserTurn(TurnAbandoned)
		c.st.Floor.Speaking = false
		c.become(Understanding, "user.cancel")
		if c.st.Reply.Turn != 0 {
			c.cancelReply(TurnInterrupted)
		}
		c.st.Floor.Barged = 0
		c.become(ListeningReady, "user.cancel")
	case Understanding, Waiting, Generating, ToolRunning:
		c.callOff("user.cancel")
	case Delegated:
		c.cancelTasks()
		c.cancelReply(TurnInterrupted)
		c.become(ListeningReady, "user.cancel")
	case Speaking:
		c.interrupt("user.cancel", false)
	case Reconnecting:
		c.becomeTerminating("user.cancel")
	case Faulted:
		c.st.Faults.BreakerOpen = false
		c.recoverFromFault("user.cancel")
	default:
		// No op. There is nothing to call off.
	}
}

func (c *Conversation) handleTurnEnded(e TurnEnded) {
	c.noteUtterance(e.Utterance)
	cause := e.Cause
	if cause == "" {
		cause = e.EventType()
	}
	speaking := cause == "max_duration" && c.st.Floor.Speaking
	switch c.st.Phase {
	case ListeningReady:
		if cause == "manual" {
			// A commit without a detected voice: the recognizer may have words.
			c.takeFloor("turn.ended")
			c.endTurn("turn.ended", false)
		}
	case ListeningCapturing:
		c.endTurn("turn.ended", speaking)
	case Interrupted:
		c.st.User.Ended = true
		c.st.Floor.Speaking = speaking
	case ToolRunning, Delegated, Generating, Waiting:
		if c.st.User.Words() != "" {
			c.st.User.Ended = true
		}
		c.st.Floor.Speaking = speaking
	default:
		// No op. No turn of the user's is open.
	}
}

// endTurn ends the user's turn. stillSpeaking is true only when the turn was
// cut at its longest duration.
func (c *Conversation) endTurn(cause string, stillSpeaking bool) {
	u := &c.st.User
	u.Ended = true
	c.st.Floor.Speaking = stillSpeaking && c.st.Floor.Speaking
	c.st.Floor.Pushed = false
	final := u.Partial == "" && u.Text != ""
	none := cause == "no_words" || c.event == "stt.final" && c.st.User.Words() == ""
	c.become(Understanding, cause)
	switch {
	case final || none:
		c.commit(cause)
	default:
		c.emit(FinalizeTranscript{Turn: u.Turn})
		wait := c.opts.Limits.FinalNoWords
		if u.Partial != "" {
			wait = c.opts.Limits.FinalWords
		}
		c.arm(TimerFinal, wait)
	}
}

// commit turns the user's words into a request, exactly once (AC-002, INT-005).
func (c *Conversation) commit(cause string) {
	c.disarm(TimerFinal)
	u := c.st.User
	text := u.Words()
	if text == "" {
		c.nothingSaid(cause)
		return
	}
	if c.st.Reply.Turn != 0 {
		// A held reply whose hold was ended by words is cancelled when they come.
		c.cancelReply(TurnInterrupted)
	}
	c.st.Pending.Resume, c.st.Pending.Ending = "", false
	c.st.Pending.Tell = nil
	c.st.DeadAir.UserActive(c.now)
	c.addItem(Item{Turn: u.Turn, Role: RoleUser, Text: text})
	c.closeUserTurn(TurnCompleted)
	c.answer(u, text, cause)
}

// nothingSaid: the user's turn held no words. A held reply goes on; else the
// machine listens again.
func (c *Conversation) nothingSaid(cause string) {
	c.closeUserTurn(TurnAbandoned)
	if c.st.Reply.Turn != 0 {
		c.releaseReply(cause)
		return
	}
	c.st.Floor.Barged = 0
	c.become(ListeningReady, cause)
}

// handleUserText takes a typed line. It never overtakes what is being said: an
// active reply is interrupted first, a running tool is waited for.
func (c *Conversation) handleUserText(e UserText) {
	text := squeeze(e.Text)
	if text == "" {
		return
	}
	st := &c.st
	if st.Phase == Idle || st.Phase == Terminating {
		c.emit(Reject{Code: "no_conversation"})
		return
	}
	if len(st.Pending.Texts) >= c.opts.Limits.Queue {
		c.emit(Reject{Code: "too_many_texts"})
		return
	}
	st.Pending.Texts = append(st.Pending.Texts, text)
	switch st.Phase {
	case Speaking:
		c.interrupt("user.text", false)
	case Waiting, Generating:
		c.callOff("user.text")
	case Understanding:
		if st.Reply.Turn != 0 {
			c.callOff("user.text")
		}
	case ListeningCapturing:
		// The line ends the spoken turn and is part of it.
		line := st.Pending.Texts[len(st.Pending.Texts)-1]
		st.Pending.Texts = st.Pending.Texts[:len(st.Pending.Texts)-1]
		if st.Reply.Held {
			c.cancelReply(TurnInterrupted)
		}
		c.noteWords(joinWords(st.User.Partial, line), 1, true)
		c.endTurn("user.text", false)
	default:
		// ListeningReady settles at once; the other phases when they get there.
	}
}

// settleOnce does the next thing that has waited for ListeningReady and reports
// whether there was one.
func (c *Conversation) settleOnce() bool {
	st := &c.st
	p := &st.Pending
	switch {
	case c.userWaits():
		p.Greeted = true // the user was first
		ended := st.User.Ended || !st.Floor.Speaking && st.User.Partial == "" && st.User.Text != ""
		c.takeFloor(c.event)
		if ended {
			c.endTurn(c.event, false)
		}
	case len(p.Texts) > 0:
		p.Greeted = true
		text := p.Texts[0]
		p.Texts = append(p.Texts[:0:0], p.Texts[1:]...)
		c.openUserTurn()
		c.noteWords(text, 1, true)
		st.User.Ended = true
		c.become(Understanding, "user.text")
		c.commit("user.text")
	case st.Conn.Unanswered != 0:
		c.resumeUnanswered()
	case p.Resume != "" && st.Floor.Barged == 0:
		rest := p.Resume
		p.Resume = ""
		c.say(ReplyResumed, rest, "", "resume")
	case len(p.Tell) > 0:
		c.tellNext()
	case len(p.News) > 0:
		c.announceNews()
	case p.Ending:
		c.becomeTerminating("dead_air")
	case !p.Greeted:
		p.Greeted = true
		if c.opts.Greeting == "" && c.opts.Agent == nil {
			return false
		}
		return c.greet()
	default:
		return false
	}
	return true
}

// deadAirPassed takes the next step of the escalation (seed 004, feature 7).
func (c *Conversation) deadAirPassed() {
	step, ok := c.st.DeadAir.Passed(c.opts.DeadAir, c.now)
	if !ok {
		return // No op. Early.
	}
	kind := ReplyCheckIn
	if step.End {
		kind = ReplyGoodbye
		c.st.Pending.Ending = true
	}
	c.say(kind, c.phrase(step.Code), step.Code, "dead_air")
}

// userWaits reports whether the user spoke, or speaks, since before the
// microphone was free.
func (c *Conversation) userWaits() bool {
	f := &c.st.Floor
	if c.opts.Endpoint == "manual" && !f.Pushed {
		return c.st.User.Ended && c.st.User.Words() != ""
	}
	return f.Speaking || c.st.User.Words() != ""
}
