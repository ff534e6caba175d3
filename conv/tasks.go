package conv

import (
	"encoding/json"
	"fmt"
	"slices"

	"github.com/hocketvoice/hocket/dialog"
)

// This file: delegated work that outlives the reply that asked for it, or the
// conversation. Seed 001, 4.6: feedback while it runs, and a result that is told
// exactly once, whoever is there to hear it.

func (c *Conversation) handleTaskProgress(e TaskProgress) {
	if c.st.Phase != Delegated {
		return
	}
	c.arm(TimerHeartbeat, c.opts.Limits.Heartbeat)
	if e.Text != "" {
		c.emit(Cue{Turn: c.st.Reply.Turn, Code: "progress", Text: e.Text})
	}
}

// startFeedback begins to tell the person that an agent works (seed 001, 4.6).
func (c *Conversation) startFeedback() {
	c.arm(TimerHeartbeat, c.opts.Limits.Heartbeat)
	c.st.Pending.Feedback = 0
	if f := c.opts.Limits.Feedback; len(f) > 0 {
		c.arm(TimerFeedback, f[0].After)
		if f[0].After == 0 {
			c.giveFeedback()
		}
	}
}

func (c *Conversation) giveFeedback() {
	f := c.opts.Limits.Feedback
	n := c.st.Pending.Feedback
	c.disarm(TimerFeedback)
	if n >= len(f) {
		return // No op. A snapshot of a configuration that had more to say.
	}
	c.emit(Cue{Turn: c.st.Reply.Turn, Code: f[n].Code, Text: c.phrase(f[n].Code)})
	c.st.Pending.Feedback++
	if n+1 < len(f) {
		c.arm(TimerFeedback, f[n+1].After-f[n].After)
	}
}

// handleTaskAdopted takes a task over whose result will be told when it is there.
func (c *Conversation) handleTaskAdopted(e TaskAdopted) {
	if c.st.Phase == Idle || c.st.Phase == Terminating || len(c.st.Calls) >= c.opts.Limits.Calls || c.adopted(e.Key) {
		return // No op. Who has not been told keeps it.
	}
	c.st.LastCall++
	call := Call{
		ID: fmt.Sprintf("earlier-%d", c.st.LastCall), Key: e.Key, Name: e.Name, Arguments: e.Arguments, Long: true,
		State: CallRunning, Background: true, Announce: true, Adopted: true,
		Started: c.st.Now, Deadline: c.st.Now.Add(c.opts.Limits.Task),
	}
	c.st.Calls = append(c.st.Calls, call)
	c.emit(FollowTask{ID: call.ID, Key: call.Key})
}

// adopted reports whether a task is this conversation's already.
func (c *Conversation) adopted(key string) bool {
	return slices.ContainsFunc(c.st.Calls, func(call Call) bool { return call.Adopted && call.Key == key }) ||
		slices.ContainsFunc(c.st.Pending.Settle, func(s Settled) bool { return s.Adopted && s.Key == key })
}

// earlierResult words the result of a task of an earlier conversation, for flows.
func (c *Conversation) earlierResult(r result) string {
	if r.Failed {
		return c.phrase("task.earlier.failed")
	}
	text := r.Text
	var fields map[string]any
	if json.Unmarshal([]byte(text), &fields) == nil {
		text = ""
		for _, name := range []string{"message", "summary", "text", "result"} {
			if s, ok := fields[name].(string); ok && text == "" {
				text = s
			}
		}
	} else if json.Valid([]byte(text)) {
		text = "" // numbers and lists tell a listener nothing
	}
	return joinWords(c.phrase("task.earlier.done"), squeeze(cutRunes(text, c.opts.Limits.ResultChars)))
}

// settleLater notes a task that has its result, until what follows from it has been
// told.
func (c *Conversation) settleLater(call Call) {
	if !c.opts.TasksOutlive {
		return
	}
	p := &c.st.Pending
	s := Settled{ID: call.ID, Key: call.Key, Adopted: call.Adopted}
	p.Settle = append(p.Settle, s)
	// What is told and what waits to be are each a queue: the oldest is in neither.
	if len(p.Settle) > 2*c.opts.Limits.Queue+c.opts.Limits.Calls {
		c.emit(SettleTask(p.Settle[0]))
		p.Settle = append(p.Settle[:0:0], p.Settle[1:]...)
	}
}

// settleTasks says that the results that came have been told.
func (c *Conversation) settleTasks() {
	for _, s := range c.st.Pending.Settle {
		c.emit(SettleTask(s))
	}
	c.st.Pending.Settle = nil
}

// cancelTasks calls the delegated work off, by the person's word. A flow whose
// action it was is called off with it, and says so.
func (c *Conversation) cancelTasks() {
	for i := 0; i < len(c.st.Calls); {
		call := c.st.Calls[i]
		if call.Turn != c.st.Reply.Turn || !call.Long || call.State != CallRunning {
			i++
			continue
		}
		c.endCalledOff(i)
	}
}

// endCalledOff ends a delegated call by the person's word.
func (c *Conversation) endCalledOff(i int) {
	c.cancelCall(i)
	call := c.endCall(i, failedResult("CANCELLED", "the user called it off", ""))
	if call.Action {
		c.tellLater(c.opts.Agent.Handle(c.flows(), c.st.Now, dialog.ActionEnded{ID: call.ID, Cancelled: true}))
	}
}

// callOffTask calls one delegated call off, and leaves the others. What a reply
// waits for alone is left with it.
func (c *Conversation) callOffTask(i int) {
	call := &c.st.Calls[i]
	awaited := !call.Background && call.Turn == c.st.Reply.Turn
	c.endCalledOff(i)
	if quick, long := c.openCalls(); awaited && c.st.Phase == Delegated && quick+long == 0 {
		c.leaveTasks("user.cancel")
	}
}

// callOffAloud: the person said that the work is called off. A mind answers that, as
// the turn that it is; a flow has its answer already.
func (c *Conversation) callOffAloud(ends bool) {
	u := &c.st.User
	u.Ended = u.Ended || ends
	if slices.ContainsFunc(c.st.Calls, func(call Call) bool { return call.Action && call.Turn == c.st.Reply.Turn }) {
		c.openUserTurn()
		c.addItem(Item{Turn: u.Turn, Role: RoleUser, Text: c.written(u.Words())})
		c.closeUserTurn(TurnCompleted)
		c.st.Floor.Speaking = false
	}
	c.cancelTasks()
	c.leaveTasks("user.cancel")
}

// leaveTasks goes back to listening from delegated work that was called off.
func (c *Conversation) leaveTasks(cause string) {
	c.st.DeadAir.UserActive(c.st.Now)
	c.cancelReply(TurnInterrupted)
	c.st.Floor.Barged = 0
	c.become(ListeningReady, cause)
}

// announceLater marks the calls of a reply that is lost with the connection or
// to a fault, and reports whether there are any: their results will be told.
func (c *Conversation) announceLater() bool {
	running := false
	for i := range c.st.Calls {
		call := &c.st.Calls[i]
		if call.State == CallRunning && call.Turn == c.st.Reply.Turn {
			call.Announce = true
			running = true
		}
	}
	return running
}

// announceNews tells the results of delegated agents that nobody waited for: as they
// come, or at the next moment when nobody speaks.
func (c *Conversation) announceNews() {
	cause := "told"
	switch c.event {
	case "tool.done", "tool.failed", "task.done", "task.failed":
		cause = c.event
	}
	c.st.Pending.Announcing, c.st.Pending.News = c.st.Pending.News, nil
	c.openReply(ReplyNews, 0)
	c.become(Understanding, cause)
	c.request(RequestTaskResult, "")
}
