package conv

// This file answers turns of the user whose words are not known yet: a speech-to-speech service
// has heard the sound itself. The words come later and go to their place in the history. Source:
// seed 001, 4.2 and 4.3; ADR 0033.

// answersSound reports whether the user's turn is answered now, before its words are known. It is
// not if the words decide: as below, or because a call waits for the user's yes.
func (c *Conversation) answersSound() bool { return c.needsNoWords() && len(c.st.Consent.Calls) == 0 }

// needsNoWords reports whether the user's turn can be answered without its words. It cannot if
// flows read them, or if a held reply is released when there are none.
func (c *Conversation) needsNoWords() bool {
	return c.opts.SpeechToSpeech && c.opts.Agent == nil && c.st.Reply.Turn == 0 && !c.st.Rules.ListenOnly
}

// transcriptTimedOut answers the user's turn although its final transcript has not come.
func (c *Conversation) transcriptTimedOut() {
	if c.st.User.Words() == "" && c.needsNoWords() {
		c.answerSound(causeTranscriptTimeout) // the service has heard what it could not write down
		return
	}
	c.commit(causeTranscriptTimeout)
}

// answerSound answers the user's turn. Its last stretch of speech has no words yet.
func (c *Conversation) answerSound(cause Cause) {
	f := &c.st.Floor
	if c.st.User.Began.IsZero() {
		c.st.User.Began = f.Voice
	}
	c.st.User.Partial = ""           // the final words replace them
	unwritten := max(f.Utterance, 1) // the audio input may not number them
	c.answer(cause)
	c.st.History.leaveOpen(c.st.Reply.UserTurn, unwritten)
	f.Closed = max(f.Closed, f.Utterance) // interim words are too late
}

// leaveOpen notes that the words of a stretch of speech are missing from a turn of the user.
func (h history) leaveOpen(number, utterance int) {
	if at, there := h.placeOf(number); there {
		h[at].Unwritten = utterance
	}
}

// unwritten returns the turn of the user that misses the words of a stretch of speech, or nil. It
// is the last such turn if the audio input does not number the stretches.
func (h history) unwritten(number, utterance int) *Item {
	for i := len(h) - 1; i >= 0; i-- {
		it := &h[i]
		if it.Unwritten != 0 && (number == 0 || number == it.Turn) && (utterance == 0 || utterance == it.Unwritten) {
			return it
		}
	}
	return nil
}

// writeDown writes the words of a stretch of speech to the turn that misses them.
func (s *State) writeDown(o *Options, it *Item, text string) {
	s.changed = true
	it.Text = joinWords(it.Text, s.written(o, text))
	it.Unwritten = 0
	if waits := &s.Conn.Unanswered; waits.Turn == it.Turn && text != "" {
		waits.completed(it.Text)
	}
}
