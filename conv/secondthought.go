package conv

import (
	"time"

	"github.com/hocketvoice/hocket/internal/timers"
	"github.com/hocketvoice/hocket/turn"
)

// This file lets the user add something to a yes. The policy [turn.PolicyAuto] ends a turn soon
// after a complete answer, and what a yes confirms may not be undone: "yes", a breath, "but only
// if it is refundable". Therefore the dialogue gets a spoken yes that may start an action only
// when the user has been silent for a moment. The states of such a yes, which is in the reply:
//
//	none    -> waiting  the user's turn ends and is a yes to the question of a flow
//	waiting -> none     the user stays silent: the dialogue gets the yes
//	waiting -> held     a voice is heard
//	held    -> none     the voice said no words: the dialogue gets the yes
//	held    -> none     the voice said words: the reply is taken back, and the dialogue gets the
//	                    yes together with these words
const secondThought = 500 * time.Millisecond

// requestYes is the reason in a reply for which nothing is requested, because a yes waits.
const requestYes RequestReason = "yes"

// waitForMore keeps what the user has said from the dialogue for a moment, if it is a spoken yes
// that may start an action. It reports whether it is.
func (c *Conversation) waitForMore(text string, confidence float64, cause Cause) bool {
	if c.opts.Endpoint != turn.PolicyAuto || c.opts.Agent == nil || cause == causeUserText {
		return false
	}
	m := c.st.message(text, confidence, c.st.Reply.Began)
	if !c.opts.Agent.Commits(&c.st.Dialogue, c.st.Now, m) {
		return false
	}
	c.st.Reply.asks(0, requestYes, text)
	c.st.arm(timers.AfterYes, secondThought)
	return true
}

// yesStands handles the end of the moment. The user may still speak, if the turn was ended because
// it had lasted too long.
func (c *Conversation) yesStands() {
	if c.st.Floor.Speaking {
		c.speechWhileThinking(causeYesStands)
		return
	}
	c.giveYes(causeYesStands)
}

// giveYes gives the dialogue the yes that it has not got yet.
func (c *Conversation) giveYes(cause Cause) {
	r := &c.st.Reply
	text := r.Asked
	r.asks(0, "", "")
	r.Attempt = 0
	c.ask(RequestUtterance, text, 1, cause) // the recognizer is not in doubt: see [dialog.Agent.Commits]
}
