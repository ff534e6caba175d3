package dialog

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/hocketvoice/hocket/dialog/agent"
	"github.com/hocketvoice/hocket/dialog/value"
	"pgregory.net/rapid"
)

// vocabulary returns what a random user may say: sentences that mean something to one of
// the agents, and noise.
func vocabulary(a *Agent) []string {
	out := []string{
		"", "yes", "no", "yes please", "no thanks", "cancel", "help", "start over", "repeat that", "what do you mean?",
		"I want to talk to a person", "skip", "try again", "goodbye", "hello", "thanks", "never mind", "what are my options",
		"actually", "no wait", "sorry", "change", "change it", "make it", "not", "tomorrow", "next friday", "yesterday",
		"half past three", "twenty three", "fifty euros", "$12.50", "double oh seven", "one two three four five six",
		"John Smith", "j dot doe at example dot com", "DE89370400440532013000", "lorem ipsum dolor", "the the the", "42", "-1",
		"from to from to", "yes but no", "no but yes", "maybe", "ja", "nein", "abbrechen", "morgen", "\x00\xff", "🙂", "{origin}", "((((",
		strings.Repeat("very ", 300) + "long",
	}
	for _, f := range a.def.Flows {
		for _, t := range f.Triggers {
			out = append(out, t.Text)
		}
	}
	for _, s := range a.def.Slots {
		out = append(out, "change the "+s.Label, "the "+s.Label+" is wrong", "what is the "+s.Label)
		for i, v := range s.Values {
			if i == 4 {
				break
			}
			out = append(out, v.Value, "from "+v.Value, "to "+v.Value, "actually make it "+v.Value, "change the "+s.Label+" to "+v.Value, "no, "+v.Value, "not "+v.Value)
		}
	}
	return out
}

// walker is a dialogue with random turns and the invariants to check after each.
type walker struct {
	a    *Agent
	st   State
	now  time.Time
	out  Output
	yes  bool            // the last message was a yes to the open confirmation
	keys map[string]bool // of the calls made
	ids  map[string]bool
}

// agents that the properties are checked on.
func propertyAgents(t *testing.T) map[string]*Agent {
	agents := map[string]*Agent{
		"seed": testAgent(t, "seed.yaml"), "bank": testAgent(t, "bank.yaml"), "steps": testAgent(t, "steps.yaml"),
		"model": testAgent(t, "model.yaml"), "de": testAgent(t, "de.yaml"), "doubt": testAgent(t, "doubt.yaml"), "patterns": testAgent(t, "patterns.yaml"), "rules": testAgent(t, "rules.yaml"),
		"soni": testAgent(t, "soni/00-settings.yaml", "soni/10-slots.yaml", "soni/20-flows.yaml"),
	}
	for _, name := range soniFiles {
		agents[name] = testAgent(t, name)
	}
	if _, err := os.Stat("../examples/flights/flights.yaml"); err == nil {
		agents["flights"] = flightsExample(t)
	}
	return agents
}

// TestRandomTurns lets random users talk to every agent. Nothing may panic, every
// transition must be in the matrix, no action may run without its confirmation or twice for
// one, what the user confirmed must not be lost, doubtful words must change nothing, and
// the state must survive JSON.
func TestRandomTurns(t *testing.T) {
	agents := propertyAgents(t)
	for _, name := range slices.Sorted(maps.Keys(agents)) {
		a := agents[name]
		words := vocabulary(a)
		t.Run(name, func(t *testing.T) {
			rapid.Check(t, func(t *rapid.T) {
				w := &walker{a: a, now: tuesday, keys: make(map[string]bool), ids: make(map[string]bool)}
				w.check(t, "start", func() Output { return a.Start(&w.st, w.now) })
				for range rapid.IntRange(1, 40).Draw(t, "turns") {
					w.turn(t, words)
				}
			})
		})
	}
}

func (w *walker) turn(t *rapid.T, words []string) {
	w.now = w.now.Add(time.Duration(rapid.IntRange(0, 3000).Draw(t, "ms")) * time.Millisecond)
	w.yes = false
	switch {
	case w.out.Act != nil && rapid.IntRange(0, 9).Draw(t, "answer") > 0:
		in := ActionEnded{ID: w.out.Act.ID, Outputs: map[string]any{
			"booking_ref": "BK-1", "index": 3, "item": "x", "needs_code": rapid.SampledFrom([]string{"yes", "no"}).Draw(t, "code"), "balance": 1.5,
			"number": 7, "has_more": "no", "valid": true, "flights_found": 1, "flight_number": "Hocket 7", "departure_time": "noon", "price": 120,
			"status": "confirmed", "itinerary": "a flight",
		}}
		switch rapid.IntRange(0, 5).Draw(t, "result") {
		case 0:
			in.Failed, in.Code, in.Message = true, "boom", "it broke"
		case 1:
			in.Missing = []string{rapid.SampledFrom(append(w.a.def.SlotNames(), "nonsense")).Draw(t, "missing")}
		}
		w.check(t, fmt.Sprintf("%+v", in), func() Output { return w.a.Handle(&w.st, w.now, in) })
	case w.out.Understand != nil && rapid.IntRange(0, 9).Draw(t, "answer") > 0:
		in := Understood{Failed: rapid.Bool().Draw(t, "failed")}
		for range rapid.IntRange(0, 3).Draw(t, "commands") {
			in.Commands = append(in.Commands, w.command(t))
		}
		w.yes = w.st.Confirmation != nil && (in.Failed || slices.ContainsFunc(in.Commands, func(c Command) bool { return c.Type == Confirm }))
		w.check(t, fmt.Sprintf("%+v", in), func() Output { return w.a.Handle(&w.st, w.now, in) })
	default:
		switch rapid.IntRange(0, 30).Draw(t, "kind") {
		case 0:
			w.check(t, "repeat", func() Output { return w.a.Repeat(&w.st, w.now) })
			return
		case 1:
			w.yes = strings.Contains(strings.ToLower(w.st.Pending), "yes") || w.agreed(w.st.Pending)
			w.check(t, "resume", func() Output { return w.a.Resume(&w.st, w.now) })
			return
		case 2:
			w.check(t, "recover", func() Output { return w.a.RecoverFromError(&w.st, w.now) })
			return
		case 3:
			w.check(t, "late", func() Output {
				return w.a.Handle(&w.st, w.now, ActionEnded{ID: "nobody", Outputs: map[string]any{"x": 1}})
			})
			return
		}
		text := rapid.SampledFrom(words).Draw(t, "text")
		if likely := w.likely(); likely != nil && rapid.IntRange(0, 9).Draw(t, "sensible") < 6 {
			text = rapid.SampledFrom(likely).Draw(t, "answer")
		} else if rapid.IntRange(0, 6).Draw(t, "two") == 0 {
			text += " " + rapid.SampledFrom(words).Draw(t, "more")
		}
		w.yes = w.agreed(text) || strings.Contains(strings.ToLower(text), "yes")
		before, m := w.st.Clone(), Message{Text: text, Confidence: rapid.Float64Range(0, 1).Draw(t, "confidence")}
		w.check(t, text, func() Output { return w.a.Handle(&w.st, w.now, m) })
		if m.Confidence > 0 && m.Confidence < w.a.def.Settings.MinConfidence {
			w.checkUntouched(t, text, before)
		}
	}
}

// checkUntouched checks that doubtful words had no effect.
func (w *walker) checkUntouched(t *rapid.T, text string, before State) {
	t.Helper()
	after := w.st
	given := func(slots map[string]any) map[string]any { // a slot that was asked for is null
		out := make(map[string]any)
		for name, v := range slots {
			if v != nil {
				out[name] = v
			}
		}
		return out
	}
	if !reflect.DeepEqual(given(before.Slots), given(after.Slots)) {
		t.Fatalf("%q, doubtful: slots %v became %v", text, before.Slots, after.Slots)
	}
	if before.CurrentFlow != after.CurrentFlow || before.CurrentStep != after.CurrentStep || before.WaitingForSlot != after.WaitingForSlot ||
		len(before.Stack) != len(after.Stack) || (before.Confirmation == nil) != (after.Confirmation == nil) || before.NLUCalls != after.NLUCalls {
		t.Fatalf("%q, doubtful: the dialogue went from %s/%s to %s/%s", text, before.CurrentFlow, before.CurrentStep, after.CurrentFlow, after.CurrentStep)
	}
	if before.ConversationState != after.ConversationState && (before.ConversationState != Completed || after.ConversationState != Idle) {
		t.Fatalf("%q, doubtful: %s became %s", text, before.ConversationState, after.ConversationState)
	}
	if o := w.out; o.Act != nil || o.Understand != nil || o.Ask || o.End || len(o.Say) == 0 {
		t.Fatalf("%q, doubtful: %+v", text, o)
	}
}

// agreed reports whether a text begins with a yes.
func (w *walker) agreed(text string) bool {
	a, _ := w.a.def.Lang.LeadingAnswer(value.Tokenize(text, nil))
	return a == value.Yes
}

// likely returns a likely answer of a user who follows the conversation.
func (w *walker) likely() []string {
	switch w.st.ConversationState {
	case Confirming:
		return []string{"yes", "yes please", "go ahead", "no", "ja", "nein", "ja genau"}
	case Error:
		return []string{"try again", "cancel", "noch einmal versuchen", "abbrechen"}
	case WaitingForSlot:
	default:
		return nil
	}
	s := w.a.def.SlotIndex[w.st.WaitingForSlot]
	if s.Closed() {
		var out []string
		for _, v := range s.Values {
			out = append(out, v.Value)
		}
		return out
	}
	switch s.Type {
	case value.TypeDate:
		return []string{"tomorrow", "next friday", "morgen", "2026-03-04"}
	case value.TypeTime:
		return []string{"15:30", "9:00"}
	case value.TypeInteger, value.TypeNumber, value.TypeFloat, value.TypeMoney:
		return []string{"3", "7", "50"}
	case value.TypeCode:
		return []string{"DE89370400440532013000"}
	case value.TypeDigits:
		return []string{"123456", "1234"}
	case value.TypeBoolean:
		return []string{"yes", "no"}
	default:
		return []string{"Jane Doe", "checking"}
	}
}

// command returns a command as a model might give it, sensible or not.
func (w *walker) command(t *rapid.T) Command {
	c := Command{Type: rapid.SampledFrom(append(CommandTypes(), "nonsense")).Draw(t, "type")}
	c.Flow = rapid.SampledFrom(append(w.a.def.FlowNames(), "nonsense")).Draw(t, "flow")
	c.Slot = rapid.SampledFrom(append(w.a.def.SlotNames(), "nonsense", "")).Draw(t, "slot")
	c.Value = rapid.SampledFrom([]any{nil, "Boston", "Denver", 3, 2.5, true, "next friday", "", []any{1}, map[string]any{"a": 1}, "no such thing"}).Draw(t, "value")
	return c
}

// check runs one step and checks the invariants.
func (w *walker) check(t *rapid.T, what string, step func() Output) {
	t.Helper()
	before := w.st.Clone()
	snapshot, err := json.Marshal(before)
	if err != nil {
		t.Fatalf("%s: %v", what, err)
	}
	w.st.Trace = []TraceEvent{} // to see what this step adds
	w.out = step()
	for _, e := range w.st.Trace {
		if e.Event == "state_changed" && !allowed(e.Data.From, e.Data.To) {
			t.Fatalf("%s: %s to %s is not in the matrix", what, e.Data.From, e.Data.To)
		}
		if e.Event == "error" && strings.Contains(e.Data.Detail, "TransitionError") {
			t.Fatalf("%s: %s", what, e.Data.Detail)
		}
	}
	w.checkAction(t, what, before)
	w.checkSlots(t, what, before)
	w.checkSource(t, what, before)
	w.checkShape(t, what)
	checkRoundTrip(t, w.st)
	if again, _ := json.Marshal(before); !bytes.Equal(again, snapshot) {
		t.Fatalf("%s: the step changed a clone of the state", what)
	}
}

// checkAction checks that an action that requires confirmation runs only after a yes, and
// that each run has its own key.
func (w *walker) checkAction(t *rapid.T, what string, before State) {
	act := w.out.Act
	if act == nil {
		return
	}
	if what == "resume" && before.ConversationState == ExecutingAction { // the same call once more
		if !w.ids[act.ID] {
			t.Fatalf("resume makes a new call %s", act.ID)
		}
		return
	}
	if w.ids[act.ID] {
		t.Fatalf("%s: the call %s is made twice", what, act.ID)
	}
	w.ids[act.ID] = true
	retry := act.Attempt > 1
	if !retry && w.keys[act.Key] {
		t.Fatalf("%s: the key %s is used for two runs", what, act.Key)
	}
	w.keys[act.Key] = true
	if a, ok := w.a.def.ActionIndex[act.Name]; ok && a.RequiresConfirmation && !retry {
		if before.Confirmation == nil || !w.yes {
			t.Fatalf("%s: %s runs without its confirmation", what, act.Name)
		}
	}
	if w.st.ConversationState != ExecutingAction {
		t.Fatalf("%s: an action runs in state %s", what, w.st.ConversationState)
	}
}

// checkSource checks that each value that a slot has got has a source: the user has given or
// accepted it, an action or a step of the agent has set it, it is a default, or a flow that goes on
// had it.
func (w *walker) checkSource(t *rapid.T, what string, before State) {
	t.Helper()
	said := func(name string) bool {
		return slices.ContainsFunc(w.st.Trace, func(e TraceEvent) bool {
			return (e.Event == "slot_set" || e.Event == "slot_accepted") && e.Data.Slot == name
		})
	}
	for name, v := range w.st.Slots {
		s := w.a.def.SlotIndex[name]
		if v == nil || s == nil || value.Equal(v, before.Slots[name]) || said(name) || value.Equal(v, value.Canonical(s.Default)) || w.writes(name) {
			continue
		}
		if slices.ContainsFunc(before.Stack, func(f Frame) bool { return value.Equal(f.Saved[name], v) }) {
			continue
		}
		t.Fatalf("%s: the slot %s is %v, and nothing gave that value", what, name, v)
	}
}

// writes reports whether a step or an action of the agent sets a slot.
func (w *walker) writes(name string) bool {
	for _, f := range w.a.def.Flows {
		for _, s := range f.Steps {
			switch {
			case s.Answer == name,
				slices.ContainsFunc(s.Sets, func(x agent.Setting) bool { return x.Name == name }),
				s.Type == agent.StepAction && (slices.Contains(s.Writes, name) || len(s.Action.Outputs) == 0):
				return true
			}
		}
	}
	return false
}

// checkSlots checks that a slot that was set and validated keeps its value, unless the
// trace says why not.
func (w *walker) checkSlots(t *rapid.T, what string, before State) {
	reason := slices.ContainsFunc(w.st.Trace, func(e TraceEvent) bool {
		switch e.Event {
		case "flow_started", "flow_resumed", "flow_reopened", "action_completed", "slot_skipped", "flow_cancelled":
			return true
		}
		return false
	})
	if reason || w.st.ConversationState == Error || what == "start" {
		return
	}
	for name, old := range before.Slots {
		s := w.a.def.SlotIndex[name]
		if old == nil || s == nil || value.Equal(old, w.st.Slots[name]) {
			continue
		}
		set := slices.ContainsFunc(w.st.Trace, func(e TraceEvent) bool { return e.Event == "slot_set" && e.Data.Slot == name })
		asked := w.st.WaitingForSlot == name // a loop asks again
		if !set && !asked && w.st.CurrentFlow == before.CurrentFlow {
			t.Fatalf("%s: slot %s lost its value %v, now %v", what, name, old, w.st.Slots[name])
		}
	}
}

// checkShape checks that the state is consistent at rest.
func (w *walker) checkShape(t *rapid.T, what string) {
	st := &w.st
	bad := func(why string) { t.Fatalf("%s: %s: %+v", what, why, *st) }
	if err := w.a.Fits(st); err != nil {
		bad(err.Error())
	}
	switch st.ConversationState {
	case Idle, Completed:
		if st.CurrentFlow != agent.NoFlow || st.CurrentStep != "" || st.WaitingForSlot != "" {
			bad("a flow is left over")
		}
	case WaitingForSlot:
		if st.WaitingForSlot == "" || st.CurrentFlow == agent.NoFlow || w.a.def.SlotIndex[st.WaitingForSlot] == nil {
			bad("waits for nothing")
		}
	case Confirming:
		if st.Confirmation == nil || st.CurrentFlow == agent.NoFlow {
			bad("confirms nothing")
		}
	case ExecutingAction:
		if st.Action == nil || st.Action.Failed {
			bad("runs nothing")
		}
	case Understanding:
		if !w.a.def.Settings.Model.Understanding || st.Pending == "" {
			bad("rests in understanding")
		}
	case Error:
		if _, ok := st.Metadata["error"].(map[string]any); !ok {
			bad("an error without its note")
		}
	case ValidatingSlot:
		bad("rests in validating")
	}
	one := 0
	for _, is := range []bool{w.out.Act != nil, w.out.Understand != nil, w.out.Ask} {
		if is {
			one++
		}
	}
	if one > 1 {
		bad("asks for two things at once")
	}
	if len(st.Messages) > w.a.def.Settings.HistoryLimit || len(st.Trace) > w.a.def.Settings.TraceLimit || len(st.Stack) > maxDepth {
		bad("outgrows its limits")
	}
	for _, l := range w.out.Say {
		if strings.TrimSpace(l.Text) == "" {
			bad("says nothing")
		}
	}
}
