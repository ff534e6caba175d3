package conv

import "time"

// This file: the agent's turn, from its request to its last word. Seed 000,
// REQ-005, REQ-006, INT-005, PER-004, AC-008; seed 001, 4.3 and its classes of
// errors.

// replyExpected reports whether text, calls or failures of a reply mean
// something now.
func (c *Conversation) replyExpected() bool {
	switch c.st.Phase {
	case Understanding:
		// A service that answers by itself is taken at its word: see adoptReply.
		return c.st.Reply.Turn != 0 || c.awaitingFinal()
	case Waiting, Generating, Speaking, ToolRunning, Delegated:
		return c.st.Reply.Turn != 0
	case ListeningCapturing:
		return c.st.Reply.Held
	case Suspended:
		return c.st.Reply.Turn != 0 || c.st.User.Turn != 0
	default:
		return false
	}
}

// staleReply reports a fact of another turn, or of a request that has been
// replaced.
func (c *Conversation) staleReply(number, request int) bool {
	if number != 0 && number != c.st.Reply.Turn {
		return true
	}
	return request != 0 && request != c.st.Reply.Request
}

// openReply gives the agent's turn its number.
func (c *Conversation) openReply(kind ReplyKind, userTurn int) {
	c.st.LastTurn++
	c.st.Reply = Reply{
		Turn: c.st.LastTurn, UserTurn: userTurn, Kind: kind, Started: c.now, Part: 1,
	}
	c.out.Turns = append(c.out.Turns, TurnEvent{
		Type: TurnStarted, Turn: c.st.Reply.Turn, Role: RoleAgent, Kind: kind, At: c.now,
	})
}

// answer starts the reply to the user's turn.
func (c *Conversation) answer(u UserTurn, text, cause string) {
	c.openReply(ReplyAnswer, u.Turn)
	if c.opts.Agent != nil {
		c.answerFromDialogue(text, u.Confidence, cause)
		return
	}
	c.request(RequestUtterance, text)
}

// request asks the mind, for the first time for this purpose.
func (c *Conversation) request(why RequestReason, text string) {
	r := &c.st.Reply
	c.st.LastRequest++
	r.Before, r.Request, r.Attempt, r.Why = r.Request, c.st.LastRequest, 1, why
	r.Requested, r.Retrying, r.Answered, r.Done = false, false, false, false
	r.Asked = text
	c.arm(TimerTry, c.opts.Limits.Waiting)
	c.arm(TimerProcessing, c.opts.Limits.Processing)
	c.emit(RequestReply{
		Turn: r.Turn, UserTurn: r.UserTurn, Request: r.Request, Attempt: 1, Text: text, Why: why,
	})
}

// adoptReply takes an answer that nobody asked for, from a service that hears
// and answers by itself, as the reply to the user's turn.
func (c *Conversation) adoptReply() {
	if c.st.Reply.Turn != 0 || !c.awaitingFinal() {
		return
	}
	u := c.st.User
	if text := u.Words(); text != "" {
		c.addItem(Item{Turn: u.Turn, Role: RoleUser, Text: text})
	}
	c.disarm(TimerFinal)
	c.noteTail(u, u.Partial != "" || u.Text == "")
	c.closeUserTurn(TurnCompleted)
	c.openReply(ReplyAnswer, u.Turn)
	r := &c.st.Reply
	c.st.LastRequest++
	r.Request, r.Attempt, r.Why, r.Requested = c.st.LastRequest, 1, RequestUtterance, true
	c.arm(TimerTry, c.opts.Limits.Waiting)
	c.arm(TimerProcessing, c.opts.Limits.Processing)
}

// handleReplyRequested: the request is out. In ListeningReady it is an explicit
// response.create.
func (c *Conversation) handleReplyRequested() {
	switch c.st.Phase {
	case ListeningReady:
		c.openReply(ReplyExplicit, 0)
		c.become(Understanding, "reply.requested")
		c.request(RequestExplicit, "")
		c.st.Reply.Requested = true
		c.become(Waiting, "reply.requested")
	case Understanding, ListeningCapturing:
		if c.st.Reply.Held {
			c.st.Reply.Requested = true
			return
		}
		if c.st.Phase == Understanding {
			c.adoptReply()
			c.st.Reply.Requested = true
			c.become(Waiting, "reply.requested")
		}
	default:
		// No op. It is known.
	}
}

// replyCame notes that something came back: the tries are over, stalls count
// from now.
func (c *Conversation) replyCame() {
	c.adoptReply()
	r := &c.st.Reply
	r.Answered, r.Retrying, r.Requested = true, false, true
	c.disarm(TimerTry, TimerProcessing)
	switch c.st.Phase {
	case Understanding, Waiting, Generating, ListeningCapturing, Speaking:
		c.arm(TimerProcessing, c.opts.Limits.Processing)
	default:
	}
}

func (c *Conversation) handleReplyDelta(text string) {
	if text == "" || c.st.Reply.Done {
		return
	}
	c.replyCame()
	r := &c.st.Reply
	r.Text += text
	r.Unsaid += text
	if !r.Held && (c.st.Phase == Understanding || c.st.Phase == Waiting) {
		c.become(Generating, c.event)
	}
	c.speakSentences(false)
}

func (c *Conversation) handleReplyDone(e ReplyDone) {
	r := &c.st.Reply
	if r.Done {
		return // No op. Repeated.
	}
	c.replyCame()
	r.Silent = r.Silent || e.Silent
	if e.Text != "" && len(r.Text) == r.Sealed {
		c.handleReplyDelta(e.Text)
	}
	c.finishText()
	c.stopHeldClock()
	if c.st.Phase == ToolRunning || c.st.Phase == Delegated {
		return // The results are still to come.
	}
	c.maybeEndReply(c.event)
}

// finishText hands the rest of the part to the voice and says that it is all.
func (c *Conversation) finishText() {
	r := &c.st.Reply
	r.Done = true
	if c.st.Phase == Speaking {
		c.disarm(TimerProcessing) // the playout has a clock of its own
	}
	c.speakSentences(true)
	c.closePart()
}

// closePart tells the voice, once, that the part has no more text.
func (c *Conversation) closePart() {
	r := &c.st.Reply
	if r.Done && r.Voiced && !r.Held && !r.Closed {
		r.Closed = true
		c.emit(EndSpeech{Turn: r.Turn, Part: r.Part})
	}
}

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

// speakSentences hands whole sentences to the voice, or with all set the rest
// too.
func (c *Conversation) speakSentences(all bool) {
	r := &c.st.Reply
	if r.Held || r.Silent {
		return
	}
	for {
		n := sentenceEnd(r.Unsaid)
		if n == 0 && all {
			n = len(r.Unsaid)
		}
		if n == 0 {
			return
		}
		text := squeeze(r.Unsaid[:n])
		r.Unsaid = r.Unsaid[n:]
		if text != "" {
			c.speak(text, "")
		}
	}
}

func (c *Conversation) speak(text, code string) {
	r := &c.st.Reply
	r.Seq++
	r.Voiced = true
	c.emit(Speak{Turn: r.Turn, Part: r.Part, Seq: r.Seq, Text: text, Code: code})
}

// say speaks words that need no request: the engine's own, or the dialogue's.
func (c *Conversation) say(kind ReplyKind, text, code, cause string) {
	c.openReply(kind, 0)
	c.sayWords(text, code, cause)
}

func (c *Conversation) sayWords(text, code, cause string) {
	r := &c.st.Reply
	r.Answered, r.Requested, r.Done = true, true, true
	c.become(Generating, cause)
	c.arm(TimerProcessing, c.opts.Limits.Processing)
	if code != "" {
		r.Text += text
		c.speak(text, code)
	} else {
		c.speakAll(text)
	}
	c.closePart()
	c.maybeEndReply(cause)
}

// speakAll adds a whole text to the reply and hands it to the voice.
func (c *Conversation) speakAll(text string) {
	r := &c.st.Reply
	if r.Text != "" && text != "" {
		text = " " + text
	}
	r.Text += text
	r.Unsaid += text
	c.speakSentences(true)
}

// tryTimedOut: one try brought nothing, or the pause before the next is over.
func (c *Conversation) tryTimedOut() {
	r := &c.st.Reply
	if r.Turn == 0 {
		return
	}
	if !r.Retrying {
		c.notify(LevelInfo, "reply.slow")
		c.retryLater()
		return
	}
	c.st.LastRequest++
	r.Retrying, r.Requested, r.Answered = false, false, false
	r.Request, r.Attempt = c.st.LastRequest, r.Attempt+1
	c.arm(TimerTry, c.opts.Limits.Waiting)
	c.emit(RequestReply{
		Turn: r.Turn, UserTurn: r.UserTurn, Request: r.Request, Attempt: r.Attempt,
		Text: r.Asked, Why: r.Why,
	})
}

// retryLater waits the back-off of the attempt that failed. It reports false
// when the budget is spent.
func (c *Conversation) retryLater() bool {
	r := &c.st.Reply
	if r.Attempt > c.opts.Retry.Max || r.Attempt == 0 {
		return false
	}
	r.Retrying = true
	backoff := c.opts.Retry.Backoff
	wait := backoff[min(r.Attempt, len(backoff))-1]
	c.arm(TimerTry, wait)
	return true
}

// processingTimedOut: nothing came back in all the tries, or a reply that had
// begun stalled.
func (c *Conversation) processingTimedOut() {
	r := &c.st.Reply
	if r.Turn == 0 {
		return
	}
	if c.st.Phase == Speaking {
		// The mind has stalled in the middle: what it has said is all.
		c.notify(LevelWarning, "reply.incomplete")
		c.finishText()
		c.maybeEndReply("reply.stalled")
		return
	}
	held := r.Held
	switch {
	case r.Kind != ReplyAnswer && r.Request == 0:
		// The engine's own words found no voice: they are dropped, nothing is at
		// fault with the conversation.
		c.notify(LevelError, "voice.timeout")
	case !r.Answered || r.Retrying:
		c.notify(LevelWarning, "reply.timeout")
		if c.opts.SpeakNotices {
			c.st.Pending.Apology = "apology.timeout" // unless words come, where it was held
		}
	default:
		if !held {
			code := "LLM_TIMEOUT"
			if r.Done {
				code = "VOICE_TIMEOUT"
			}
			c.fault(code, false, "reply.stalled")
			return
		}
		c.notify(LevelWarning, "reply.timeout")
	}
	c.cancelReply(TurnFailed)
	if !held {
		c.st.Floor.Barged = 0
		c.become(ListeningReady, "reply.timeout")
	}
}

// handleReplyFailed retries within the state that failed, returns errors of
// calls to the mind, and goes to Faulted with the rest (seed 001, 4.7).
func (c *Conversation) handleReplyFailed(e ReplyFailed) {
	c.adoptReply()
	r := &c.st.Reply
	class := ClassOf(e.Code)
	switch class.Action {
	case ActionReconnect:
		c.handleSessionExpired("reply.failed")
		return
	case ActionEnd:
		c.fault(e.Code, true, "reply.failed")
		return
	default:
	}
	if r.Done {
		return // No op. It was all there before it failed.
	}
	if c.st.Phase == Speaking {
		// What has been said cannot be taken back and is not said twice.
		c.notify(LevelWarning, "reply.incomplete")
		c.finishText()
		c.maybeEndReply("reply.failed")
		return
	}
	if c.st.Phase == ToolRunning || c.st.Phase == Delegated {
		c.finishText() // the results will ask again
		return
	}
	retryable := class.Retries != 0 || class.Action == ActionReturn
	if class.Name == ClassUnknown {
		retryable = e.Retryable
	}
	limited := class.Retries > 0 && r.Attempt > class.Retries
	if retryable && !limited && !r.Voiced && c.retryLater() {
		r.Text, r.Unsaid, r.Answered = r.Text[:r.Sealed], "", false
		return
	}
	if r.Held {
		c.notify(LevelWarning, "reply.failed")
		if c.opts.SpeakNotices {
			c.st.Pending.Apology = "apology.fault"
		}
		c.cancelReply(TurnFailed)
		return
	}
	c.fault(e.Code, false, "reply.failed")
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
	} else {
		c.markHeard(r.Turn, r.Part, c.heardSoFar(), c.st.Playout.Text)
		if c.st.Playout.Playing {
			// Cut off, whatever the estimate allows: the exact measure is to come.
			c.eachPart(r.Turn, r.Part, func(it *Item) { it.Interrupted = it.Interrupted || it.Part == r.Part && !it.Cut })
		}
	}
	if c.opts.Agent != nil && r.Request != 0 {
		c.opts.Agent.Answered(&c.st.Dialogue, c.now, c.agentText(r.Turn))
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
		Type: how, Turn: r.Turn, Role: RoleAgent, Kind: r.Kind, Duration: c.now.Sub(r.Started), At: c.now,
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

// armStall bounds how long a reply that is being spoken waits for its next text.
func (c *Conversation) armStall() {
	if !c.st.Reply.Done {
		c.arm(TimerProcessing, c.opts.Limits.Processing)
	}
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
	return p.Heard + c.now.Sub(p.At)
}
