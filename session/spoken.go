package session

import (
	"slices"
	"strings"
	"time"

	"github.com/hocketvoice/hocket/conv"
)

// Spoken is a turn that has ended, with its words: one line of a transcript.
type Spoken struct {
	Turn    int
	Role    conv.Role
	Kind    conv.ReplyKind     // why the agent spoke; empty for a turn of the user
	Outcome conv.TurnEventType // how the turn ended: [conv.TurnCompleted], [conv.TurnInterrupted] or another

	// Start and End are the times between which the turn was said. A turn of the agent starts
	// with its first audio.
	Start, End time.Time

	// Text is what the user said, or what was heard of the agent's turn. Unheard is the rest of
	// an agent's turn that was cut off, and Heard how much of its audio was heard.
	Text, Unheard string
	Heard         time.Duration
	Confidence    float64 // of the recognizer, from 0 to 1, for a turn of the user

	Loop *Loop // lets the observer post events during the call
}

// OnSpoken calls f for each turn that has ended and had words. For a turn that was cut off it does
// so after the next step, when it is known how much was heard. See [Machine.OnStateChanged].
func (m *Machine) OnSpoken(f func(Spoken)) (cancel func()) {
	t := &transcript{tell: f, speech: make(map[int]time.Time), voice: make(map[int]time.Time)}
	return m.OnStep(t.step)
}

// transcript makes the lines of a transcript from steps. Only the loop's goroutine uses it.
type transcript struct {
	tell   func(Spoken)
	speech map[int]time.Time // by turn of the user: when it began
	voice  map[int]time.Time // by turn of the agent: when its audio began
	late   []Spoken          // turns of the user whose words have not come yet
	open   *Spoken           // a turn of the agent that was cut off and is reported after the next step
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
	if _, ok := step.Event.(conv.STTFinal); ok && len(t.late) > 0 {
		t.writeDown(step.State)
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

// turn notes the beginning of a turn, or reports the turn at its end.
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
			return // the turn had no words
		}
		if unwritten(step.State, e.Turn) {
			t.late = append(t.late, s)
		} else if s.Text, _ = said(step.State, e.Turn, e.Role); s.Text != "" {
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

// writeDown reports the turns whose words have come by now.
func (t *transcript) writeDown(st *conv.State) {
	t.late = slices.DeleteFunc(t.late, func(s Spoken) bool {
		if unwritten(st, s.Turn) {
			return false
		}
		if s.Text, _ = said(st, s.Turn, s.Role); s.Text != "" {
			t.tell(s)
		}
		return true
	})
}

// unwritten reports whether words of a user's turn have not come yet.
func unwritten(st *conv.State, number int) bool {
	return slices.ContainsFunc(st.History, func(it conv.Item) bool {
		return it.Turn == number && it.Role == conv.RoleUser && it.Unwritten != 0
	})
}

// heard sets what was heard of an agent's turn and reports the turn, if it had words.
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

// said returns the words of a turn in the history: text is what was said or heard, full all that
// the agent was to say.
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
