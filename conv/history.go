package conv

import "time"

// addItem appends to the history within its bound; the oldest go first.
func (c *Conversation) addItem(it Item) {
	it.At = c.now
	h := &c.st.History
	if len(*h) >= c.opts.HistoryLimit {
		n := copy(*h, (*h)[1:])
		*h = (*h)[:n]
	}
	*h = append(*h, it)
}

// sealPart writes the part of the agent's turn that is complete, or is given
// up, to the history. What was heard of it is corrected when the turn ends.
func (c *Conversation) sealPart() {
	r := &c.st.Reply
	text := r.Text[c.sealed(r.Turn):]
	if text == "" {
		return
	}
	c.addItem(Item{Turn: r.Turn, Role: RoleAgent, Text: squeeze(text), Full: text})
}

// sealed is how many bytes of the turn's text are in the history already.
func (c *Conversation) sealed(number int) int {
	n := 0
	for i := range c.st.History {
		it := &c.st.History[i]
		if it.Turn == number && it.Role == RoleAgent {
			n += len(it.Full)
		}
	}
	return n
}

// markHeard cuts the items of an agent's turn to what was heard of full, the
// turn's whole text.
func (c *Conversation) markHeard(number int, full string, heard time.Duration, text string) {
	rest := len(heardPrefix(full, heard, text))
	for i := range c.st.History {
		it := &c.st.History[i]
		if it.Turn != number || it.Role != RoleAgent {
			continue
		}
		n := min(rest, len(it.Full))
		rest -= n
		it.Text = squeeze(it.Full[:n])
		it.Interrupted = n < len(it.Full)
	}
}

// utteranceText finds what the user said in a turn.
func (c *Conversation) utteranceText(number int) string {
	for i := len(c.st.History) - 1; i >= 0; i-- {
		if it := &c.st.History[i]; it.Turn == number && it.Role == RoleUser {
			return it.Text
		}
	}
	return ""
}
