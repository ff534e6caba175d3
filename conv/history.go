package conv

import (
	"slices"
	"time"

	"github.com/hocketvoice/hocket/dialog"
)

// addItem appends to the history within its bound; the oldest go first.
func (c *Conversation) addItem(it Item) {
	it.At, c.out.Keep = c.st.Now, true
	h := &c.st.History
	if len(*h) >= c.opts.HistoryLimit {
		n := copy(*h, (*h)[1:])
		*h = (*h)[:n]
		c.st.Summary.forgot(1)
	}
	*h = append(*h, it)
}

// sealPart writes what the current part of the agent's turn has said to the
// history. What was heard of it is corrected when the turn ends.
func (c *Conversation) sealPart() {
	r := &c.st.Reply
	text := r.Text[r.Sealed:]
	r.Sealed = len(r.Text)
	if squeeze(text) == "" {
		return
	}
	c.addItem(Item{Turn: r.Turn, Role: RoleAgent, Text: squeeze(text), Full: text, Part: r.Part})
}

// markHeard cuts the items of an agent's turn, up to a part, to what was heard.
// text is what the playout says was heard, if it can tell.
func (c *Conversation) markHeard(number, part int, heard time.Duration, text string) {
	c.out.Keep = true
	full := ""
	c.eachPart(number, part, func(it *Item) { full += it.spoken() })
	rest := len(heardPrefix(full, heard, text))
	c.eachPart(number, part, func(it *Item) {
		n := min(rest, len(it.spoken()))
		rest -= n
		if it.Cut {
			return // it was measured when it was cut off
		}
		it.Text = squeeze(it.Full[:n])
		it.Interrupted = n < len(it.Full)
	})
}

// spoken is what counts of an item when the time is shared out among the parts
// of a turn.
func (it *Item) spoken() string {
	if it.Cut {
		return it.Text + " "
	}
	return it.Full
}

// eachPart calls f with the items of an agent's turn up to a part.
func (c *Conversation) eachPart(number, part int, f func(*Item)) {
	for i := range c.st.History {
		it := &c.st.History[i]
		if it.Turn == number && it.Role == RoleAgent && it.Part <= part {
			f(it)
		}
	}
}

// measured notes that no more will be heard of a turn's parts up to one.
func (c *Conversation) measured(number, part int) {
	c.out.Keep = true
	c.eachPart(number, part, func(it *Item) { it.Cut = true })
}

// agentText is what was heard of an agent's turn.
func (c *Conversation) agentText(number int) string {
	text := ""
	c.eachPart(number, c.st.Reply.Part, func(it *Item) { text = joinWords(text, it.Text) })
	return text
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

// written is what the history keeps of the user's words: not what answers a
// question for a secret, or tells one by itself.
func (c *Conversation) written(text string) string {
	if text != "" && (c.st.Expect.Secret || c.opts.Agent != nil && c.opts.Agent.TellsSecret(&c.st.Dialogue, c.st.Now, text, false)) {
		return dialog.Hidden
	}
	return text
}

// withFinal is the words of the turn with a late final transcript in place of
// those that were not final.
func (f *Floor) withFinal(words, final string) string {
	return joinWords(squeeze(words[:max(0, len(words)-f.TailOpen)]), final)
}

// correctUtterance puts the final transcript of a turn that was answered without
// it at its place in the history.
func (c *Conversation) correctUtterance(number int, text string) {
	if text == "" {
		return
	}
	c.out.Keep = true
	text = c.written(text)
	h := c.st.History
	at := len(h)
	for i := range h {
		if h[i].Turn == number && h[i].Role == RoleUser {
			if h[i].Text != dialog.Hidden {
				h[i].Text = c.st.Floor.withFinal(h[i].Text, text)
			}
			return
		}
		if h[i].Turn > number && i < at {
			at = i
		}
	}
	c.st.History = slices.Insert(h, at, Item{Turn: number, Role: RoleUser, Text: text, At: c.st.Now})
	c.st.Summary.inserted(at)
	if over := len(c.st.History) - c.opts.HistoryLimit; over > 0 {
		c.st.History = append(c.st.History[:0], c.st.History[over:]...)
		c.st.Summary.forgot(over)
	}
}
