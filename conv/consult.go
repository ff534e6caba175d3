package conv

import (
	"strings"

	"github.com/hocketvoice/hocket/dialog"
)

// This file: what the flows ask a language model about: what the user meant, and
// other words for what they say. They go on without it when it fails, takes too
// long or answers nonsense; therefore there is one try, and no failure of it is one
// of the conversation. Seed 003, NLU; ADR 0020.

// wordable reports whether a model may say it in other words: nothing of it is
// fixed, and each value that it says can be found again.
func (s *State) wordable(o *Options, say []dialog.Line, text string) bool {
	for _, line := range say {
		if line.Fixed {
			return false
		}
	}
	return text != "" && o.Agent.Rephrasable(text, s.Dialogue.Slots, s.Now)
}

// consult asks for advice. The phase stays Understanding: nothing of the reply is
// there before the advice is.
func (s *State) consult(out *Output, o *Options, why RequestReason, text string) {
	r := &s.Reply
	s.LastRequest++
	r.asks(s.LastRequest, why, text)
	s.arm(TimerTry, o.Limits.Advice)
	out.emit(r.ask())
}

// advised takes the advice, empty for none. While the reply is held it is kept:
// the user may go on talking, and then it is about half of what they say.
func (c *Conversation) advised(text string, cause Cause) {
	r := &c.st.Reply
	c.st.disarm(TimerTry)
	r.Progress, r.Advice = ProgressComplete, text
	if !r.Held() {
		c.followAdvice(cause)
	}
}

// followAdvice goes on with what the flows do with the advice.
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
				b.open(&dialog.Question{Text: text}) // nobody knows where its last value is
			}
		}
		c.sayWords(text, "", cause)
		return
	}
	c.followDialogue(a.Handle(d, c.st.Now, a.Interpret(d, c.st.Now, []byte(advice))), cause)
}

// unadvised gives up a request for advice whose reply is taken back. The flows have
// not understood what the user said: they understand it together with what comes
// next, or later.
func (c *Conversation) unadvised() {
	r := &c.st.Reply
	if !c.st.Reply.unreadWords() {
		return
	}
	text := c.opts.Agent.TakeBack(c.st.flows(), c.st.Now)
	c.st.expect(&c.out, c.opts.Agent.Expect(&c.st.Dialogue))
	c.st.Conn.Unanswered = Unanswered{Turn: r.UserTurn, Text: text, Began: r.Began}
}
