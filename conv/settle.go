package conv

import (
	"time"

	"github.com/hocketvoice/hocket/turn"
)

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
	switch {
	case c.st.userWaits(&c.opts):
		p.Greeted = true // the user was first
		ended := st.User.Ended || !st.Floor.Speaking && st.User.Partial == "" && st.User.Text != ""
		c.takeFloor("queued")
		if ended {
			c.endTurn("queued", false)
		}
	case len(p.Texts) > 0:
		p.Greeted = true
		text := p.Texts[0]
		p.Texts = append(p.Texts[:0:0], p.Texts[1:]...)
		c.st.openUserTurn(&c.out)
		c.began = p.TypedAt
		c.st.User.note(text, 1, true, c.began)
		if len(p.Texts) == 0 {
			p.TypedAt = time.Time{}
		}
		st.User.Ended = true
		c.become(Understanding, "user.text")
		c.commit("user.text")
	case st.Conn.Unanswered.Turn != 0:
		c.resumeUnanswered()
	case p.Resume != "" && st.Floor.Barged == 0:
		rest := p.Resume
		p.Resume = ""
		c.say(ReplyResumed, rest, "", "resume")
		c.st.asksAgain()
	case p.Apology != "":
		code := p.Apology
		p.Apology = ""
		c.say(ReplyNotice, c.phrases.Text(code), code, "told")
	case len(p.Tell) > 0:
		c.tellNext()
	case len(p.Follow) > 0:
		c.followNext()
	case len(p.News) > 0:
		c.announceNews()
	case len(p.Settle) > 0:
		c.st.Pending.settleTasks(&c.out) // all that they led to has been told
	case p.Ending:
		c.becomeTerminating("dead_air")
	case !p.Greeted:
		p.Greeted = true
		return c.greet()
	default:
		c.st.askSummary(&c.out, &c.opts) // it is made beside the conversation
		return false
	}
	return true
}

// userWaits reports whether the user spoke, or speaks, since before the
// microphone was free.
func (s *State) userWaits(o *Options) bool {
	f := &s.Floor
	if o.Endpoint == turn.PolicyManual && !f.Pushed {
		return s.User.Ended && s.User.Words() != ""
	}
	return f.Speaking || s.User.Words() != ""
}

// deadAirPassed takes the next step of the escalation (seed 004, feature 7).
func (c *Conversation) deadAirPassed() {
	step, ok := c.st.DeadAir.Passed(c.opts.DeadAir, c.st.Now)
	if !ok {
		return // No op. Early.
	}
	kind := ReplyCheckIn
	if step.End {
		kind = ReplyGoodbye
		c.st.Pending.Ending = true
	}
	c.say(kind, c.phrases.Text(step.Code), step.Code, "dead_air")
}

// tellNext says what was noted, in one turn.
func (c *Conversation) tellNext() {
	p := &c.st.Pending
	text := ""
	for _, t := range p.Tell {
		text = joinWords(text, t)
	}
	p.Telling, p.Tell = p.Tell, nil
	c.say(ReplyNews, text, "", "told")
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

// untoldNews puts back the news that was being told.
func (p *Pending) untoldNews(limit int) {
	p.Tell = putBack(p.Telling, p.Tell, limit)
	p.News = putBack(p.Announcing, p.News, limit)
	p.Telling, p.Announcing = nil, nil
}

// putBack puts what was taken from a queue before what has come since, within
// the queue's bound.
func putBack(taken, list []string, limit int) []string {
	all := append(append([]string(nil), taken...), list...)
	return all[max(0, len(all)-limit):]
}
