package conv

import (
	"encoding/json"
	"fmt"
	"slices"

	"github.com/hocketvoice/hocket/dialog"
	"github.com/hocketvoice/hocket/internal/messages"
	"github.com/hocketvoice/hocket/internal/timers"
)

// This file handles delegated work, which may outlive the reply that asked for it, or the
// conversation. The person gets feedback while it runs, and its result is told exactly once.
// Source: seed 001, 4.6.

func (s *State) handleTaskProgress(out *Output, o *Options, e TaskProgress) {
	if s.Phase != Delegated {
		return
	}
	s.arm(timers.Heartbeat, o.Limits.Heartbeat)
	if e.Text != "" {
		out.emit(Cue{Turn: s.Reply.Turn, Code: "progress", Text: e.Text})
	}
}

// startFeedback begins to tell the person that a delegated agent works (seed 001, 4.6).
func (s *State) startFeedback(out *Output, o *Options, phrases *messages.Catalog) {
	s.arm(timers.Heartbeat, o.Limits.Heartbeat)
	s.Pending.Feedback = 0
	if f := o.Limits.Feedback; len(f) > 0 {
		s.arm(timers.Feedback, f[0].After)
		if f[0].After == 0 {
			s.giveFeedback(out, o, phrases)
		}
	}
}

// giveFeedback gives the next feedback of the options and arms the timer of the one after it.
func (s *State) giveFeedback(out *Output, o *Options, phrases *messages.Catalog) {
	f := o.Limits.Feedback
	n := s.Pending.Feedback
	s.disarm(timers.Feedback)
	if n >= len(f) {
		return // the snapshot was made with options that have more feedback
	}
	out.emit(Cue{Turn: s.Reply.Turn, Code: f[n].Code, Text: phrases.Text(f[n].Code)})
	s.Pending.Feedback++
	if n+1 < len(f) {
		s.arm(timers.Feedback, f[n+1].After-f[n].After)
	}
}

// handleTaskAdopted takes over a task of an earlier conversation. Its result will be told when
// it comes.
func (s *State) handleTaskAdopted(out *Output, o *Options, e TaskAdopted) {
	if s.Phase == Idle || s.Phase == Terminating || len(s.Calls) >= o.Limits.Calls || s.adopted(e.Key) {
		return // the task stays in its store and can be adopted later
	}
	s.LastCall++
	call := Call{
		ID: fmt.Sprintf("earlier-%d", s.LastCall), Key: e.Key, Name: e.Name, Arguments: e.Arguments, Long: true,
		State: callRunning, Due: dueNews, Origin: originEarlier,
		Started: s.Now, Deadline: s.Now.Add(o.Limits.Task),
	}
	s.Calls, s.changed = append(s.Calls, call), true
	out.emit(FollowTask{ID: call.ID, Key: call.Key})
}

// adopted reports whether this conversation has already adopted the task with this key.
func (s *State) adopted(key string) bool {
	return s.Calls.adopted(key) ||
		slices.ContainsFunc(s.Pending.Settle, func(s settled) bool { return s.Adopted && s.Key == key })
}

// earlierResult returns what an agent with flows says about the result of an adopted task. It
// uses at most limit bytes of the result.
func earlierResult(phrases *messages.Catalog, limit int, r result) string {
	if r.Failed {
		return phrases.Text("task.earlier.failed")
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
		text = "" // a number or a list means nothing to a listener
	}
	return joinWords(phrases.Text("task.earlier.done"), squeeze(cutRunes(text, limit)))
}

// cancelTasks cancels the delegated work of the open reply because the person asked for that.
// If it is the action of a flow, the flow is told that it was cancelled, and its answer is
// told later.
func (c *Conversation) cancelTasks() {
	for i := 0; i < len(c.st.Calls); {
		call := c.st.Calls[i]
		if call.Turn != c.st.Reply.Turn || !call.Long || !call.Running() {
			i++
			continue
		}
		c.endCalledOff(i)
	}
}

// endCalledOff ends a delegated call that the person cancelled.
func (c *Conversation) endCalledOff(i int) {
	c.st.cancelCall(&c.out, i)
	call := c.endCall(i, failedResult("CANCELLED", "the user called it off", ""))
	if call.Action() {
		c.st.tellLater(&c.out, &c.opts, c.opts.Agent.Handle(c.st.flows(), c.st.Now, dialog.ActionEnded{ID: call.ID, Cancelled: true}))
	}
}

// callOffTask cancels one delegated call. If the reply waits for no other call, the reply is
// given up too.
func (c *Conversation) callOffTask(i int) {
	call := &c.st.Calls[i]
	awaited := !call.Background() && call.Turn == c.st.Reply.Turn
	c.endCalledOff(i)
	if quick, long := c.st.Calls.open(c.st.Reply.Turn); awaited && c.st.Phase == Delegated && quick+long == 0 {
		c.leaveTasks(causeUserCancel)
	}
}

// callOffAloud cancels the work because the user said so. A model answers the user's turn. If
// the work is the action of a flow, the flow itself answers, so the turn ends here.
func (c *Conversation) callOffAloud(ends bool) {
	u := &c.st.User
	u.Ended = u.Ended || ends
	if c.st.Calls.action(c.st.Reply.Turn) {
		c.st.openUserTurn(&c.out)
		c.st.addItem(&c.opts, Item{Turn: u.Turn, Role: RoleUser, Text: c.st.written(&c.opts, u.Words())})
		c.st.closeUserTurn(&c.out, TurnCompleted)
		c.st.Floor.Speaking = false
	}
	c.cancelTasks()
	c.leaveTasks(causeUserCancel)
}

// leaveTasks gives up the reply and listens again after delegated work was cancelled.
func (c *Conversation) leaveTasks(cause Cause) {
	c.st.DeadAir.UserActive(c.st.Now)
	c.cancelReply(TurnInterrupted)
	c.st.Floor.Barged = 0
	c.become(ListeningReady, cause)
}

// announceNews asks the model to tell the results that no reply waited for.
func (c *Conversation) announceNews() {
	cause := causeTold
	switch c.event {
	case causeToolDone, causeToolFailed, causeTaskDone, causeTaskFailed:
		cause = c.event
	default:
	}
	c.st.Pending.takeNews()
	c.st.openReply(&c.out, ReplyNews, 0)
	c.become(Understanding, cause)
	c.st.request(&c.out, &c.opts, RequestTaskResult, "")
}
