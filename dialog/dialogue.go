package dialog

import (
	"fmt"
	"slices"
	"strconv"
	"time"

	"github.com/hocketvoice/hocket/dialog/agent"
	"github.com/hocketvoice/hocket/dialog/value"
)

// dialogue is the state, at an instant, and the trail that a turn leaves in it.
type dialogue struct {
	a   *Agent
	st  *State
	now time.Time
	ts  float64

	before  ConversationState // when the message came
	refused bool              // the awaited slot's value did not do
	secret  bool              // the message has a secret in it

	about about // what the built-in flow is about that runs

	// fail puts the dialogue into its error state, which failed says then.
	fail   func(kind, message string)
	failed bool
	steps  int // that the turn has taken
}

// value is what a name stands for: a slot or a variable, or what a built-in flow is about.
func (t *dialogue) value(name string) any {
	if name == agent.Context && t.about != nil {
		return t.about
	}
	return t.st.Slots[name]
}

func (t *dialogue) voice() value.Voice {
	return value.Voice{Lang: t.a.def.Lang, Today: value.DateOf(t.now)}
}

// scope is where templates find values.
func (t *dialogue) scope() agent.Scope {
	return agent.Scope{
		Get:   t.value,
		Slot:  t.a.def.SlotOf,
		Voice: t.voice(),
	}
}

// rawScope fills templates with values as they are kept.
func (t *dialogue) rawScope() agent.Scope {
	s := t.scope()
	s.Slot = func(string) *agent.Slot { return &agent.Slot{Spec: value.Spec{Type: value.TypeString}} }
	return s
}

// valueOf works out a value to set.
func (t *dialogue) valueOf(set agent.Setting) (any, error) {
	switch {
	case set.Expression != nil:
		return set.Expression.Eval(t.value)
	case set.Text != nil:
		return set.Text.Render(t.rawScope())
	default:
		return set.Value, nil
	}
}

// setAll gives the slots of a set step their values, unless its condition is false.
func (t *dialogue) setAll(s *agent.Step) error {
	if s.Condition != nil {
		if ok, err := s.Condition.Truth(t.value); err != nil || !ok {
			return err
		}
	}
	for _, set := range s.Sets {
		v, err := t.valueOf(set)
		if err != nil {
			return err
		}
		t.st.Slots[set.Name] = value.Canonical(v)
	}
	return nil
}

// tooMany counts a step. It reports whether the turn has taken more than it may.
func (t *dialogue) tooMany() bool {
	t.steps++
	limit := t.a.def.Settings.StepLimit
	if t.steps > limit {
		t.fail("StepLimitError", "more than "+strconv.Itoa(limit)+" steps in one turn")
	}
	return t.steps > limit
}

// unsure reports whether the recognizer doubts a message: it says how sure it
// is, and that is less than the agent's settings ask for.
func (t *dialogue) unsure(m Message) bool {
	return m.Confidence > 0 && m.Confidence < t.a.def.Settings.MinConfidence
}

// enter changes the conversation state along an edge of the matrix.
func (t *dialogue) enter(to ConversationState) {
	from := t.st.ConversationState
	if !allowed(from, to) {
		if to == Understanding || !allowed(from, Understanding) || !allowed(Understanding, to) {
			t.fail("TransitionError", fmt.Sprintf("no way from %s to %s", from, to))
			return
		}
		t.enter(Understanding) // CONFIRMING goes on by way of UNDERSTANDING
		from = Understanding
	}
	t.st.ConversationState = to
	if to != Understanding && to != Error {
		delete(t.st.Metadata, "error") // overcome
	}
	on := edgeName(from, to)
	if from == ValidatingSlot && to == WaitingForSlot && !t.refused {
		on = "slot needed" // the next one: the edge serves both
	}
	d := TraceData{From: from, To: to, On: on, Step: t.st.CurrentStep, Slot: t.st.WaitingForSlot}
	if t.st.CurrentFlow != agent.NoFlow {
		d.Flow = t.st.CurrentFlow
	}
	if to == ValidatingSlot {
		d.Value = t.st.Slots[t.st.WaitingForSlot]
	}
	t.trace("state_changed", d)
}

// trace appends an event to the audit trail, which keeps the latest.
func (t *dialogue) trace(event string, d TraceData) {
	limit := t.a.def.Settings.TraceLimit
	if limit <= 0 {
		return
	}
	st := t.st
	if len(t.a.def.Secrets) > 0 {
		t.hideIn(&d)
	}
	if n := len(st.Trace); n >= limit {
		st.Trace = slices.Delete(st.Trace, 0, n-limit+max(1, limit/4))
	}
	if n := cap(st.Trace); len(st.Trace) == n { // never more room than the limit asks for
		st.Trace = append(make([]TraceEvent, 0, min(limit, max(8, 2*n))), st.Trace...)
	}
	st.Trace = append(st.Trace, TraceEvent{Event: event, Timestamp: t.ts, Data: d})
}

// remember appends to the message history, which keeps the latest.
func (t *dialogue) remember(role, text string) {
	limit := t.a.def.Settings.HistoryLimit
	st := t.st
	if n := len(st.Messages); n >= limit {
		st.Messages = slices.Delete(st.Messages, 0, n-limit+1)
	}
	st.Messages = append(st.Messages, ChatMessage{Role: role, Content: text, Timestamp: t.ts})
}

// told notes that the user's message contains a value of the slot, valid or not.
func (t *dialogue) told(s *agent.Slot) {
	if s != nil && s.Secret {
		t.secret = true
	}
}

// hideIn takes a secret out of an event: the value of a secret slot, and one that
// stands in another value because it was taken for that.
func (t *dialogue) hideIn(d *TraceData) {
	s := t.a.def.SlotIndex[d.Slot]
	of := s != nil && s.Secret
	if text, ok := d.Value.(string); d.Value != nil && (of || ok && t.a.holdsSecret(t.st, text)) {
		d.Value = value.Hidden
	}
	if d.Detail != "" && (of || t.a.holdsSecret(t.st, d.Detail)) {
		d.Detail = value.Hidden
	}
}
