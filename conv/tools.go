package conv

import (
	"fmt"

	"github.com/hocketvoice/hocket/dialog"
	"github.com/hocketvoice/hocket/internal/timers"
)

// This file runs tools and delegated agents. Every call gets exactly one result. A barge-in
// never loses a result. No call starts for a turn that may still be taken back. Sources: seed
// 001, 4.5, 4.6 and section 6; DESIGN rule 7.

// Delegated reports whether a delegated call with this id runs, which [UserCancel] can cancel
// by its ID.
func (c *Conversation) Delegated(id string) bool { return c.st.Calls.task(id) >= 0 }

// belated reports whether a call belongs to the response whose other calls already have their
// results. The call came after them in the stream.
func (s *State) belated(e ToolCalled) bool {
	r := &s.Reply
	return r.Turn != 0 && (e.Turn == 0 || e.Turn == r.Turn) && e.Request != 0 && e.Request == r.Before &&
		r.Why == RequestToolResult && !r.answered() && s.thinking()
}

// callKnown reports whether a call with this id was made before. It may be held or running, or
// have its result.
func (s *State) callKnown(id string) bool {
	if id == "" {
		return false
	}
	if s.Calls.known(id) {
		return true
	}
	for _, s := range s.Pending.Settle {
		if s.ID == id {
			return true
		}
	}
	return s.History.call(id) != nil
}

func (c *Conversation) handleToolCalled(e ToolCalled) {
	if c.st.callKnown(e.ID) || c.st.Reply.consulting() {
		return // each call runs once, and a request for advice runs no calls
	}
	r := &c.st.Reply
	if c.st.belated(e) {
		r.Request = r.Before // the request without this result is replaced when the result comes
	}
	c.replyCame()
	if e.ID == "" {
		c.st.LastCall++
		e.ID = fmt.Sprintf("call-%d-%d", r.Turn, c.st.LastCall)
	}
	call := Call{
		ID: e.ID, Name: e.Name, Arguments: e.Arguments, Turn: r.Turn, Long: e.Long, Confirm: e.Confirm,
		State: callHeld, Started: c.st.Now,
	}
	if !r.Held() {
		c.st.Reply.speakSentences(&c.out, true)
		c.st.sealPart(&c.opts)
	}
	c.st.Calls, c.st.changed = append(c.st.Calls, call), true
	if len(c.st.Calls) > c.opts.Limits.Calls {
		c.endCall(len(c.st.Calls)-1, failedResult("TOO_MANY_CALLS", "too many tools run at once", ""))
		if c.st.Phase == ToolRunning || c.st.Phase == Delegated || r.Held() {
			return
		}
		c.become(ToolRunning, c.event)
		c.afterCall(c.event)
		return
	}
	if r.Held() {
		c.st.stopHeldClock()
		return
	}
	c.startHeldCalls(c.event)
}

// startHeldCalls starts the held calls of the reply, or refuses those that need a yes first. It
// reports whether there were any.
func (c *Conversation) startHeldCalls(cause Cause) bool {
	started, refused := false, false
	for i := 0; i < len(c.st.Calls); i++ {
		call := &c.st.Calls[i]
		if !call.Held() || call.Turn != c.st.Reply.Turn {
			continue
		}
		if !started {
			c.st.Reply.speakSentences(&c.out, true)
			c.st.sealPart(&c.opts)
		}
		started = true
		if !c.st.Consent.use(call, c.st.Reply.UserTurn) {
			refused = true
			c.refuse(i)
			i--
			continue
		}
		call.State, call.Started = callRunning, c.st.Now
		if call.Long {
			call.Deadline = c.st.Now.Add(c.opts.Limits.Task)
			c.out.emit(StartTask{Turn: call.Turn, ID: call.ID, Key: call.Key, Name: call.Name, Arguments: call.Arguments})
		} else {
			call.Deadline = c.st.Now.Add(c.opts.Limits.Tool)
			c.out.emit(RunTool{Turn: call.Turn, ID: call.ID, Key: call.Key, Name: call.Name, Arguments: call.Arguments})
		}
	}
	if !started {
		return false
	}
	c.st.disarm(timers.Try, timers.Processing)
	if c.st.Phase != ToolRunning && c.st.Phase != Delegated {
		c.become(ToolRunning, cause)
	}
	if quick, long := c.st.Calls.open(c.st.Reply.Turn); c.st.Phase == ToolRunning && quick == 0 && long > 0 {
		c.become(Delegated, cause)
	}
	if refused {
		c.afterCall(cause)
	}
	return true
}

// cancelCall asks the driver to cancel a running call. The caller ends the call.
func (s *State) cancelCall(out *Output, i int) {
	s.Calls[i].State, s.changed = callCancelled, true
	out.emit(CancelTool{ID: s.Calls[i].ID})
}

// endCall writes the result of a call to the history, with the secrets hidden that are known when
// it comes, removes the call from the state and
// returns it.
func (c *Conversation) endCall(i int, r result) Call {
	call := c.st.Calls[i]
	c.st.Calls = append(c.st.Calls[:i], c.st.Calls[i+1:]...)
	if call.Long && call.Running() {
		c.st.Pending.settleLater(&c.out, &c.opts, call)
	}
	text := r.Text
	if a := c.opts.Agent; a != nil && a.HasSecrets() {
		var known dialog.Secrets
		known.Learn(a, &c.st.Dialogue)
		if call.Action() {
			known.LearnCall(a, call.Name, call.Arguments, text)
		}
		text = known.Text(text)
	}
	if limit := c.opts.Limits.ResultChars; len(text) > limit {
		text = cutRunes(text, limit) + " " + c.phrases.Text("result.cut")
	}
	c.st.addItem(&c.opts, Item{
		Turn: call.Turn, Role: RoleTool, Text: text, CallID: call.ID, Name: call.Name,
		Arguments: call.shown(), Failed: r.Failed,
	})
	return call
}

// handleCallEnded handles the result of a call. If no reply waits for the result, it is written
// to the history, and the agent tells it later if it is that of a delegated agent.
func (c *Conversation) handleCallEnded(i int, r result) {
	if c.st.Calls[i].Background() {
		c.endInBackground(i, r)
		return
	}
	call := c.endCall(i, r)
	if call.Action() {
		c.followAction(call, r)
		return
	}
	c.afterCall(c.event)
}

// endInBackground handles a result that no reply waits for. The action of a flow still moves
// the flow, and the agent says later what the flow says about it. The result of a delegated
// agent, or of a call whose reply was lost, becomes news.
func (c *Conversation) endInBackground(i int, r result) {
	call := c.endCall(i, r)
	switch {
	case call.Adopted() && c.opts.Agent != nil:
		// The flow that started the task ended with its conversation.
		c.st.Pending.Tell = enqueue(&c.opts, c.st.Pending.Tell, earlierResult(c.phrases, c.opts.Limits.ResultChars, r))
	case call.Action():
		c.st.tellLater(&c.out, &c.opts, c.st.actionEnded(&c.opts, call, r))
	case call.Long || call.Announced():
		c.st.Pending.News = enqueue(&c.opts, c.st.Pending.News, call.ID)
	}
}

// tellLater keeps an output of the dialogue until nobody speaks: what the flow says, and the
// action, the question or the end that follows.
func (s *State) tellLater(out *Output, o *Options, next dialog.Output) {
	s.confirms(next)
	s.expect(out, next.Expect)
	if goesOn(next) {
		s.Pending.Follow = append(s.Pending.Follow, next)
		return
	}
	if text := lines(next.Say); text != "" {
		s.Pending.Tell = enqueue(o, s.Pending.Tell, text)
	}
}

// userHasFloor reports whether the user speaks, or has said words that are not final and has not
// ended the turn. A voice over the agent's audio does not have the floor.
func (s *State) userHasFloor() bool {
	u := &s.User
	return s.Floor.Speaking && !s.Audible() || u.Partial != "" && !u.Ended
}

// followAction gives the result of an action to the dialogue, within the turn that waits for
// it.
func (c *Conversation) followAction(call Call, r result) {
	if c.st.userHasFloor() {
		// The flow continues now, but what it says waits until the user's turn has ended.
		c.st.tellLater(&c.out, &c.opts, c.st.actionEnded(&c.opts, call, r))
		c.become(Understanding, c.event)
		c.cancelReply(TurnInterrupted)
		c.takeFloor(c.event)
		return
	}
	c.st.nextPart(&c.out)
	c.become(Understanding, c.event)
	c.followDialogue(c.st.actionEnded(&c.opts, call, r), c.event)
}

// nextPart completes the current part of the turn and begins the next one, after a tool.
func (s *State) nextPart(out *Output) {
	r := &s.Reply
	if !r.Complete() {
		s.finishText(out)
	}
	r.nextPart()
}

// afterCall continues the reply when the last call that it waits for has ended.
func (c *Conversation) afterCall(cause Cause) {
	quick, long := c.st.Calls.open(c.st.Reply.Turn)
	switch {
	case c.st.Phase == ToolRunning && quick == 0 && long > 0:
		c.become(Delegated, cause)
	case (c.st.Phase == ToolRunning || c.st.Phase == Delegated) && quick+long == 0:
		c.continueReply(cause)
	default:
	}
}

// continueReply requests the rest of the reply from the model, which gets the results and what
// the user has said meanwhile. If the user has the floor, the reply is held, or taken back if
// the user has said words: the results are in the history for the next answer.
func (c *Conversation) continueReply(cause Cause) {
	st := &c.st
	r := &st.Reply
	words := st.User.Words()
	if c.st.userHasFloor() && words != "" {
		c.become(Understanding, cause)
		c.cancelReply(TurnInterrupted)
		c.takeFloor(cause)
		return
	}
	c.st.nextPart(&c.out)
	c.become(Understanding, cause)
	if c.st.userHasFloor() {
		// If the voice is a noise, releaseReply makes the request.
		r.Hold = holdResults
		c.st.holdPlayout(&c.out)
		c.takeFloor(cause)
		return
	}
	if words != "" {
		c.st.openUserTurn(&c.out)
		r.UserTurn = st.User.Turn
		r.Began = st.User.Began
		c.st.addItem(&c.opts, Item{Turn: st.User.Turn, Role: RoleUser, Text: words})
		c.st.Consent.answered(&c.ear, st.User.Turn, words, st.User.Began)
		c.st.closeUserTurn(&c.out, TurnCompleted)
	}
	c.st.request(&c.out, &c.opts, RequestToolResult, words)
}

func (c *Conversation) handleToolFailed(e ToolFailed) {
	if !e.Fatal {
		c.handleCallEnded(c.st.Calls.find(e.ID, false), failedResult(e.Code, e.Message, e.Output))
		return
	}
	c.failCall(c.st.Calls.find(e.ID, false), failedResult(e.Code, e.Message, e.Output), "EXECUTOR_FAILED", causeToolFailed)
}

func (c *Conversation) handleTaskFailed(e TaskFailed) {
	code := e.Code
	if code == "" {
		code = "TASK_FAILED"
	}
	c.failCall(c.st.Calls.find(e.ID, true), failedResult(e.Code, e.Message, e.Output), code, causeTaskFailed)
}

// failCall ends a call with a failure. If a reply waits for the call, the machine goes to
// Faulted, and the partial result is kept (seed 001, 4.5 and 4.6).
func (c *Conversation) failCall(i int, r result, code string, cause Cause) {
	call := &c.st.Calls[i]
	switch {
	case call.Background():
		c.endInBackground(i, r)
	case call.Action():
		// The flow decides what happens when its action fails.
		c.handleCallEnded(i, r)
	default:
		id := call.ID
		c.endCall(i, r)
		c.faulted(code, false, cause, false)
		if c.st.Phase == Faulted {
			// The mind has the failure in the history and tells it, so no question was lost.
			c.st.Pending.News = enqueue(&c.opts, c.st.Pending.News, id)
		}
	}
}

// callTimedOut ends the running calls of a kind whose deadline has passed.
func (c *Conversation) callTimedOut(long bool) {
	code, cause := "TOOL_TIMEOUT", causeToolTimeout
	if long {
		code, cause = "TASK_TIMEOUT", causeTaskTimeout
	}
	for i := 0; i < len(c.st.Calls); {
		call := &c.st.Calls[i]
		if !call.Running() || call.Long != long || c.st.Now.Before(call.Deadline) {
			i++
			continue
		}
		c.st.cancelCall(&c.out, i)
		c.failCall(i, failedResult(code, "it took too long", ""), code, cause)
	}
}
