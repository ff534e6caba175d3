package conv

import (
	"strings"
	"time"

	"github.com/hocketvoice/hocket/dialog"
	"github.com/hocketvoice/hocket/turn"
)

// This file: what the user must have heard before a yes counts. A no, and anything
// else, always counts.

// heardMargin is the least time between the end of the last value, as it is heard, and
// the beginning of a voice that answers it. Typed words need no margin: the person
// who types them has read the question.
const heardMargin = 100 * time.Millisecond

// ReadBack is what the dialogue asks the user to confirm, and how much of it has
// reached the ear. Its life:
//
//	none    -> waiting   the dialogue asks for a yes or no
//	waiting -> saying    the voice is given it, or the rest of it
//	saying  -> waiting   it is cut off; what was heard of it stays heard
//	saying  -> heard     its last value has been heard: from then on a yes counts
//	any     -> waiting   the dialogue asks again, or the agent says something that is
//	                     no answer to the user: a yes after it may be meant for that
//	any     -> none      the dialogue does not wait for a yes any more
//
// Its zero value is none. A dialogue that waits for a yes without a ReadBack, as one
// from an older snapshot does, asks again before it takes a yes.
type ReadBack struct {
	Text string `json:"text,omitempty"` // all of it
	End  int    `json:"end,omitempty"`  // where its last value ends
	Done int    `json:"done,omitempty"` // so much of it has been heard
	// Turn and Part say it, or said it last; it stands at At in the text of the turn,
	// beginning with what is at From in Text.
	Turn  int       `json:"turn,omitempty"`
	Part  int       `json:"part,omitempty"`
	At    int       `json:"at,omitempty"`
	From  int       `json:"from,omitempty"`
	Heard time.Time `json:"heard,omitzero"` // when its last value had been heard
}

// open begins to wait for what is to be confirmed to be heard.
func (b *ReadBack) open(c *dialog.Question) {
	*b = ReadBack{Text: squeeze(c.Text), End: len(squeeze(c.Text))}
	if tail := squeeze(c.Tail); tail != "" && strings.HasSuffix(b.Text, tail) {
		b.End = len(strings.TrimRight(b.Text[:len(b.Text)-len(tail)], " "))
	}
}

// said notes that a turn says a text, at a place of its own text, if that is the
// read-back or the rest of it.
func (b *ReadBack) said(text string, turn, part, at int) {
	switch {
	case b.Text == "" || text == "":
	case strings.HasSuffix(text, b.Text):
		b.Turn, b.Part, b.At, b.From = turn, part, at+len(text)-len(b.Text), 0
	case strings.HasSuffix(b.Text, text):
		b.Turn, b.Part, b.At, b.From = turn, part, at, len(b.Text)-len(text)
	default:
		// Something else is said.
	}
}

// hear notes that n bytes of what is said now have been heard, the last of them at
// an instant. Where words before it have not been heard, nothing is noted.
func (b *ReadBack) hear(n int, at time.Time) {
	if n <= 0 || strings.TrimSpace(b.Text[min(b.Done, b.From):b.From]) != "" {
		return
	}
	b.Done = max(b.Done, min(b.From+n, len(b.Text)))
	if b.Heard.IsZero() && b.Done >= b.End {
		b.Heard = at
	}
}

// rest is what is missing for a yes to count, from the beginning of its sentence.
func (b *ReadBack) rest() string {
	if b.Done >= b.End {
		return ""
	}
	from := 0
	for {
		n := sentenceEnd(b.Text[from:])
		if n == 0 || len(strings.TrimRight(b.Text[:from+n], " ")) > b.Done {
			return strings.TrimSpace(b.Text[from:])
		}
		from += n
	}
}

// check finds what no read-back comes to.
func (b *ReadBack) check() bool {
	n := len(b.Text)
	return b.End >= 0 && b.End <= n && b.Done >= 0 && b.Done <= n && b.From >= 0 && b.From <= n && b.At >= 0
}

// confirms notes what an output of the dialogue asks to be confirmed.
func (s *State) confirms(out dialog.Output) {
	switch {
	case out.Confirm != nil:
		s.ReadBack.open(out.Confirm)
	case s.Dialogue.Confirmation == nil:
		s.ReadBack = ReadBack{}
	default:
		// The question stays open; what was heard of it was.
	}
}

// early reports whether a yes whose voice began at an instant came before the question
// had been heard, and does not count.
func (s *State) early(began time.Time) bool {
	b := &s.ReadBack
	return s.Dialogue.Confirmation != nil && !answers(began, b.Heard)
}

// answers reports whether what began at one instant can be an answer to what was
// heard at another.
func answers(began, heard time.Time) bool {
	return !heard.IsZero() && !began.Before(heard.Add(heardMargin))
}

// answersOver reports whether words over the agent's audio answer the question that is
// being asked: a no, or a yes that counts. They interrupt. A yes that comes too early
// to count does not: it is a sign of listening, and the end of the question asks again.
func (s *State) answersOver(o *Options, text string, began time.Time) bool {
	if s.Dialogue.Confirmation == nil || o.Agent == nil || s.profile(o).Policy == turn.BargeInNone {
		return false
	}
	return o.Agent.SaidNo(text) || !s.early(began) && o.Agent.SaidYes(text)
}

// message is what the user said, as the dialogue takes it.
func (s *State) message(text string, confidence float64, began time.Time) dialog.Message {
	m := dialog.Message{Text: text, Confidence: confidence}
	if s.early(began) {
		m.Early, m.Unheard = true, s.ReadBack.rest()
		if s.ReadBack.Text == "" {
			m.Unheard = s.Dialogue.LastResponse
		}
	}
	return m
}

// hearReadBack notes what has been heard of the read-back by now: what the playout
// told, or else the pacer's clock.
func (s *State) hearReadBack() {
	b, r, p := &s.ReadBack, &s.Reply, &s.Playout
	if b.Turn == 0 || b.Turn != r.Turn || p.Turn != r.Turn || !b.Heard.IsZero() || b.At > len(r.Text) {
		return
	}
	full := ""
	s.eachPart(r.Turn, r.Part, func(it *Item) { full += it.spoken() })
	full += r.Text[r.Sealed:]
	start := len(full) - (len(r.Text) - b.At)
	if start < 0 {
		return // what stood before it was cut: only the end of its part tells
	}
	if told := heardPrefix(full, 0, p.Text); told != "" {
		b.hear(len(told)-start, p.At)
		return
	}
	heard := s.heardSoFar()
	b.hear(len(heardPrefix(full, heard, ""))-start, s.Now.Add(-max(0, heard-spokenFor(start+b.End-b.From))))
}

// spokenFor is how long so much text is taken to sound.
func spokenFor(bytes int) time.Duration {
	return time.Duration(bytes) * (time.Second / heardPerSecond)
}

// partPlayed: a part of the reply has been heard to its end, however long the
// estimate would have it last.
func (s *State) partPlayed(part int) {
	b, r := &s.ReadBack, &s.Reply
	if b.Turn == 0 || b.Turn != r.Turn || part < b.Part {
		return
	}
	b.hear(len(r.Text)-len(r.Unsaid)-b.At, s.Now)
}

// flushedReadBack corrects what was heard of a read-back that was cut off by the
// exact measure.
func (s *State) flushedReadBack(e PlayoutFlushed) {
	b := &s.ReadBack
	if b.Turn != e.Turn || b.Turn == s.Reply.Turn || b.From > 0 {
		return
	}
	full, cut := "", false
	s.eachPart(e.Turn, b.Part, func(it *Item) { full, cut = full+it.Full, cut || it.Cut && it.Part < b.Part })
	if cut || b.At > len(full) {
		return
	}
	if p := &s.Playout; e.Text == "" && p.Turn == e.Turn {
		e.Text = p.Text
	}
	if n := len(heardPrefix(full, e.Heard, e.Text)) - b.At; n < b.End {
		b.Done, b.Heard = max(0, n), time.Time{}
	} else {
		b.hear(n, s.Now)
	}
}
