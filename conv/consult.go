package conv

import (
	"strings"

	"github.com/hocketvoice/hocket/dialog"
	"github.com/hocketvoice/hocket/internal/timers"
)

// This file holds the requests for advice that the flows make to a language model: what the
// user meant, and other words for what the flows say. If the model fails, takes too long or
// answers nonsense, the flows continue without advice. Therefore there is one try for each
// request, and a failure is not a fault of the conversation. Sources: seed 003, NLU;
// ADR 0020.

// wordable reports whether a model may reword a text: no line of it is fixed, and each value
// in it can be recognized in other words.
func (s *State) wordable(o *Options, say []dialog.Line, text string) bool {
	for _, line := range say {
		if line.Fixed {
			return false
		}
	}
	return text != "" && o.Agent.Rephrasable(text, s.Dialogue.Slots, s.Now)
}

// consult asks for advice. The phase stays Understanding, because no part of the reply can
// come before the advice.
func (s *State) consult(out *Output, o *Options, why RequestReason, text string) {
	r := &s.Reply
	s.LastRequest++
	r.asks(s.LastRequest, why, text)
	s.arm(timers.Try, o.Limits.Advice)
	out.emit(r.ask())
}

// advised takes the advice; it is empty if the request failed. While the reply is held the
// advice is only kept: if the user continues to speak, it covers half of what they say.
func (c *Conversation) advised(text string, cause Cause) {
	r := &c.st.Reply
	c.st.disarm(timers.Try)
	r.Progress, r.Advice = progressComplete, text
	if !r.Held() {
		c.followAdvice(cause)
	}
}

// followAdvice gives the advice to the flows and carries out what they want.
func (c *Conversation) followAdvice(cause Cause) {
	r := &c.st.Reply
	why, asked, advice := r.Why, r.Asked, r.Advice
	r.asks(0, "", "")
	r.Attempt = 0
	a, d := c.opts.Agent, c.st.flows()
	if why == RequestWording {
		text := asked
		if words := squeeze(advice); a.KeepsValues(text, words, d.Slots, c.st.Now) {
			text = words
			a.Reworded(d, text)
			if b := &c.st.ReadBack; b.Text != "" && strings.HasSuffix(asked, b.Text) {
				b.open(&dialog.Question{Text: text}) // the place of the last value is not known
			}
		}
		c.sayWords(text, "", cause)
		return
	}
	in := a.Interpret(d, c.st.Now, []byte(advice))
	if c.st.Going.waits() && a.Missed(d, c.st.Now, in) {
		a.TakeBack(d, c.st.Now)
		c.st.expect(&c.out, a.Expect(d))
		c.goOn()
		return
	}
	c.st.Going = going{}
	c.followDialogue(a.Handle(d, c.st.Now, in), cause)
}

// unread keeps a turn that the flows have not handled as the unanswered turn, because the reply
// is taken back. The flows interpret it later, alone or together with what the user says next.
func (c *Conversation) unread() {
	r := &c.st.Reply
	if !r.unreadWords() {
		return
	}
	text := r.Asked
	if !r.agrees() {
		text = c.opts.Agent.TakeBack(c.st.flows(), c.st.Now)
	}
	c.st.expect(&c.out, c.opts.Agent.Expect(&c.st.Dialogue))
	c.st.Conn.Unanswered = unanswered{Turn: r.UserTurn, Text: text, Began: r.Began}
}
