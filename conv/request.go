package conv

import (
	"github.com/hocketvoice/hocket/internal/timers"
	"github.com/hocketvoice/hocket/port/errclass"
)

// This file makes the requests of the agent's turn and handles their answers. Sources: seed 000,
// REQ-005, INT-005, PER-004, AC-008; seed 001, 4.3 and its classes of errors.

// replyExpected reports whether text, calls or failures of a reply are expected now.
func (s *State) replyExpected() bool {
	if s.Reply.agrees() {
		return false // nothing has been requested
	}
	switch s.Phase {
	case Understanding:
		// A service may answer by itself before the final transcript: see adoptReply.
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

// staleReply reports whether an event belongs to a reply that is over, or is not expected now.
func (s *State) staleReply(number, request int) bool {
	return s.Reply.stale(number, request) || !s.replyExpected()
}

// openReply begins a turn of the agent. userTurn is the user's turn that it answers, or zero.
func (s *State) openReply(out *Output, kind ReplyKind, userTurn int) {
	if kind != ReplyAnswer && kind != ReplyResumed {
		s.aside()
		s.Going = going{} // of an answer, ask decides
	}
	s.LastTurn++
	s.Reply = reply{
		Turn: s.LastTurn, UserTurn: userTurn, Kind: kind, Started: s.Now, Part: 1,
	}
	out.Turns = append(out.Turns, TurnEvent{
		Type: TurnStarted, Turn: s.Reply.Turn, Role: RoleAgent, Kind: kind, At: s.Now,
	})
}

// ask gives what the user said to the dialogue or, if there is none, requests a reply from the
// model.
func (c *Conversation) ask(why RequestReason, text string, confidence float64, cause Cause) {
	if c.opts.Agent == nil {
		c.st.request(&c.out, &c.opts, why, text)
		return
	}
	m := c.st.message(text, confidence, c.st.Reply.Began)
	out := c.opts.Agent.Handle(c.st.flows(), c.st.Now, m)
	if out.Understand == nil {
		c.st.Going = going{} // the words are answered
	}
	c.followDialogue(out, cause)
}

// request asks the model for a reply. It is the first try of a new request.
func (s *State) request(out *Output, o *Options, why RequestReason, text string) {
	r := &s.Reply
	s.LastRequest++
	r.Before = r.Request
	r.asks(s.LastRequest, why, text)
	s.arm(timers.Try, o.Limits.Waiting)
	s.arm(timers.Processing, o.Limits.Processing)
	out.ask(r)
}

// adoptReply opens a reply to the user's turn if an answer comes that was not requested. A
// service that hears and answers by itself sends such answers.
func (c *Conversation) adoptReply() {
	if c.st.Reply.Turn != 0 || !c.st.awaitingFinal() {
		return
	}
	u := c.st.User
	if text := u.Words(); text != "" {
		c.st.addItem(&c.opts, Item{Turn: u.Turn, Role: RoleUser, Text: text})
	}
	c.st.Consent.answered(&c.ear, u.Turn, u.Words(), u.Began)
	c.st.disarm(timers.Final)
	c.st.Going = going{}
	c.st.Floor.noteTail(u, u.Partial != "" || u.Text == "")
	c.st.closeUserTurn(&c.out, TurnCompleted)
	c.st.openReply(&c.out, ReplyAnswer, u.Turn)
	r := &c.st.Reply
	c.st.LastRequest++
	r.asks(c.st.LastRequest, RequestUtterance, "")
	r.Requested = true
	c.st.arm(timers.Try, c.opts.Limits.Waiting)
	c.st.arm(timers.Processing, c.opts.Limits.Processing)
}

// handleReplyRequested notes that the request has been sent. In ListeningReady the event is an
// explicit request for a reply (response.create).
func (c *Conversation) handleReplyRequested() {
	switch c.st.Phase {
	case ListeningReady:
		c.st.openReply(&c.out, ReplyExplicit, 0)
		c.become(Understanding, causeReplyRequested)
		c.st.request(&c.out, &c.opts, RequestExplicit, "")
		c.st.Reply.Requested = true
		c.become(Waiting, causeReplyRequested)
	case Understanding, ListeningCapturing:
		if c.st.Reply.agrees() {
			return // nothing is requested yet
		}
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
		// The machine knows already that the request was sent.
	}
}

// replyCame notes that text or a call has come. There are no more tries; the time until a
// reply counts as stalled begins again.
func (c *Conversation) replyCame() {
	c.adoptReply()
	c.st.Reply.Came()
	c.st.disarm(timers.Try, timers.Processing)
	switch c.st.Phase {
	case Understanding, Waiting, Generating, ListeningCapturing, Speaking:
		c.st.arm(timers.Processing, c.opts.Limits.Processing)
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
	if c.opts.SpeechToSpeech {
		c.st.Reply.speakWords(&c.out)
		return
	}
	c.st.Reply.speakSentences(&c.out, false)
}

func (c *Conversation) handleReplyDone(e ReplyDone) {
	r := &c.st.Reply
	if r.Progress == progressComplete {
		return // the event is repeated
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
		return // the reply continues with the results of its calls
	}
	c.maybeEndReply(c.event)
}

// tryTimedOut ends a try that took too long, or begins the next try after the pause.
func (c *Conversation) tryTimedOut() {
	r := &c.st.Reply
	if r.Turn == 0 {
		return
	}
	if c.st.Reply.consulting() {
		c.advised("", causeAdviceTimeout)
		return
	}
	if !r.Retrying() {
		if !c.st.retryLater(&c.opts) {
			c.processingTimedOut() // no try is left
			return
		}
		c.out.notify(LevelInfo, "reply.slow")
		return
	}
	c.st.LastRequest++
	r.asksAnew(c.st.LastRequest)
	c.st.arm(timers.Try, c.opts.Limits.Waiting)
	c.out.ask(r)
}

// retryLater begins the pause after a try that failed. It returns false if no try is left, or
// if the next one would begin after [Limits.Processing].
func (s *State) retryLater(o *Options) bool {
	r := &s.Reply
	if r.Attempt > o.Retry.Max || r.Attempt == 0 {
		return false
	}
	backoff := o.Retry.Backoff
	wait := backoff[min(r.Attempt, len(backoff))-1]
	if limit := s.Timers[timers.Processing]; !limit.IsZero() && !s.Now.Add(wait).Before(limit) {
		return false
	}
	r.Progress = progressRetrying
	s.arm(timers.Try, wait)
	return true
}

// processingTimedOut ends a reply for which nothing came in all tries, or which has stalled.
func (c *Conversation) processingTimedOut() {
	r := &c.st.Reply
	if r.Turn == 0 {
		return
	}
	if c.st.Phase == Speaking {
		// The model stopped in the middle. The reply ends with what was said.
		c.breaksOff(causeReplyStalled)
		return
	}
	held := r.Held()
	slow := func() {
		c.out.notify(LevelWarning, "reply.timeout")
		if c.opts.SpeakNotices {
			c.st.Pending.Apology = "apology.timeout" // commit drops it if the user says words
		}
	}
	switch {
	case r.Kind != ReplyAnswer && r.Request == 0:
		// The synthesizer did not speak the engine's own words. They are dropped; this is not
		// a fault of the conversation.
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

// handleReplyFailed tries again if the class of the error and the budget allow it, and else
// goes to Faulted; an expired session makes it reconnect (seed 001, 4.7). A failure while the
// reply plays ends the reply with what was said.
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
		return // the whole text came before the failure
	}
	if c.st.Phase == Speaking {
		// The user has heard the beginning, so another try would repeat it.
		c.breaksOff(causeReplyFailed)
		return
	}
	if c.st.Phase == ToolRunning || c.st.Phase == Delegated {
		c.st.finishText(&c.out) // the results of the calls lead to another request
		return
	}
	if c.st.retries(&c.opts, class, e.Retryable) {
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

// retries reports whether the request that has failed will be made again, and arms the timer for
// it. retryable is what the service says of an error whose class is not known.
func (s *State) retries(o *Options, class errclass.Class, retryable bool) bool {
	r := &s.Reply
	if class.Name != errclass.Unknown {
		retryable = class.Retries != 0 || class.Action == errclass.Return
	}
	limited := class.Retries > 0 && r.Attempt > class.Retries
	if !retryable || limited || r.Voiced() || !s.retryLater(o) {
		return false
	}
	r.retries()
	return true
}

// breaksOff ends a reply whose request has failed while it is spoken. It tells the person that
// the reply is incomplete.
func (c *Conversation) breaksOff(cause Cause) {
	c.out.notify(LevelWarning, "reply.incomplete")
	if c.opts.SpeakNotices {
		c.st.Pending.Apology = "apology.incomplete"
	}
	c.st.finishText(&c.out)
	c.maybeEndReply(cause)
}

// armStall limits how long a reply that plays waits for more text.
func (s *State) armStall(o *Options) {
	if !s.Reply.Complete() {
		s.arm(timers.Processing, o.Limits.Processing)
	}
}
