package conv

import (
	"slices"
	"time"

	"github.com/hocketvoice/hocket/dialog"
)

// addItem appends to the history within its bound; the oldest go first.
func (s *State) addItem(o *Options, it Item) {
	it.At, s.changed = s.Now, true
	h := &s.History
	if len(*h) >= o.HistoryLimit {
		n := copy(*h, (*h)[1:])
		*h = (*h)[:n]
		s.Summary.forgot(1)
	}
	*h = append(*h, it)
}

// sealPart writes what the current part of the agent's turn has said to the
// history. What was heard of it is corrected when the turn ends.
func (s *State) sealPart(o *Options) {
	r := &s.Reply
	text := r.Text[r.Sealed:]
	r.Sealed = len(r.Text)
	if squeeze(text) == "" {
		return
	}
	s.addItem(o, Item{Turn: r.Turn, Role: RoleAgent, Text: squeeze(text), Full: text, Part: r.Part})
}

// markHeard cuts the items of an agent's turn, up to a part, to what was heard.
// text is what the playout says was heard, if it can tell.
func (s *State) markHeard(number, part int, heard time.Duration, text string) {
	s.changed = true
	s.eachHeard(number, part, heard, text, func(it *Item, n int) {
		if it.Cut {
			return // it was measured when it was cut off
		}
		it.Text = squeeze(it.Full[:n])
		it.Interrupted = n < len(it.Full)
	})
}

// shorten cuts parts of an agent's turn that were measured before to what the exact measure
// of the whole turn leaves of them: the measure before may have been an estimate.
func (s *State) shorten(number, part int, heard time.Duration, text string) {
	s.eachHeard(number, part, heard, text, func(it *Item, n int) {
		if it.Cut && n < len(it.Text) {
			it.Text, it.Interrupted = squeeze(it.Text[:n]), true
		}
	})
}

// eachHeard divides what was heard of an agent's turn among its items up to a part, and
// calls f with each and the number of bytes of its spoken text that were heard.
func (s *State) eachHeard(number, part int, heard time.Duration, text string, f func(it *Item, n int)) {
	full := ""
	s.eachPart(number, part, func(it *Item) { full += it.spoken() })
	rest := len(heardPrefix(full, heard, text))
	s.eachPart(number, part, func(it *Item) {
		n := min(rest, len(it.spoken()))
		rest -= n
		f(it, n)
	})
}

// spoken returns the text of an item that counts when the time that was heard is
// divided among the parts of a turn.
func (it *Item) spoken() string {
	if it.Cut {
		return it.Text + " "
	}
	return it.Full
}

// eachPart calls f with the items of an agent's turn up to a part.
func (s *State) eachPart(number, part int, f func(*Item)) {
	for i := range s.History {
		it := &s.History[i]
		if it.Turn == number && it.Role == RoleAgent && it.Part <= part {
			f(it)
		}
	}
}

// measured notes that no more will be heard of a turn's parts up to one.
func (s *State) measured(number, part int) {
	s.changed = true
	s.eachPart(number, part, func(it *Item) { it.Cut = true })
}

// agentText is what was heard of an agent's turn.
func (s *State) agentText(number int) string {
	text := ""
	s.eachPart(number, s.Reply.Part, func(it *Item) { text = joinWords(text, it.Text) })
	return text
}

// utteranceText finds what the user said in a turn.
func (s *State) utteranceText(number int) string {
	for i := len(s.History) - 1; i >= 0; i-- {
		if it := &s.History[i]; it.Turn == number && it.Role == RoleUser {
			return it.Text
		}
	}
	return ""
}

// written returns the words of the user as the history keeps them. Words that answer
// a question for a secret, or that tell a secret by themselves, are hidden.
func (s *State) written(o *Options, text string) string {
	if text != "" && (s.Expect.Secret || o.Agent != nil && o.Agent.TellsSecret(&s.Dialogue, s.Now, text, false)) {
		return dialog.Hidden
	}
	return text
}

// correctUtterance puts the final transcript of a turn that was answered without
// it at its place in the history.
func (s *State) correctUtterance(o *Options, number int, text string) {
	if text == "" {
		return
	}
	s.changed = true
	text = s.written(o, text)
	h := s.History
	at := len(h)
	for i := range h {
		if h[i].Turn == number && h[i].Role == RoleUser {
			if h[i].Text != dialog.Hidden {
				h[i].Text = s.Floor.withFinal(h[i].Text, text)
			}
			return
		}
		if h[i].Turn > number && i < at {
			at = i
		}
	}
	s.History = slices.Insert(h, at, Item{Turn: number, Role: RoleUser, Text: text, At: s.Now})
	s.Summary.inserted(at)
	if over := len(s.History) - o.HistoryLimit; over > 0 {
		s.History = append(s.History[:0], s.History[over:]...)
		s.Summary.forgot(over)
	}
}
