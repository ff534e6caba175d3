package conv

import (
	"slices"
	"time"

	"github.com/hocketvoice/hocket/dialog"
)

// addItem appends an item to the history. If the history is full, the oldest item is dropped.
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

// sealPart writes the text of the current part of the reply to the history, as far as it is
// not there yet. When the turn ends, the item is cut to what was heard.
func (s *State) sealPart(o *Options) {
	r := &s.Reply
	text := r.Text[r.Sealed:]
	r.Sealed = len(r.Text)
	if squeeze(text) == "" {
		return
	}
	s.addItem(o, Item{Turn: r.Turn, Role: RoleAgent, Text: squeeze(text), Full: text, Part: r.Part})
}

// markHeard cuts the items of the agent's turn with this number, up to a part, to what was
// heard. heard is how much audio was heard; text is the text that was heard, or empty if the
// playout did not report it. Items that were measured before do not change.
func (s *State) markHeard(number, part int, heard time.Duration, text string) {
	s.changed = true
	s.eachHeard(number, part, heard, text, func(it *Item, n int) {
		if it.Cut {
			return
		}
		it.Text = squeeze(it.Full[:n])
		it.Interrupted = n < len(it.Full)
	})
}

// shorten cuts items of an agent's turn that were measured before, up to a part, further if
// less of them was heard. The measure before may have been an estimate.
func (s *State) shorten(number, part int, heard time.Duration, text string) {
	s.eachHeard(number, part, heard, text, func(it *Item, n int) {
		if it.Cut && n < len(it.Text) {
			it.Text, it.Interrupted = squeeze(it.Text[:n]), true
		}
	})
}

// eachHeard calls f with each item of an agent's turn up to a part and with the number of bytes
// of its spoken text that were heard. It computes the numbers from what was heard of the turn.
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

// spoken returns the text of an item that the heard time of the turn covers: after a cut, only
// the text that was heard then.
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

// measured notes that no more will be heard of the items of an agent's turn up to a part.
func (s *State) measured(number, part int) {
	s.changed = true
	s.eachPart(number, part, func(it *Item) { it.Cut = true })
}

// agentText returns what was heard of an agent's turn.
func (s *State) agentText(number int) string {
	text := ""
	s.eachPart(number, s.Reply.Part, func(it *Item) { text = joinWords(text, it.Text) })
	return text
}

// utteranceText returns what the user said in a turn, or the empty string if the history does
// not contain it.
func (s *State) utteranceText(number int) string {
	for i := len(s.History) - 1; i >= 0; i-- {
		if it := &s.History[i]; it.Turn == number && it.Role == RoleUser {
			return it.Text
		}
	}
	return ""
}

// written returns the user's words in the form in which the history keeps them: hidden if they
// answer a question for a secret or contain a secret.
func (s *State) written(o *Options, text string) string {
	if text != "" && (s.Expect.Secret || o.Agent != nil && o.Agent.TellsSecret(&s.Dialogue, s.Now, text, false)) {
		return dialog.Hidden
	}
	return text
}

// correctUtterance writes the final transcript of a turn that was answered without it to its
// place in the history.
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
