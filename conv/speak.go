package conv

import "strings"

// This file: how the words of the agent reach the voice. Seed 000, REQ-006.

// finishText hands the rest of the part to the voice and says that it is all.
func (s *State) finishText(out *Output) {
	r := &s.Reply
	r.Progress = ProgressComplete
	if s.Phase == Speaking {
		s.disarm(TimerProcessing) // the playout has a clock of its own
	}
	s.Reply.speakSentences(out, true)
	s.Reply.close(out)
}

// say speaks words that need no request: the engine's own, or the dialogue's.
func (c *Conversation) say(kind ReplyKind, text, code string, cause Cause) {
	c.st.openReply(&c.out, kind, 0)
	c.sayWords(text, code, cause)
}

func (c *Conversation) sayWords(text, code string, cause Cause) {
	r := &c.st.Reply
	r.Requested, r.Progress = true, ProgressComplete
	c.become(Generating, cause)
	c.st.arm(TimerProcessing, c.opts.Limits.Processing)
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
