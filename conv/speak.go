package conv

import "strings"

// This file: the way of the agent's words to the voice. Seed 000, REQ-006.

// finishText hands the rest of the part to the voice and says that it is all.
func (c *Conversation) finishText() {
	r := &c.st.Reply
	r.Progress = ProgressComplete
	if c.st.Phase == Speaking {
		c.st.disarm(TimerProcessing) // the playout has a clock of its own
	}
	c.speakSentences(true)
	c.closePart()
}

// closePart tells the voice, once, that the part has no more text.
func (c *Conversation) closePart() {
	if r := &c.st.Reply; r.closes() {
		c.emit(EndSpeech{Turn: r.Turn, Part: r.Part})
	}
}

// speakSentences hands whole sentences to the voice, or with all set the rest
// too.
func (c *Conversation) speakSentences(all bool) {
	r := &c.st.Reply
	if r.Held() || r.Silent {
		return
	}
	for {
		text, ok := r.nextSentence(all)
		if !ok {
			return
		}
		if text != "" {
			c.speak(text, "")
		}
	}
}

func (c *Conversation) speak(text, code string) {
	r := &c.st.Reply
	r.Seq++
	r.voiced()
	c.emit(Speak{Turn: r.Turn, Part: r.Part, Seq: r.Seq, Text: text, Code: code})
}

// say speaks words that need no request: the engine's own, or the dialogue's.
func (c *Conversation) say(kind ReplyKind, text, code, cause string) {
	c.openReply(kind, 0)
	c.sayWords(text, code, cause)
}

func (c *Conversation) sayWords(text, code, cause string) {
	r := &c.st.Reply
	r.Requested, r.Progress = true, ProgressComplete
	c.become(Generating, cause)
	c.st.arm(TimerProcessing, c.opts.Limits.Processing)
	if code != "" {
		r.Text += text
		c.speak(text, code)
	} else {
		c.speakAll(text)
	}
	c.closePart()
	c.maybeEndReply(cause)
}

// speakAll adds a whole text to the reply and hands it to the voice.
func (c *Conversation) speakAll(text string) {
	r := &c.st.Reply
	at := len(r.Text)
	if r.Text != "" && text != "" {
		text, at = " "+text, at+1
	}
	c.st.ReadBack.said(strings.TrimSpace(text), r.Turn, r.Part, at)
	r.add(text)
	c.speakSentences(true)
}
