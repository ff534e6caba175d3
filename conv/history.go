package conv

import (
	"slices"
	"time"

	"github.com/hocketvoice/hocket/dialog"
)

// history is what was said and done, in the order of the turns.
type history []Item

// spoken returns the text of an item that the heard time of the turn covers: after a cut, only
// the text that was heard then.
func (it *Item) spoken() string {
	if it.Cut {
		return it.Text + " "
	}
	return it.Full
}

// eachPart calls f with the items of an agent's turn up to a part.
func (h history) eachPart(number, part int, f func(*Item)) {
	for i := range h {
		if it := &h[i]; it.Turn == number && it.Role == RoleAgent && it.Part <= part {
			f(it)
		}
	}
}

// lastPart returns the last part of an agent's turn, or 0 if there is none.
func (h history) lastPart(number int) (part int) {
	for i := range h {
		if it := &h[i]; it.Turn == number && it.Role == RoleAgent {
			part = it.Part
		}
	}
	return part
}

// wasCut reports whether a part of an agent's turn was cut off or measured.
func (h history) wasCut(number int) bool {
	return slices.ContainsFunc(h, func(it Item) bool {
		return it.Turn == number && it.Role == RoleAgent && (it.Interrupted || it.Cut)
	})
}

// eachHeard calls f with each item of an agent's turn up to a part and with the number of bytes
// of its spoken text that were heard. It computes the numbers from what was heard of the turn.
func (h history) eachHeard(number, part int, heard time.Duration, text string, f func(it *Item, n int)) {
	full := ""
	h.eachPart(number, part, func(it *Item) { full += it.spoken() })
	rest := len(heardPrefix(full, heard, text))
	h.eachPart(number, part, func(it *Item) {
		n := min(rest, len(it.spoken()))
		rest -= n
		f(it, n)
	})
}

// markHeard cuts the items of the agent's turn with this number, up to a part, to what was
// heard. heard is how much audio was heard; text is the text that was heard, or empty if the
// playout did not report it. Items that were measured before do not change.
func (h history) markHeard(number, part int, heard time.Duration, text string) {
	h.eachHeard(number, part, heard, text, func(it *Item, n int) {
		if it.Cut {
			return
		}
		it.Text = squeeze(it.Full[:n])
		it.Interrupted = n < len(it.Full)
	})
}

// shorten cuts items of an agent's turn that were measured before, up to a part, further if
// less of them was heard. The measure before may have been an estimate.
func (h history) shorten(number, part int, heard time.Duration, text string) {
	h.eachHeard(number, part, heard, text, func(it *Item, n int) {
		if it.Cut && n < len(it.Text) {
			it.Text, it.Interrupted = squeeze(it.Text[:n]), true
		}
	})
}

// measured notes that no more will be heard of the items of an agent's turn up to a part.
func (h history) measured(number, part int) {
	h.eachPart(number, part, func(it *Item) { it.Cut = true })
}

// remeasure cuts the items of an agent's turn up to a part to the exact measure, the last part
// also if it was measured before. It reports whether that was so.
func (h history) remeasure(number, part int, heard time.Duration, text string) (again bool) {
	var cut []*Item
	h.eachPart(number, part, func(it *Item) {
		if it.Cut && it.Part == part {
			it.Cut = false
			cut = append(cut, it)
		}
	})
	h.markHeard(number, part, heard, text)
	for _, it := range cut {
		it.Cut = true
	}
	return len(cut) > 0
}

// agentText returns what was heard of an agent's turn up to a part.
func (h history) agentText(number, part int) (text string) {
	h.eachPart(number, part, func(it *Item) { text = joinWords(text, it.Text) })
	return text
}

// utteranceText returns what the user said in a turn, or the empty string if the history does
// not contain it.
func (h history) utteranceText(number int) string {
	for i := len(h) - 1; i >= 0; i-- {
		if it := &h[i]; it.Turn == number && it.Role == RoleUser {
			return it.Text
		}
	}
	return ""
}

// call returns the last call with this id, or nil.
func (h history) call(id string) *Item {
	for i := len(h) - 1; i >= 0; i-- {
		if it := &h[i]; it.Role == RoleTool && it.CallID == id {
			return it
		}
	}
	return nil
}

// nameOf returns the name of the tool of a call that has its result, or "".
func (h history) nameOf(id string) string {
	if it := h.call(id); it != nil {
		return it.Name
	}
	return ""
}

// placeOf returns the index of what the user said in a turn, and true, or else the index of the
// first item of a later turn, before which it would stand.
func (h history) placeOf(number int) (at int, there bool) {
	at = len(h)
	for i := range h {
		if h[i].Turn == number && h[i].Role == RoleUser {
			return i, true
		}
		if h[i].Turn > number && i < at {
			at = i
		}
	}
	return at, false
}

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
	at, there := s.History.placeOf(number)
	if there {
		if it := &s.History[at]; it.Text != dialog.Hidden {
			it.Text = s.Floor.withFinal(it.Text, text)
		}
		return
	}
	s.History = slices.Insert(s.History, at, Item{Turn: number, Role: RoleUser, Text: text, At: s.Now})
	s.Summary.inserted(at)
	if over := len(s.History) - o.HistoryLimit; over > 0 {
		s.History = append(s.History[:0], s.History[over:]...)
		s.Summary.forgot(over)
	}
}
