package conv

import "github.com/hocketvoice/hocket/port/errclass"

// This file: what the agent's turn asks of the mind, and what comes back. Seed 000,
// REQ-005, INT-005, PER-004, AC-008; seed 001, 4.3 and its classes of
// errors.

// replyExpected reports whether text, calls or failures of a reply mean
// something now.
func (s *State) replyExpected() bool {
	switch s.Phase {
	case Understanding:
		// A service that answers by itself is taken at its word: see adoptReply.
		return s.Reply.Turn != 0 || s.awaitingFinal()
	case Waiting, Generating, Speaking, ToolRunning, Delegated:
		return s.Reply.Turn != 0
	case ListeningCapturing:
		return s.Reply.Held()
	case Suspended:
		return s.Reply.Turn != 0 || s.User.Turn != 0
	default:
		return false
	}
}

// staleReply reports a fact of a reply that is over, or that means nothing now.
func (s *State) staleReply(number, request int) bool {
	return s.Reply.stale(number, request) || !s.replyExpected()
}

// openReply gives the agent's turn its number.
func (s *State) openReply(out *Output, kind ReplyKind, userTurn int) {
	if kind != ReplyAnswer && kind != ReplyResumed {
		s.aside()
	}
	s.LastTurn++
	s.Reply = Reply{
		Turn: s.LastTurn, UserTurn: userTurn, Kind: kind, Started: s.Now, Part: 1,
	}
	out.Turns = append(out.Turns, TurnEvent{
		Type: TurnStarted, Turn: s.Reply.Turn, Role: RoleAgent, Kind: kind, At: s.Now,
	})
}

// ask has the flows answer the user, or the mind where there are none.
func (c *Conversation) ask(why RequestReason, text string, confidence float64, cause Cause) {
	if c.opts.Agent == nil {
		c.st.request(&c.out, &c.opts, why, text)
		return
	}
	m := c.st.message(text, confidence, c.st.Reply.Began)
	c.followDialogue(c.opts.Agent.Handle(c.st.flows(), c.st.Now, m), cause)
}

// request asks the mind, for the first time for this purpose.
func (s *State) request(out *Output, o *Options, why RequestReason, text string) {
	r := &s.Reply
	s.LastRequest++
	r.Before = r.Request
	r.asks(s.LastRequest, why, text)
	s.arm(TimerTry, o.Limits.Waiting)
	s.arm(TimerProcessing, o.Limits.Processing)
	out.ask(r)
}

// adoptReply takes an answer that nobody asked for, from a service that hears
// and answers by itself, as the reply to the user's turn.
func (c *Conversation) adoptReply() {
	if c.st.Reply.Turn != 0 || !c.st.awaitingFinal() {
		return
	}
	u := c.st.User
	if text := u.Words(); text != "" {
		c.st.addItem(&c.opts, Item{Turn: u.Turn, Role: RoleUser, Text: text})
	}
	c.st.Consent.answered(&c.ear, u.Turn, u.Words(), u.Began)
	c.st.disarm(TimerFinal)
	c.st.Floor.noteTail(u, u.Partial != "" || u.Text == "")
	c.st.closeUserTurn(&c.out, TurnCompleted)
	c.st.openReply(&c.out, ReplyAnswer, u.Turn)
	r := &c.st.Reply
	c.st.LastRequest++
	r.asks(c.st.LastRequest, RequestUtterance, "")
	r.Requested = true
	c.st.arm(TimerTry, c.opts.Limits.Waiting)
	c.st.arm(TimerProcessing, c.opts.Limits.Processing)
}

// handleReplyRequested: the request is out. In ListeningReady it is an explicit
// response.create.
func (c *Conversation) handleReplyRequested() {
	switch c.st.Phase {
	case ListeningReady:
		c.st.openReply(&c.out, ReplyExplicit, 0)
		c.become(Understanding, causeReplyRequested)
		c.st.request(&c.out, &c.opts, RequestExplicit, "")
		c.st.Reply.Requested = true
		c.become(Waiting, causeReplyRequested)
	case Understanding, ListeningCapturing:
		if c.st.Reply.Held() || c.st.Reply.consulting() {
			c.st.Reply.Requested = true
			return
		}
		if c.st.Phase == Understanding {
			c.adoptReply()
			c.st.Reply.Requested = true
			c.become(Waiting, causeReplyRequested)
		}
	default:
		// It is known.
	}
}

// replyCame notes that something came back: the tries are over, stalls count
// from now.
func (c *Conversation) replyCame() {
	c.adoptReply()
	c.st.Reply.came()
	c.st.disarm(TimerTry, TimerProcessing)
	switch c.st.Phase {
	case Understanding, Waiting, Generating, ListeningCapturing, Speaking:
		c.st.arm(TimerProcessing, c.opts.Limits.Processing)
	default:
	}
}

func (c *Conversation) handleReplyDelta(text string) {
	if text == "" || c.st.Reply.Complete() || c.st.Reply.consulting() {
		return
	}
	c.replyCame()
	r := &c.st.Reply
	r.add(text)
	if !r.Held() && (c.st.Phase == Understanding || c.st.Phase == Waiting) {
		c.become(Generating, c.event)
	}
	c.st.Reply.speakSentences(&c.out, false)
}

func (c *Conversation) handleReplyDone(e ReplyDone) {
	r := &c.st.Reply
	if r.Progress == ProgressComplete {
		return // The event is repeated.
	}
	if c.st.Reply.consulting() {
		c.advised(e.Text, c.event)
		return
	}
	c.replyCame()
	r.Silent = r.Silent || e.Silent
	if e.Text != "" && len(r.Text) == r.Sealed {
		c.handleReplyDelta(e.Text)
	}
	c.st.finishText(&c.out)
	c.st.stopHeldClock()
	if c.st.Phase == ToolRunning || c.st.Phase == Delegated {
		return // The results are still to come.
	}
	c.maybeEndReply(c.event)
}

// tryTimedOut: one try brought nothing, or the pause before the next is over.
func (c *Conversation) tryTimedOut() {
	r := &c.st.Reply
	if r.Turn == 0 {
		return
	}
	if c.st.Reply.consulting() {
		c.advised("", causeAdviceTimeout)
		return
	}
	if r.Progress != ProgressRetrying {
		if !c.st.retryLater(&c.opts) {
			c.processingTimedOut() // nobody will be asked any more
			return
		}
		c.out.notify(LevelInfo, "reply.slow")
		return
	}
	c.st.LastRequest++
	r.asksAnew(c.st.LastRequest)
	c.st.arm(TimerTry, c.opts.Limits.Waiting)
	c.out.ask(r)
}

// retryLater waits the back-off of the attempt that failed. It reports false
// when the budget is spent: no retry is left, or none would begin in time.
func (s *State) retryLater(o *Options) bool {
	r := &s.Reply
	if r.Attempt > o.Retry.Max || r.Attempt == 0 {
		return false
	}
	backoff := o.Retry.Backoff
	wait := backoff[min(r.Attempt, len(backoff))-1]
	if limit := s.Timers[TimerProcessing]; !limit.IsZero() && !s.Now.Add(wait).Before(limit) {
		return false
	}
	r.Progress = ProgressRetrying
	s.arm(TimerTry, wait)
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
		c.breaksOff(causeReplyStalled)
		return
	}
	held := r.Held()
	slow := func() {
		c.out.notify(LevelWarning, "reply.timeout")
		if c.opts.SpeakNotices {
			c.st.Pending.Apology = "apology.timeout" // unless words come, where it was held
		}
	}
	switch {
	case r.Kind != ReplyAnswer && r.Request == 0:
		// The engine's own words found no voice: they are dropped, nothing is at
		// fault with the conversation.
		c.out.notify(LevelError, "voice.timeout")
	case !r.answered():
		slow()
	default:
		if !held {
			code := "LLM_TIMEOUT"
			if r.Complete() {
				code = "VOICE_TIMEOUT"
			}
			c.fault(code, false, causeReplyStalled)
			return
		}
		slow()
	}
	c.cancelReply(TurnFailed)
	if !held {
		c.st.Floor.Barged = 0
		c.become(ListeningReady, causeReplyTimeout)
	}
}

// handleReplyFailed retries within the state that failed, returns errors of
// calls to the mind, and goes to Faulted with the rest (seed 001, 4.7).
func (c *Conversation) handleReplyFailed(e ReplyFailed) {
	c.adoptReply()
	r := &c.st.Reply
	if c.st.Reply.consulting() {
		if !r.Advised() {
			c.advised("", c.event)
		}
		return
	}
	class := errclass.Of(e.Code)
	switch class.Action {
	case errclass.Reconnect:
		c.handleSessionExpired(causeReplyFailed)
		return
	case errclass.End:
		c.fault(e.Code, true, causeReplyFailed)
		return
	default:
	}
	if r.Complete() {
		return // All of it came before the failure.
	}
	if c.st.Phase == Speaking {
		// What has been said cannot be taken back and is not said twice.
		c.breaksOff(causeReplyFailed)
		return
	}
	if c.st.Phase == ToolRunning || c.st.Phase == Delegated {
		c.st.finishText(&c.out) // the results will ask again
		return
	}
	retryable := class.Retries != 0 || class.Action == errclass.Return
	if class.Name == errclass.Unknown {
		retryable = e.Retryable
	}
	limited := class.Retries > 0 && r.Attempt > class.Retries
	if retryable && !limited && !r.Voiced() && c.st.retryLater(&c.opts) {
		r.retries()
		return
	}
	if r.Held() {
		c.out.notify(LevelWarning, "reply.failed")
		if c.opts.SpeakNotices {
			c.st.Pending.Apology = apology(e.Code)
		}
		c.cancelReply(TurnFailed)
		return
	}
	c.fault(e.Code, false, causeReplyFailed)
}

// breaksOff ends a reply whose mind has failed while it is spoken: what has been said
// is all, and the person is told that it was not.
func (c *Conversation) breaksOff(cause Cause) {
	c.out.notify(LevelWarning, "reply.incomplete")
	if c.opts.SpeakNotices {
		c.st.Pending.Apology = "apology.incomplete"
	}
	c.st.finishText(&c.out)
	c.maybeEndReply(cause)
}

// armStall bounds how long a reply that is being spoken waits for its next text.
func (s *State) armStall(o *Options) {
	if !s.Reply.Complete() {
		s.arm(TimerProcessing, o.Limits.Processing)
	}
}
