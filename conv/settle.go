package conv

import "fmt"

// This file: what waits for its moment in ListeningReady.

// settle does in ListeningReady what has waited for it, until nothing is left
// to do: a voice that is already heard, words that were queued, typed lines,
// answers that were cut off, news, the greeting.
func (c *Conversation) settle() {
	for c.st.Phase == ListeningReady && c.settleOnce() {
	}
}

// settleOnce does the next thing and reports whether there was one.
func (c *Conversation) settleOnce() bool {
	st := &c.st
	p := &st.Pending
	switch next := st.next(&c.opts); next {
	case waitingUser:
		p.Greeted, p.Recover = true, false // the user was first, and decides
		ended := st.User.Ended || !st.Floor.Speaking && st.User.Partial == "" && st.User.Text != ""
		c.takeFloor(causeQueued)
		if ended {
			c.endTurn(causeQueued, false)
		}
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
		c.say(ReplyResumed, p.takeRest(), "", causeResume)
		st.asksAgain()
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
		st.askSummary(&c.out, &c.opts) // it is made beside the conversation
		return false
	default:
		panic(fmt.Sprintf("conv: unexpected waiting %d", next))
	}
	return true
}

// deadAirPassed takes the next step of the escalation (seed 004, feature 7).
func (c *Conversation) deadAirPassed() {
	step, ok := c.st.DeadAir.Passed(c.opts.DeadAir, c.st.Now)
	if !ok {
		return // The deadline has not passed.
	}
	kind := ReplyCheckIn
	if step.End {
		kind = ReplyGoodbye
		c.st.Pending.Ending = true
	}
	c.say(kind, c.phrases.Text(step.Code), step.Code, causeDeadAir)
}

// untold puts back what was being told when it was lost before it was heard.
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
