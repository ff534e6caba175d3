package dialog

import (
	"fmt"
	"slices"
	"strconv"
	"time"

	"github.com/hocketvoice/hocket/dialog/agent"
	"github.com/hocketvoice/hocket/dialog/value"
)

// dialogue is the state at an instant, with methods that read values from it and record
// what happens to it.
type dialogue struct {
	a   *Agent
	st  *State
	now time.Time
	ts  float64

	before  ConversationState // the state when the message came
	refused bool              // the value for the awaited slot was refused
	secret  bool              // the message contains a secret

	about builtinContext // of the built-in flow that runs

	// fail puts the dialogue into its error state and sets failed.
	fail   func(kind, message string)
	failed bool
	steps  int // run in this turn
}

// value returns the value of a name: a slot, a variable, or the context of a built-in flow.
func (t *dialogue) value(name string) any {
	if name == agent.Context && t.about != nil {
		return t.about
	}
	return t.st.Slots[name]
}

func (t *dialogue) voice() value.Voice {
	return value.Voice{Lang: t.a.def.Lang, Today: value.DateOf(t.now)}
}

// scope returns the scope in which templates are rendered.
func (t *dialogue) scope() agent.Scope {
	return agent.Scope{
		Get:   t.value,
		Slot:  t.a.def.SlotOf,
		Voice: t.voice(),
	}
}

// rawScope returns a scope that renders values in the form in which they are stored.
func (t *dialogue) rawScope() agent.Scope {
	s := t.scope()
	s.Slot = func(string) *agent.Slot { return &agent.Slot{Spec: value.Spec{Type: value.TypeString}} }
	return s
}

// valueOf evaluates what a setting assigns.
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

// setAll runs a set step, unless its condition is false.
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

// tooMany counts a step and reports whether the turn has exceeded the limit of steps. If
// so, the dialogue fails.
func (t *dialogue) tooMany() bool {
	t.steps++
	limit := t.a.def.Settings.StepLimit
	if t.steps > limit {
		t.fail("StepLimitError", "more than "+strconv.Itoa(limit)+" steps in one turn")
	}
	return t.steps > limit
}

// unsure reports whether the recognizer's confidence in a message is known and below the
// agent's minimum.
func (t *dialogue) unsure(m Message) bool {
	return m.Confidence > 0 && m.Confidence < t.a.def.Settings.MinConfidence
}

// enter changes the conversation state along an edge of the matrix. If there is no direct
// edge, it goes by way of UNDERSTANDING; if there is none that way either, the dialogue
// fails.
func (t *dialogue) enter(to ConversationState) {
	from := t.st.ConversationState
	if !allowed(from, to) {
		if to == Understanding || !allowed(from, Understanding) || !allowed(Understanding, to) {
			t.fail("TransitionError", fmt.Sprintf("no transition from %s to %s", from, to))
			return
		}
		t.enter(Understanding) // as CONFIRMING does
		from = Understanding
	}
	t.st.ConversationState = to
	if to != Understanding && to != Error {
		delete(t.st.Metadata, "error") // the error is over
	}
	on := edgeName(from, to)
	if from == ValidatingSlot && to == WaitingForSlot && !t.refused {
		on = "slot needed" // for the next slot; the edge has two names
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

// trace appends an event to the audit trail and drops the oldest events beyond the limit.
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
	if n := cap(st.Trace); len(st.Trace) == n { // grow to the limit at most
		st.Trace = append(make([]TraceEvent, 0, min(limit, max(8, 2*n))), st.Trace...)
	}
	st.Trace = append(st.Trace, TraceEvent{Event: event, Timestamp: t.ts, Data: d})
}

// remember appends to the message history and drops the oldest message beyond the limit.
func (t *dialogue) remember(role, text string) {
	limit := t.a.def.Settings.HistoryLimit
	st := t.st
	if n := len(st.Messages); n >= limit {
		st.Messages = slices.Delete(st.Messages, 0, n-limit+1)
	}
	st.Messages = append(st.Messages, ChatMessage{Role: role, Content: text, Timestamp: t.ts})
}

// told records that the user's message contains a value of the slot, valid or not.
func (t *dialogue) told(s *agent.Slot) {
	if s != nil && s.Secret {
		t.secret = true
	}
}

// hideIn hides secrets in an event: the value of a secret slot, and any text that contains
// one.
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
