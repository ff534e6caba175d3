package session

import (
	"strings"
	"time"

	"github.com/hocketvoice/hocket/conv"
)

// Spoken is a turn that has ended, with its words: one line of a transcript.
type Spoken struct {
	Turn    int
	Role    conv.Role
	Kind    conv.ReplyKind     // of an agent's turn
	Outcome conv.TurnEventType // [conv.TurnCompleted], [conv.TurnInterrupted], ...

	// Start and End are the moments between which it was said: for an agent's turn from
	// its first sound on.
	Start, End time.Time

	// Text is what was said; of an agent's turn, what was heard of it. Unheard is the
	// rest of a turn that was cut off, Heard for how long it was heard.
	Text, Unheard string
	Heard         time.Duration
	Confidence    float64 // the recognizer's, of a user's turn

	Loop *Loop // takes facts of the observer's, during the call
}

// OnSpoken tells f of each turn that has ended and that had words. A turn that was cut
// off is told with the next step, when it is known how much of it was heard.
func (m *Machine) OnSpoken(f func(Spoken)) (cancel func()) {
	t := &transcript{tell: f, speech: make(map[int]time.Time), voice: make(map[int]time.Time)}
	return m.OnStep(t.step)
}

// transcript makes lines of steps. Of the loop's goroutine.
type transcript struct {
	tell   func(Spoken)
	speech map[int]time.Time // when the open turns of the user began
	voice  map[int]time.Time // when those of the agent first sounded
	open   *Spoken           // the agent's turn that was cut off: its measure is still to come
}

func (t *transcript) step(step Step) {
	if t.open != nil {
		flushed, ok := step.Event.(conv.PlayoutFlushed)
		if ok && flushed.Turn == t.open.Turn {
			t.open.Heard = flushed.Heard
		}
		t.heard(t.open, step.State)
		t.open = nil
	}
	if _, ok := step.Event.(conv.PlayoutStarted); ok && !step.Output.Late {
		if turn := step.State.Playout.Turn; t.voice[turn].IsZero() {
			t.voice[turn] = step.Now
		}
	}
	for _, e := range step.Output.Turns {
		t.turn(e, step)
	}
}

// turn notes the beginning of a turn, and tells of its end.
func (t *transcript) turn(e conv.TurnEvent, step Step) {
	s := Spoken{Turn: e.Turn, Role: e.Role, Kind: e.Kind, Outcome: e.Type, Start: step.Now, End: step.Now, Confidence: e.Confidence, Loop: step.Loop}
	switch {
	case e.Type == conv.TurnStarted:
		if e.Role == conv.RoleUser {
			t.speech[e.Turn] = step.Now
		}
	case e.Role == conv.RoleUser:
		if at, ok := t.speech[e.Turn]; ok {
			s.Start = at
		}
		if e.Type != conv.TurnCompleted {
			return // a sound without words
		}
		if s.Text, _ = said(step.State, e.Turn, e.Role); s.Text != "" {
			t.tell(s)
		}
	default:
		if at, ok := t.voice[e.Turn]; ok {
			s.Start = at
		}
		if e.Type != conv.TurnCompleted {
			t.open = &s
			return
		}
		t.heard(&s, step.State)
	}
}

// heard fills in what of an agent's turn reached the ear, and tells of it.
func (t *transcript) heard(s *Spoken, st *conv.State) {
	text, full := said(st, s.Turn, conv.RoleAgent)
	s.Text = text
	if s.Outcome != conv.TurnCompleted {
		s.Unheard = strings.TrimSpace(strings.TrimPrefix(full, text))
	}
	if s.Text != "" || s.Unheard != "" {
		t.tell(*s)
	}
}

// said are the words of a turn as the history has them, and all that was to be said.
func said(st *conv.State, number int, role conv.Role) (text, full string) {
	var texts []string
	for i := range st.History {
		it := &st.History[i]
		if it.Turn != number || it.Role != role {
			continue
		}
		full += it.Full
		if it.Text != "" {
			texts = append(texts, it.Text)
		}
	}
	return strings.Join(texts, " "), strings.Join(strings.Fields(full), " ")
}
