package conv

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/hocketvoice/hocket/dialog"
)

// This file: tools and delegated agents. A call that was started gets exactly
// one result; a result is never lost to a barge-in; nothing runs for a turn
// that may yet be taken back. Seed 001, 4.5, 4.6 and section 6; DESIGN rule 7.

// result is what a call came to.
type result struct {
	Text   string
	Failed bool
	// Forgotten: the call could not be made, as its secrets were not kept.
	Forgotten bool
}

// failedResult words a failure for the mind as seed 001, section 6, does, with
// what there is of a result.
func failedResult(code, message, partial string) result {
	answer := struct {
		Error   string `json:"error"`
		Code    string `json:"code,omitempty"`
		Partial string `json:"partial_result,omitempty"`
	}{"Tool failed: " + message, code, partial}
	b, err := json.Marshal(answer)
	if err != nil {
		panic(fmt.Sprintf("conv: three strings do not marshal: %v", err))
	}
	return result{Text: string(b), Failed: true, Forgotten: code == CodeForgotten}
}

// findCall is the index of the running call with this id, or -1. An empty id
// means the oldest one that runs of its kind.
func (c *Conversation) findCall(id string, long bool) int {
	for i := range c.st.Calls {
		call := &c.st.Calls[i]
		if call.State == CallRunning && (call.ID == id || id == "" && call.Long == long) {
			return i
		}
	}
	return -1
}

// Delegated reports whether a delegated call of this id runs: one that
// [UserCancel] can call off by it.
func (c *Conversation) Delegated(id string) bool { return c.findTask(id) >= 0 }

// findTask is the index of the delegated call with this id that runs, or -1.
func (c *Conversation) findTask(id string) int {
	return slices.IndexFunc(c.st.Calls, func(call Call) bool {
		return call.ID == id && call.Long && call.State == CallRunning
	})
}

// belated reports a call of the response whose other calls have their results
// already: it streamed in behind them, and belongs to the turn as they do.
func (c *Conversation) belated(e ToolCalled) bool {
	r := &c.st.Reply
	return r.Turn != 0 && (e.Turn == 0 || e.Turn == r.Turn) && e.Request != 0 && e.Request == r.Before &&
		r.Why == RequestToolResult && !r.Answered && c.thinking()
}

// callKnown reports whether the id is running, held or answered already.
func (c *Conversation) callKnown(id string) bool {
	if id == "" {
		return false
	}
	for i := range c.st.Calls {
		if c.st.Calls[i].ID == id {
			return true
		}
	}
	for _, s := range c.st.Pending.Settle {
		if s.ID == id {
			return true
		}
	}
	for i := range c.st.History {
		if c.st.History[i].CallID == id {
			return true
		}
	}
	return false
}

func (c *Conversation) handleToolCalled(e ToolCalled) {
	if c.callKnown(e.ID) || c.consulting() {
		return // No op. Repeated: a call runs once. Advice runs nothing.
	}
	r := &c.st.Reply
	if c.belated(e) {
		r.Request = r.Before // what was asked without this result is asked anew
	}
	c.replyCame()
	if e.ID == "" {
		c.st.LastCall++
		e.ID = fmt.Sprintf("call-%d-%d", r.Turn, c.st.LastCall)
	}
	call := Call{
		ID: e.ID, Name: e.Name, Arguments: e.Arguments, Turn: r.Turn, Long: e.Long, Confirm: e.Confirm,
		State: CallHeld, Started: c.st.Now,
	}
	if !r.Held {
		c.speakSentences(true)
		c.sealPart()
	}
	c.st.Calls, c.out.Keep = append(c.st.Calls, call), true
	if len(c.st.Calls) > c.opts.Limits.Calls {
		c.endCall(len(c.st.Calls)-1, failedResult("TOO_MANY_CALLS", "too many tools run at once", ""))
		if c.st.Phase == ToolRunning || c.st.Phase == Delegated || r.Held {
			return
		}
		c.become(ToolRunning, c.event)
		c.afterCall(c.event)
		return
	}
	if r.Held {
		c.stopHeldClock()
		return
	}
	c.startHeldCalls(c.event)
}

// startHeldCalls starts the calls of the current reply, or puts back those that
// need a yes first, and reports whether there were any.
func (c *Conversation) startHeldCalls(cause string) bool {
	started, refused := false, false
	for i := 0; i < len(c.st.Calls); i++ {
		call := &c.st.Calls[i]
		if call.State != CallHeld || call.Turn != c.st.Reply.Turn {
			continue
		}
		if !started {
			c.speakSentences(true)
			c.sealPart()
		}
		started = true
		if !c.consented(call) {
			refused = true
			c.refuse(i)
			i--
			continue
		}
		call.State, call.Started = CallRunning, c.st.Now
		if call.Long {
			call.Deadline = c.st.Now.Add(c.opts.Limits.Task)
			c.emit(StartTask{Turn: call.Turn, ID: call.ID, Key: call.Key, Name: call.Name, Arguments: call.Arguments})
		} else {
			call.Deadline = c.st.Now.Add(c.opts.Limits.Tool)
			c.emit(RunTool{Turn: call.Turn, ID: call.ID, Key: call.Key, Name: call.Name, Arguments: call.Arguments})
		}
	}
	if !started {
		return false
	}
	c.disarm(TimerTry, TimerProcessing)
	if c.st.Phase != ToolRunning && c.st.Phase != Delegated {
		c.become(ToolRunning, cause)
	}
	if quick, long := c.openCalls(); c.st.Phase == ToolRunning && quick == 0 && long > 0 {
		c.become(Delegated, cause)
	}
	if refused {
		c.afterCall(cause)
	}
	return true
}

// openCalls counts the running calls that the reply waits for.
func (c *Conversation) openCalls() (quick, long int) {
	for i := range c.st.Calls {
		call := &c.st.Calls[i]
		switch {
		case call.State != CallRunning || call.Background || call.Turn != c.st.Reply.Turn:
		case call.Long:
			long++
		default:
			quick++
		}
	}
	return quick, long
}

// cancelCall has a running call end; who runs it forgets it.
func (c *Conversation) cancelCall(i int) {
	c.st.Calls[i].State, c.out.Keep = CallCancelled, true
	c.emit(CancelTool{ID: c.st.Calls[i].ID})
}

// endCall writes a call's one result to the history and forgets the call.
func (c *Conversation) endCall(i int, r result) Call {
	call := c.st.Calls[i]
	c.st.Calls = append(c.st.Calls[:i], c.st.Calls[i+1:]...)
	if call.Long && call.State == CallRunning {
		c.settleLater(call)
	}
	text := r.Text
	if limit := c.opts.Limits.ResultChars; len(text) > limit {
		text = cutRunes(text, limit) + " " + c.phrase("result.cut")
	}
	c.addItem(Item{
		Turn: call.Turn, Role: RoleTool, Text: text, CallID: call.ID, Name: call.Name,
		Arguments: call.shown(), Failed: r.Failed,
	})
	return call
}

// CodeForgotten is the code of a call that cannot be made again, because its secrets were
// not kept. A flow asks for them anew.
const CodeForgotten = "SECRETS_FORGOTTEN"

// Forgotten reports whether secrets of the call are not known any more.
func (call *Call) Forgotten() bool {
	return len(call.Secrets) > 0 && strings.Contains(call.Arguments, dialog.Hidden)
}

// shown are the arguments as the history keeps them, without the secrets.
func (call *Call) shown() string {
	if len(call.Secrets) == 0 {
		return call.Arguments
	}
	var args map[string]any
	if err := json.Unmarshal([]byte(call.Arguments), &args); err != nil {
		return "{}"
	}
	for _, name := range call.Secrets {
		if args[name] != nil {
			args[name] = dialog.Hidden
		}
	}
	b, err := json.Marshal(args)
	if err != nil {
		panic(fmt.Sprintf("conv: what was JSON does not marshal: %v", err))
	}
	return string(b)
}

// handleCallEnded takes a result. One that nobody waits for is kept in the
// history; a delegated agent's is announced at the next suitable moment.
func (c *Conversation) handleCallEnded(i int, r result) {
	if c.st.Calls[i].Background {
		c.endInBackground(i, r)
		return
	}
	call := c.endCall(i, r)
	if call.Action {
		c.followAction(call, r)
		return
	}
	c.afterCall(c.event)
}

// endInBackground keeps a result that no reply waits for. A flow's action
// still moves its flow, and what the flow says to it is told later; a delegated
// agent's result, and one whose reply was lost, is news.
func (c *Conversation) endInBackground(i int, r result) {
	call := c.endCall(i, r)
	switch {
	case call.Adopted && c.opts.Agent != nil:
		// The flow that asked for it is gone with its conversation.
		c.st.Pending.Tell = c.enqueue(c.st.Pending.Tell, c.earlierResult(r))
	case call.Action:
		c.tellLater(c.actionEnded(call, r))
	case call.Long || call.Announce:
		c.st.Pending.News = c.enqueue(c.st.Pending.News, call.ID)
	}
}

// tellLater keeps what a flow does next for the next moment when nobody speaks:
// what it says, and the action, the question or the end behind it.
func (c *Conversation) tellLater(out dialog.Output) {
	c.confirms(out)
	c.expect(out.Expect)
	if goesOn(out) {
		c.st.Pending.Follow = append(c.st.Pending.Follow, out)
		return
	}
	if text := lines(out.Say); text != "" {
		c.st.Pending.Tell = c.enqueue(c.st.Pending.Tell, text)
	}
}

// userHasFloor reports whether the user is speaking, or has not finished.
func (c *Conversation) userHasFloor() bool {
	u := &c.st.User
	return c.st.Floor.Speaking && !c.audible() || u.Partial != "" && !u.Ended
}

// enqueue adds to a list of what is to be said; when it is full the oldest goes,
// which the history has anyway.
func (c *Conversation) enqueue(list []string, s string) []string {
	if len(list) >= c.opts.Limits.Queue {
		list = append(list[:0:0], list[1:]...)
	}
	return append(list, s)
}

// followAction gives the action's result to the dialogue, within the turn that
// waits for it.
func (c *Conversation) followAction(call Call, r result) {
	if c.userHasFloor() {
		// The flow goes on, and says what it has to say behind the user's turn.
		c.tellLater(c.actionEnded(call, r))
		c.become(Understanding, c.event)
		c.cancelReply(TurnInterrupted)
		c.takeFloor(c.event)
		return
	}
	c.nextPart()
	c.become(Understanding, c.event)
	c.followDialogue(c.actionEnded(call, r), c.event)
}

// nextPart begins the stretch of the turn behind a tool.
func (c *Conversation) nextPart() {
	r := &c.st.Reply
	if !r.Done {
		c.finishText()
	}
	r.Part++
	r.Earlier = r.Earlier || r.Voiced
	r.Voiced, r.Done, r.Closed = false, false, false
}

// afterCall goes on when the last call that the reply waits for has ended.
func (c *Conversation) afterCall(cause string) {
	quick, long := c.openCalls()
	switch {
	case c.st.Phase == ToolRunning && quick == 0 && long > 0:
		c.become(Delegated, cause)
	case (c.st.Phase == ToolRunning || c.st.Phase == Delegated) && quick+long == 0:
		c.continueReply(cause)
	default:
	}
}

// continueReply gives the results to the mind, with what the user said
// meanwhile. If the user is speaking, the user has the floor: the results are in
// the history for the answer to what comes.
func (c *Conversation) continueReply(cause string) {
	st := &c.st
	r := &st.Reply
	words := st.User.Words()
	if c.userHasFloor() && words != "" {
		c.become(Understanding, cause)
		c.cancelReply(TurnInterrupted)
		c.takeFloor(cause)
		return
	}
	c.nextPart()
	c.become(Understanding, cause)
	if c.userHasFloor() {
		// If it is no more than a noise, releaseReply asks.
		r.Held, r.Owed = true, true
		c.holdPlayout()
		c.takeFloor(cause)
		return
	}
	if words != "" {
		c.openUserTurn()
		r.UserTurn = st.User.Turn
		r.Began = st.User.Began
		c.addItem(Item{Turn: st.User.Turn, Role: RoleUser, Text: words})
		c.noteConsent(st.User.Turn, words, st.User.Began)
		c.closeUserTurn(TurnCompleted)
	}
	c.request(RequestToolResult, words)
}

func (c *Conversation) handleToolFailed(e ToolFailed) {
	if !e.Fatal {
		c.handleCallEnded(c.findCall(e.ID, false), failedResult(e.Code, e.Message, e.Output))
		return
	}
	c.failCall(c.findCall(e.ID, false), failedResult(e.Code, e.Message, e.Output), "EXECUTOR_FAILED", "tool.failed")
}

func (c *Conversation) handleTaskFailed(e TaskFailed) {
	code := e.Code
	if code == "" {
		code = "TASK_FAILED"
	}
	c.failCall(c.findCall(e.ID, true), failedResult(e.Code, e.Message, e.Output), code, "task.failed")
}

// failCall ends a call with a failure that goes to Faulted, the partial result
// kept (seed 001, 4.5 and 4.6).
func (c *Conversation) failCall(i int, r result, code, cause string) {
	call := &c.st.Calls[i]
	switch {
	case call.Background:
		c.endInBackground(i, r)
	case call.Action:
		// The flow knows what to do when its action fails.
		c.handleCallEnded(i, r)
	default:
		id := call.ID
		c.endCall(i, r)
		c.faulted(code, false, cause, false)
		if c.st.Phase == Faulted {
			// The mind has the failure, and tells it: nobody has to say anything again.
			c.st.Pending.News = c.enqueue(c.st.Pending.News, id)
		}
	}
}

// callTimedOut ends the calls whose time is up.
func (c *Conversation) callTimedOut(long bool) {
	code, cause := "TOOL_TIMEOUT", "tool.timeout"
	if long {
		code, cause = "TASK_TIMEOUT", "task.timeout"
	}
	for i := 0; i < len(c.st.Calls); {
		call := &c.st.Calls[i]
		if call.State != CallRunning || call.Long != long || c.st.Now.Before(call.Deadline) {
			i++
			continue
		}
		c.cancelCall(i)
		c.failCall(i, failedResult(code, "it took too long", ""), code, cause)
	}
}
