package conv

import (
	"strings"
	"time"

	"github.com/hocketvoice/hocket/dialog"
	"github.com/hocketvoice/hocket/turn"
)

// This file decides which part of a question the user must have heard before a yes counts.
// A no, and any other answer, always counts.

// heardMargin is the least time between the moment when the last value of a question has
// been heard and the moment when a voice that answers it begins. Typed words need no
// margin, because the person who types has read the question.
const heardMargin = 100 * time.Millisecond

// readBack is the question with which the dialogue asks the user to confirm values, and how
// much of the question the user has heard. Its states:
//
//	none    -> waiting   the dialogue asks for a yes or no
//	waiting -> saying    the question, or the rest of it, is handed to the voice
//	saying  -> waiting   the question is cut off; what was heard of it stays heard
//	saying  -> heard     the last value has been heard: from then on a yes counts
//	any     -> waiting   the dialogue asks again, or the agent says something that does
//	                     not answer the user: a yes after that may be meant for it
//	any     -> none      the dialogue no longer waits for a yes
//
// The zero value is the state none. A dialogue that waits for a yes without a ReadBack, for
// example one from an older snapshot, asks again before it accepts a yes. Offsets are in
// bytes.
type readBack struct {
	Text string `json:"text,omitempty"` // the whole question
	End  int    `json:"end,omitempty"`  // offset in Text of the end of the last value
	Done int    `json:"done,omitempty"` // how many bytes of Text have been heard
	// Turn and Part are the agent's turn and the part of it that say the question, or said
	// it last. The text of the turn contains, at the offset At, the question from the offset
	// From of Text on.
	Turn  int       `json:"turn,omitempty"`
	Part  int       `json:"part,omitempty"`
	At    int       `json:"at,omitempty"`
	From  int       `json:"from,omitempty"`
	Heard time.Time `json:"heard,omitzero"` // when the last value had been heard; zero: not yet
}

// open starts to wait until the user has heard the question.
func (b *readBack) open(c *dialog.Question) {
	*b = readBack{Text: squeeze(c.Text), End: len(squeeze(c.Text))}
	if tail := squeeze(c.Tail); tail != "" && strings.HasSuffix(b.Text, tail) {
		b.End = len(strings.TrimRight(b.Text[:len(b.Text)-len(tail)], " "))
	}
}

// said notes that a turn says text at the offset at of its own text. It changes nothing
// unless text ends with the question, or is the end of it.
func (b *readBack) said(text string, turn, part, at int) {
	switch {
	case b.Text == "" || text == "":
	case strings.HasSuffix(text, b.Text):
		b.Turn, b.Part, b.At, b.From = turn, part, at+len(text)-len(b.Text), 0
	case strings.HasSuffix(b.Text, text):
		b.Turn, b.Part, b.At, b.From = turn, part, at, len(b.Text)-len(text)
	default:
		// The text is not the question.
	}
}

// hear notes that n bytes of what is said now have been heard, the last of them at the
// given time. It does nothing if words of the question before them have not been heard.
func (b *readBack) hear(n int, at time.Time) {
	if n <= 0 || strings.TrimSpace(b.Text[min(b.Done, b.From):b.From]) != "" {
		return
	}
	b.Done = max(b.Done, min(b.From+n, len(b.Text)))
	if b.Heard.IsZero() && b.Done >= b.End {
		b.Heard = at
	}
}

// rest returns the text that the user must still hear before a yes counts, from the
// beginning of its sentence.
func (b *readBack) rest() string {
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

// check reports whether the offsets are within the text.
func (b *readBack) check() bool {
	n := len(b.Text)
	return b.End >= 0 && b.End <= n && b.Done >= 0 && b.Done <= n && b.From >= 0 && b.From <= n && b.At >= 0
}

// confirms notes the question that an output of the dialogue asks the user to confirm.
func (s *State) confirms(out dialog.Output) {
	switch {
	case out.Confirm != nil:
		s.ReadBack.open(out.Confirm)
	case s.Dialogue.Confirmation == nil:
		s.ReadBack = readBack{}
	default:
		// The question stays open, and what was heard of it stays heard.
	}
}

// early reports whether a yes whose voice began at the given time does not count because
// the question had not been heard by then.
func (s *State) early(began time.Time) bool {
	b := &s.ReadBack
	return s.Dialogue.Confirmation != nil && !answers(began, b.Heard)
}

// answers reports whether words that began at one time can answer a question that had been
// heard at another. A zero time means that the question has not been heard.
func answers(began, heard time.Time) bool {
	return !heard.IsZero() && !began.Before(heard.Add(heardMargin))
}

// answersOver reports whether words over the agent's audio answer the question that the
// agent is asking: with a no, or with a yes that counts. Such words interrupt. A yes that
// is too early to count does not interrupt: it shows that the user listens.
func (s *State) answersOver(o *Options, text string, began time.Time) bool {
	if s.Dialogue.Confirmation == nil || o.Agent == nil || s.profile(o).Policy == turn.BargeInNone {
		return false
	}
	return o.Agent.SaidNo(text) || !s.early(began) && o.Agent.SaidYes(text)
}

// message returns what the user said in the form that the dialogue takes. It marks a yes
// that came too early.
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

// hearReadBack notes how much of the question has been heard by now. It uses the text that
// the playout reported, or else an estimate from the time that the audio has played.
func (s *State) hearReadBack() {
	b, r, p := &s.ReadBack, &s.Reply, &s.Playout
	if b.Turn == 0 || b.Turn != r.Turn || p.Turn != r.Turn || !b.Heard.IsZero() || b.At > len(r.Text) {
		return
	}
	full := ""
	s.History.eachPart(r.Turn, r.Part, func(it *Item) { full += it.spoken() })
	full += r.Text[r.Sealed:]
	start := len(full) - (len(r.Text) - b.At)
	if start < 0 {
		return // text before the question was cut off: only the end of the part shows what was heard
	}
	if told := heardPrefix(full, 0, p.Text); told != "" {
		b.hear(len(told)-start, p.At)
		return
	}
	heard := s.heardSoFar()
	b.hear(len(heardPrefix(full, heard, ""))-start, s.Now.Add(-max(0, heard-spokenFor(start+b.End-b.From))))
}

// spokenFor returns the estimated duration of a text when it is spoken.
func spokenFor(bytes int) time.Duration {
	return time.Duration(bytes) * (time.Second / heardPerSecond)
}

// partPlayed notes that a part of a reply has been heard to its end, even if by the estimate
// it would last longer.
func (b *readBack) partPlayed(r *reply, part int, now time.Time) {
	if b.Turn == 0 || b.Turn != r.Turn || part < b.Part {
		return
	}
	b.hear(len(r.Text)-len(r.Unsaid)-b.At, now)
}

// flushedReadBack corrects how much was heard of a question that was cut off. The playout
// has measured it.
func (s *State) flushedReadBack(e PlayoutFlushed) {
	b := &s.ReadBack
	if b.Turn != e.Turn || b.Turn == s.Reply.Turn || b.From > 0 {
		return
	}
	full, cut := "", false
	s.History.eachPart(e.Turn, b.Part, func(it *Item) { full, cut = full+it.Full, cut || it.Cut && it.Part < b.Part })
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
