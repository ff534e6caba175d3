package conv

import (
	"strings"

	"github.com/hocketvoice/hocket/dialog"
)

// This file: what the flows ask a language model about: what the user meant, and
// other words for what they say. They go on without it when it fails, takes too
// long or answers nonsense; therefore there is one try, and no failure of it is one
// of the conversation. Seed 003, NLU; ADR 0020.

// consulting reports whether the request that is out is one for advice.
func (c *Conversation) consulting() bool {
	r := &c.st.Reply
	return r.Request != 0 && (r.Why == RequestUnderstanding || r.Why == RequestWording)
}

// unread reports whether the flows have not taken in what the user said: a model
// is asked what it means.
func (c *Conversation) unread() bool { return c.consulting() && c.st.Reply.Why == RequestUnderstanding }

// wordable reports whether a model may say it in other words: nothing of it is
// fixed, and each value that it says can be found again.
func (c *Conversation) wordable(say []dialog.Line, text string) bool {
	for _, line := range say {
		if line.Fixed {
			return false
		}
	}
	return text != "" && c.opts.Agent.Rephrasable(text, c.st.Dialogue.Slots, c.st.Now)
}

// consult asks for advice. The phase stays Understanding: nothing of the reply is
// there before the advice is.
func (c *Conversation) consult(why RequestReason, text string) {
	r := &c.st.Reply
	c.st.LastRequest++
	r.Request, r.Attempt, r.Why, r.Asked = c.st.LastRequest, 1, why, text
	r.Requested, r.Answered, r.Done = false, false, false
	r.Advised, r.Advice = false, ""
	c.arm(TimerTry, c.opts.Limits.Advice)
	c.emitRequest()
}

// advised takes the advice, empty for none. While the reply is held it is kept:
// the user may go on talking, and then it is about half of what they say.
func (c *Conversation) advised(text, cause string) {
	r := &c.st.Reply
	c.disarm(TimerTry)
	r.Advised, r.Advice = true, text
	if !r.Held {
		c.followAdvice(cause)
	}
}

// followAdvice goes on with what the flows do with the advice.
func (c *Conversation) followAdvice(cause string) {
	r := &c.st.Reply
	why, asked, advice := r.Why, r.Asked, r.Advice
	r.Request, r.Attempt, r.Why, r.Asked, r.Requested = 0, 0, "", "", false
	r.Advised, r.Advice = false, ""
	a, d := c.opts.Agent, c.flows()
	if why == RequestWording {
		text := asked
		if words := squeeze(advice); a.KeepsValues(text, words, d.Slots, c.st.Now) {
			text = words
			a.Reworded(d, text)
			if b := &c.st.ReadBack; b.Text != "" && strings.HasSuffix(asked, b.Text) {
				b.open(&dialog.Question{Text: text}) // nobody knows where its last value is
			}
		}
		c.sayWords(text, "", cause)
		return
	}
	c.followDialogue(a.Handle(d, c.st.Now, a.Interpret(d, c.st.Now, []byte(advice))), cause)
}

// unadvised gives up a request for advice whose reply is taken back. The flows
// have not taken in what the user said: it is understood together with what comes
// next, or once more.
func (c *Conversation) unadvised() {
	r := &c.st.Reply
	if !c.unread() {
		return
	}
	text := c.opts.Agent.TakeBack(c.flows(), c.st.Now)
	c.expect(c.opts.Agent.Expect(&c.st.Dialogue))
	c.st.Conn.owes(r.UserTurn, text, false, r.Began)
}
