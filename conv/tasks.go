package conv

import (
	"encoding/json"
	"fmt"
	"slices"

	"github.com/hocketvoice/hocket/dialog"
	"github.com/hocketvoice/hocket/internal/messages"
)

// This file: delegated work that outlives the reply that asked for it, or the
// conversation. Seed 001, 4.6: feedback while it runs, and a result that is told
// exactly once, whoever is there to hear it.

func (s *State) handleTaskProgress(out *Output, o *Options, e TaskProgress) {
	if s.Phase != Delegated {
		return
	}
	s.arm(TimerHeartbeat, o.Limits.Heartbeat)
	if e.Text != "" {
		out.emit(Cue{Turn: s.Reply.Turn, Code: "progress", Text: e.Text})
	}
}

// startFeedback begins to tell the person that an agent works (seed 001, 4.6).
func (s *State) startFeedback(out *Output, o *Options, phrases *messages.Catalog) {
	s.arm(TimerHeartbeat, o.Limits.Heartbeat)
	s.Pending.Feedback = 0
	if f := o.Limits.Feedback; len(f) > 0 {
		s.arm(TimerFeedback, f[0].After)
		if f[0].After == 0 {
			s.giveFeedback(out, o, phrases)
		}
	}
}

func (s *State) giveFeedback(out *Output, o *Options, phrases *messages.Catalog) {
	f := o.Limits.Feedback
	n := s.Pending.Feedback
	s.disarm(TimerFeedback)
	if n >= len(f) {
		return // The snapshot is of a configuration with more feedback.
	}
	out.emit(Cue{Turn: s.Reply.Turn, Code: f[n].Code, Text: phrases.Text(f[n].Code)})
	s.Pending.Feedback++
	if n+1 < len(f) {
		s.arm(TimerFeedback, f[n+1].After-f[n].After)
	}
}

// handleTaskAdopted takes a task over whose result will be told when it is there.
func (s *State) handleTaskAdopted(out *Output, o *Options, e TaskAdopted) {
	if s.Phase == Idle || s.Phase == Terminating || len(s.Calls) >= o.Limits.Calls || s.adopted(e.Key) {
		return // The task stays with its store until it can be taken.
	}
	s.LastCall++
	call := Call{
		ID: fmt.Sprintf("earlier-%d", s.LastCall), Key: e.Key, Name: e.Name, Arguments: e.Arguments, Long: true,
		State: CallRunning, Due: DueNews, Origin: OriginEarlier,
		Started: s.Now, Deadline: s.Now.Add(o.Limits.Task),
	}
	s.Calls, s.changed = append(s.Calls, call), true
	out.emit(FollowTask{ID: call.ID, Key: call.Key})
}

// adopted reports whether a task is this conversation's already.
func (s *State) adopted(key string) bool {
	return s.Calls.adopted(key) ||
		slices.ContainsFunc(s.Pending.Settle, func(s Settled) bool { return s.Adopted && s.Key == key })
}

// earlierResult words the result of a task of an earlier conversation, of at most
// limit bytes, for flows.
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
		text = "" // numbers and lists tell a listener nothing
	}
	return joinWords(phrases.Text("task.earlier.done"), squeeze(cutRunes(text, limit)))
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
	c.st.cancelCall(&c.out, i)
	call := c.endCall(i, failedResult("CANCELLED", "the user called it off", ""))
	if call.Action() {
		c.st.tellLater(&c.out, &c.opts, c.opts.Agent.Handle(c.st.flows(), c.st.Now, dialog.ActionEnded{ID: call.ID, Cancelled: true}))
	}
}

// callOffTask calls one delegated call off, and leaves the others. What a reply
// waits for alone is left with it.
func (c *Conversation) callOffTask(i int) {
	call := &c.st.Calls[i]
	awaited := !call.Background() && call.Turn == c.st.Reply.Turn
	c.endCalledOff(i)
	if quick, long := c.st.Calls.open(c.st.Reply.Turn); awaited && c.st.Phase == Delegated && quick+long == 0 {
		c.leaveTasks(causeUserCancel)
	}
}

// callOffAloud calls the work off because the person said so. A model answers that
// turn; a flow has given its answer already.
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

// leaveTasks goes back to listening from delegated work that was called off.
func (c *Conversation) leaveTasks(cause Cause) {
	c.st.DeadAir.UserActive(c.st.Now)
	c.cancelReply(TurnInterrupted)
	c.st.Floor.Barged = 0
	c.become(ListeningReady, cause)
}

// announceNews tells the results of delegated agents that nobody waited for: as they
// come, or at the next moment when nobody speaks.
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
