package conv

import "fmt"

// This file does the work that waits for ListeningReady.

// settle does the work that waits ([pending]), one kind after the other, as long as the phase
// is ListeningReady and work is left.
func (c *Conversation) settle() {
	for c.st.Phase == ListeningReady && c.settleOnce() {
	}
}

// settleOnce does the next piece of work and reports whether there was one.
func (c *Conversation) settleOnce() bool {
	st := &c.st
	p := &st.Pending
	switch next := st.next(&c.opts); next {
	case waitingUser:
		p.Greeted, p.Recover = true, false // the user's words replace greeting and recovery
		c.hearQueued()
	case waitingText:
		p.Greeted, p.Recover = true, false
		var text string
		text, c.began = p.takeText()
		st.openUserTurn(&c.out)
		st.User.note(text, 1, true, c.began)
		st.User.Ended = true
		c.become(Understanding, causeUserText)
		c.commit(causeUserText)
	case waitingRecovery:
		p.Recover = false
		c.recoverDialogue()
	case waitingAnswer:
		c.resumeUnanswered()
	case waitingRest:
		c.goOn()
	case waitingApology:
		code := p.takeApology()
		c.say(ReplyNotice, c.phrases.Text(code), code, causeTold)
	case waitingWords:
		c.say(ReplyNews, p.takeWords(), "", causeTold)
	case waitingFlow:
		out := p.takeFlow()
		st.openReply(&c.out, ReplyNews, 0)
		c.become(Understanding, causeTold)
		c.followDialogue(out, "told")
	case waitingNews:
		c.announceNews()
	case waitingTask:
		p.settleTasks(&c.out) // all that they led to has been told
	case waitingEnd:
		c.becomeTerminating(causeDeadAir)
	case waitingGreeting:
		p.Greeted = true
		return c.greet()
	case waitingNothing:
		st.askSummary(&c.out, &c.opts) // the conversation does not wait for the summary
		return false
	default:
		panic(fmt.Sprintf("conv: unexpected waiting %d", next))
	}
	return true
}

// hearQueued gives the floor to the user, who speaks or has already spoken.
func (c *Conversation) hearQueued() {
	u := &c.st.User
	ended := u.Ended || !c.st.Floor.Speaking && u.Partial == "" && u.Text != ""
	c.takeFloor(causeQueued)
	if ended {
		c.endTurn(causeQueued, false)
	}
}

// deadAirPassed takes the next step of [Options.DeadAir]: the agent checks in or says goodbye
// (seed 004, feature 7).
func (c *Conversation) deadAirPassed() {
	step, ok := c.st.DeadAir.Passed(c.opts.DeadAir, c.st.Now)
	if !ok {
		return // the deadline has not passed
	}
	kind := ReplyCheckIn
	if step.End {
		kind = ReplyGoodbye
		c.st.Pending.Ending = true
	}
	c.say(kind, c.phrases.Text(step.Code), step.Code, causeDeadAir)
}

// untold puts back the greeting or the news that the reply was to tell, if the reply is lost
// before any of it was heard.
func (s *State) untold(o *Options) {
	if s.Reply.Turn == 0 || s.partHeard() {
		return
	}
	p := &s.Pending
	switch s.Reply.Kind {
	case ReplyGreeting:
		p.Greeted = false
	case ReplyNews:
		p.untoldNews(o.Limits.Queue)
	default:
	}
}
