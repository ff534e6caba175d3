package conv

import (
	"strings"

	"github.com/hocketvoice/hocket/internal/timers"
)

// This file hands the words of the agent to the voice. Source: seed 000, REQ-006.

// finishText completes the current part: it hands the rest of the text to the voice and tells
// the voice that no more follows.
func (s *State) finishText(out *Output) {
	r := &s.Reply
	r.Progress = progressComplete
	if s.Phase == Speaking {
		s.disarm(timers.Processing) // from here on TimerPlayout applies
	}
	s.Reply.speakSentences(out, true)
	s.Reply.close(out)
}

// say speaks words of the engine or of the dialogue in a new turn of the agent. code is the
// code of the message if the words are the engine's, and else empty.
func (c *Conversation) say(kind ReplyKind, text, code string, cause Cause) {
	c.st.openReply(&c.out, kind, 0)
	c.sayWords(text, code, cause)
}

// sayWords completes the open reply with words of the engine or of the dialogue.
func (c *Conversation) sayWords(text, code string, cause Cause) {
	r := &c.st.Reply
	r.Requested, r.Progress = true, progressComplete
	c.become(Generating, cause)
	c.st.arm(timers.Processing, c.opts.Limits.Processing)
	if code != "" {
		r.Text += text
		c.st.Reply.speak(&c.out, text, code)
	} else {
		c.st.speakAll(&c.out, text)
	}
	c.st.Reply.close(&c.out)
	c.maybeEndReply(cause)
}

// speakAll adds a whole text to the reply and hands it to the voice.
func (s *State) speakAll(out *Output, text string) {
	r := &s.Reply
	at := len(r.Text)
	if r.Text != "" && text != "" {
		text, at = " "+text, at+1
	}
	s.ReadBack.said(strings.TrimSpace(text), r.Turn, r.Part, at)
	r.add(text)
	s.Reply.speakSentences(out, true)
}
