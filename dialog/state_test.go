package dialog

import (
	"encoding/json"
	"fmt"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/hocketvoice/hocket/dialog/agent"
	"github.com/hocketvoice/hocket/dialog/value"
)

// TestZeroStateReadsBack checks that a zero State, as of a conversation without a dialogue,
// decodes as it was encoded.
func TestZeroStateReadsBack(t *testing.T) {
	data, err := json.Marshal(State{})
	if err != nil {
		t.Fatal(err)
	}
	var back State
	if err := json.Unmarshal(data, &back); err != nil || !reflect.DeepEqual(back, State{}) {
		t.Errorf("%v: %s is %+v", err, data, back)
	}
}

func TestStateErrors(t *testing.T) {
	for text, want := range map[string]string{
		`{"version":"2.0"}`:                   `version "2.0"`,
		`{"conversation_state":"sleeping"}`:   "conversation_state",
		`{"slots":[]}`:                        "dialogue state",
		`{"turn_count":"x"}`:                  "dialogue state",
		`[]`:                                  "dialogue state",
		`{"metadata":{"error":{"a":[1,2.5]}}`: "dialogue state",
	} {
		var st State
		if err := json.Unmarshal([]byte(text), &st); err == nil || !strings.Contains(err.Error(), want) && !strings.Contains(err.Error(), "JSON") {
			t.Errorf("%s: %v, want %q", text, err, want)
		}
	}
}

// The values of a flow that is proposed are numbers of the engine after a restart too.
func TestProposedValuesReadBack(t *testing.T) {
	st := State{Proposed: "pay", ProposedSlots: map[string]any{"amount": int64(900)}, TurnCount: 1, ConversationState: Idle}
	data, err := json.Marshal(&st)
	if err != nil {
		t.Fatal(err)
	}
	var back State
	if err := json.Unmarshal(data, &back); err != nil {
		t.Fatal(err)
	}
	if got := back.ProposedSlots["amount"]; got != int64(900) {
		t.Errorf("the amount reads back as %T %v, want int64 900", got, got)
	}
}

// TestStateKeepsValues checks that every kind of slot value decodes as it was encoded.
func TestStateKeepsValues(t *testing.T) {
	type own struct {
		A int      `json:"a"`
		B []string `json:"b"`
	}
	st := State{CurrentFlow: agent.NoFlow, ConversationState: Idle, TurnCount: 1, Messages: []ChatMessage{}, Trace: []TraceEvent{}, Metadata: map[string]any{}, Slots: map[string]any{
		"int": value.Canonical(7), "whole": value.Canonical(2.0), "half": value.Canonical(2.5), "big": value.Canonical(1e17), "huge": value.Canonical(1e25), "text": value.Canonical("é\xff"), "list": value.Canonical([]string{"a"}),
		"deep": value.Canonical(map[string]any{"a": []any{1, nil, true, map[string]string{"b": "c"}}}), "nil": nil, "own": value.Canonical(own{1, []string{"x"}}),
		"nan": value.Canonical(nan()), "number": value.Canonical(json.Number("12345678901234567890")), "time": value.Canonical(tuesday), "func": value.Canonical(func() {}),
	}}
	checkRoundTrip(t, st)
	if st.Slots["whole"] != int64(2) || st.Slots["nan"] != nil || fmt.Sprint(st.Slots["own"]) != "map[a:1 b:[x]]" {
		t.Errorf("values %v", st.Slots)
	}
}

func nan() float64 {
	zero := 0.0
	return zero / zero
}

// TestStart checks that Start forgets the dialogue before and keeps what the caller gives.
func TestStart(t *testing.T) {
	a := testAgent(t, "seed.yaml")
	st := State{Slots: map[string]any{"origin": "Boston"}, Metadata: map[string]any{"caller": "+1"}}
	a.Start(&st, tuesday)
	a.Handle(&st, tuesday, Message{Text: "book a flight"})
	if st.WaitingForSlot != "destination" || st.Metadata["caller"] != "+1" {
		t.Errorf("waits for %q with %v: want the destination, the origin is given", st.WaitingForSlot, st.Slots)
	}
	a.Start(&st, tuesday)
	if len(st.Slots) != 0 || st.TurnCount != 0 || st.ConversationState != Idle || len(st.Messages) != 1 {
		t.Errorf("after a second start: %+v", st)
	}
}

// TestStartFlow starts with the flow in settings.start.
func TestStartFlow(t *testing.T) {
	a, problems := Parse([]agent.File{{Name: "a.yaml", Data: []byte(`
settings: {greeting: "Hello.", start: f}
slots: {n: {type: integer, prompt: "How many?"}}
flows: {f: {steps: [{step: a, type: collect, slot: n}, {step: b, type: say, message: "{n}."}]}}
`)}})
	if a == nil || len(problems) > 0 {
		t.Fatal(problems)
	}
	var st State
	if out := a.Start(&st, tuesday); joinLines(out.Say) != "Hello. How many?" || out.Expect.Slot != "n" {
		t.Errorf("start: %+v", out)
	}
	if out := a.Handle(&st, tuesday, Message{Text: "seven"}); joinLines(out.Say) != "7." || st.NLUCalls != 0 {
		t.Errorf("answer: %+v", out)
	}
}

// TestCache checks that the same text is not understood twice within a second (seed 003,
// last_nlu_call).
func TestCache(t *testing.T) {
	a := testAgent(t, "seed.yaml")
	var st State
	a.Start(&st, tuesday)
	now := tuesday
	for _, c := range []struct {
		after time.Duration
		text  string
		calls int
	}{
		{0, "what is this about", 1},
		{500 * time.Millisecond, "what is this about", 1},
		{300 * time.Millisecond, "something else", 2},
		{300 * time.Millisecond, "what is this about", 3},
		{1100 * time.Millisecond, "what is this about", 4},
	} {
		now = now.Add(c.after)
		a.Handle(&st, now, Message{Text: c.text})
		if st.NLUCalls != c.calls {
			t.Errorf("%q after %s: %d calls, want %d", c.text, c.after, st.NLUCalls, c.calls)
		}
	}
	if st.LastNLUCall != seconds(now) {
		t.Errorf("last_nlu_call is %v, want %v", st.LastNLUCall, seconds(now))
	}
}

// TestLimits checks that history and trace keep the latest entries.
func TestLimits(t *testing.T) {
	a, problems := Parse([]agent.File{{Name: "a.yaml", Data: []byte(`
settings: {history_limit: 4, trace_limit: 6}
flows: {f: {trigger: {intents: [go]}, steps: [{step: a, type: say, message: "ok"}]}}
`)}})
	if a == nil {
		t.Fatal(problems)
	}
	var st State
	a.Start(&st, tuesday)
	for i := range 20 {
		a.Handle(&st, tuesday.Add(time.Duration(i)*time.Minute), Message{Text: fmt.Sprintf("go %d", i)})
		if len(st.Messages) > 4 || len(st.Trace) > 6 {
			t.Fatalf("%d messages, %d events", len(st.Messages), len(st.Trace))
		}
	}
	if st.Messages[2].Content != "go 19" || st.TurnCount != 20 {
		t.Errorf("messages %+v after %d turns", st.Messages, st.TurnCount)
	}
}

// TestResume resumes a dialogue whose process ended while an action ran or a model was
// asked.
func TestResume(t *testing.T) {
	a := testAgent(t, "seed.yaml")
	var st State
	a.Start(&st, tuesday)
	first := a.Handle(&st, tuesday, Message{Text: "book a flight from boston to denver tomorrow"})
	restored := restore(t, st)
	again := a.Resume(&restored, tuesday)
	if again.Act == nil || again.Act.ID != first.Act.ID || again.Act.Key != first.Act.Key || !reflect.DeepEqual(again.Act.Inputs, first.Act.Inputs) {
		t.Errorf("resumed with %+v, want %+v", again.Act, first.Act)
	}
	if out := a.Handle(&restored, tuesday, ActionEnded{ID: first.Act.ID, Outputs: map[string]any{"booking_ref": "B"}}); restored.ConversationState != Completed {
		t.Errorf("after the result: %+v", out)
	}
	if out := a.Handle(&restored, tuesday, ActionEnded{ID: first.Act.ID, Outputs: map[string]any{"booking_ref": "C"}}); len(out.Say) > 0 || restored.Slots["booking_ref"] != "B" {
		t.Errorf("the second result of one call changed something: %+v", out)
	}

	m := testAgent(t, "model.yaml")
	st = State{}
	m.Start(&st, tuesday)
	m.Handle(&st, tuesday, Message{Text: "I want to book a flight"})
	restored = restore(t, st)
	if out := m.Resume(&restored, tuesday); out.Expect.Slot != "origin" {
		t.Errorf("resumed understanding: %+v", out)
	}
	if out := m.Resume(&restored, tuesday); joinLines(out.Say) != "From where?" {
		t.Errorf("resumed waiting: %+v", out)
	}
}

func restore(t *testing.T, st State) State {
	t.Helper()
	data, err := json.Marshal(st)
	if err != nil {
		t.Fatal(err)
	}
	var out State
	if err := json.Unmarshal(data, &out); err != nil {
		t.Fatal(err)
	}
	return out
}

// TestAgentChanges checks that a checkpoint that does not fit the changed files of its
// agent leads to the error state and not to a panic.
func TestAgentChanges(t *testing.T) {
	a, b := testAgent(t, "bank.yaml"), testAgent(t, "seed.yaml")
	for _, texts := range [][]string{
		{"transfer money"},
		{"transfer money", "Jane Doe"},
		{"I lost my card"},
		{"transfer money", "what is my balance"},
		{"transfer money", "what is my balance", "savings"},
		{"what is my balance", "savings"},
	} {
		var st State
		a.Start(&st, tuesday)
		for _, text := range texts {
			a.Handle(&st, tuesday, Message{Text: text})
		}
		for _, in := range []Input{Message{Text: "yes"}, Message{Text: "Boston"}, Message{Text: "cancel"}, ActionEnded{ID: "check_balance.fetch.1"}, Message{Text: "book a flight"}} {
			b.Handle(&st, tuesday, in)
		}
		if b.Handle(&st, tuesday, Message{Text: "cancel"}); st.ConversationState == Error {
			b.Handle(&st, tuesday, Message{Text: "cancel"})
		}
		if out := b.Handle(&st, tuesday, Message{Text: "book a flight"}); out.Expect.Slot != "origin" {
			t.Errorf("%v: the other agent does not recover: %+v %s %s", texts, out, st.ConversationState, st.CurrentFlow)
		}
	}
}

// TestExpectationEqual compares expectations.
func TestExpectationEqual(t *testing.T) {
	a := Expectation{Slot: "a", Phrases: []string{"x"}}
	if b := (Expectation{Slot: "a", Phrases: []string{"x"}}); !a.Equal(b) {
		t.Error("equal ones differ")
	}
	if b := (Expectation{Slot: "a", Phrases: []string{"y"}}); a.Equal(b) {
		t.Error("different ones are equal")
	}
}

// TestDescription checks the descriptions of an agent's parts.
func TestDescription(t *testing.T) {
	a := testAgent(t, "bank.yaml")
	if f := a.Flows()[0]; f.Name != "transfer_money" || len(f.Triggers) != 4 || f.Slots[0] != "amount" {
		t.Errorf("flow %+v", f)
	}
	if s := a.Slots()[5]; s.Name != "account" || s.Type != value.TypeEnum || strings.Join(s.Values, " ") != "checking savings" || !s.Required {
		t.Errorf("slot %+v", s)
	}
	if acts := a.Actions(); len(acts) != 4 || !acts[1].RequiresConfirmation || len(acts[1].Inputs) != 4 || !acts[1].Inputs[3].Optional {
		t.Errorf("actions %+v", acts)
	}
	if _, ok := a.Action("nothing"); ok || a.Language() != "en" {
		t.Error("an unknown action was found")
	}
}

// TestActionsOfFiles checks what an action's declaration may contain.
func TestActionsOfFiles(t *testing.T) {
	a, problems := New(agent.Options{Actions: []string{"elsewhere"}}.Parse([]agent.File{{Name: "a.yaml", Data: []byte(`
slots: {city: {type: city, prompt: "?"}, n: {type: integer, required: false, prompt: "?"}}
actions:
  get:
    http:
      method: get
      url: "${HOST}/x/{city}"
      headers: {Authorization: "Bearer ${KEY}"}
      query: {q: "{city}"}
      body: {a: ["{city}", 1, true]}
      timeout: 2.5s
      retries: 2
    inputs: {place: city, count: n}
    outputs: {result: string}
    idempotent: true
  tool:
    mcp: {server: files, tool: list}
    inputs: [{name: where, from: city}, {name: n, required: false}]
    confirmation: "Really in {city}?"
flows:
  f:
    trigger: {intents: [go]}
    steps:
      - {step: a, type: action, call: get}
      - {step: b, type: action, call: tool}
      - {step: c, type: action, call: elsewhere}
`)}}))
	if a == nil || len(problems) > 0 {
		t.Fatal(problems)
	}
	get, _ := a.Action("get")
	if h := get.HTTP; h.Method != "GET" || h.URL != "${HOST}/x/{city}" || h.Headers["Authorization"] != "Bearer ${KEY}" || h.Query["q"] != "{city}" ||
		h.Timeout != 2500*time.Millisecond || h.Retries != 2 || fmt.Sprint(h.Body) != "map[a:[{city} 1 true]]" || !get.Idempotent {
		t.Errorf("get %+v %+v", get, get.HTTP)
	}
	tool, _ := a.Action("tool")
	if tool.MCP.Server != "files" || tool.MCP.Tool != "list" || tool.Inputs[0] != (agent.ActionInput{Name: "where", From: "city"}) || !tool.Inputs[1].Optional || !tool.RequiresConfirmation {
		t.Errorf("tool %+v", tool)
	}
	var st State
	a.Start(&st, tuesday)
	out := a.Handle(&st, tuesday, Message{Text: "go"})
	if out.Expect.Slot != "city" { // the action's input is asked for although no step collects it
		t.Fatalf("expects %+v", out.Expect)
	}
	out = a.Handle(&st, tuesday, Message{Text: "Springfield"})
	if out.Act == nil || out.Act.Name != "get" || fmt.Sprint(out.Act.Inputs) != "map[place:Springfield]" {
		t.Fatalf("act %+v", out.Act)
	}
	out = a.Handle(&st, tuesday, ActionEnded{ID: out.Act.ID, Outputs: map[string]any{"result": "ok", "other": 1}})
	if joinLines(out.Say) != "Really in Springfield?" || st.Slots["result"] != "ok" || st.Slots["other"] != nil {
		t.Fatalf("said %q, slots %v", joinLines(out.Say), st.Slots)
	}
	out = a.Handle(&st, tuesday, Message{Text: "yes"})
	out = a.Handle(&st, tuesday, ActionEnded{ID: out.Act.ID})
	if out.Act == nil || out.Act.Name != "elsewhere" || st.ConversationState != ExecutingAction {
		t.Errorf("act %+v", out.Act)
	}
}

// TestMinConfidence checks that the agent asks again if the recognizer's confidence is low.
func TestMinConfidence(t *testing.T) {
	a, problems := Parse([]agent.File{{Name: "a.yaml", Data: []byte(`
settings: {min_confidence: 0.5}
slots: {city: {type: city, prompt: "Where?", values: [Boston, Austin]}}
flows: {f: {trigger: {intents: [go]}, steps: [{step: a, type: collect, slot: city}, {step: b, type: say, message: "{city}."}]}}
`)}})
	if a == nil {
		t.Fatal(problems)
	}
	var st State
	a.Start(&st, tuesday)
	a.Handle(&st, tuesday, Message{Text: "go"})
	out := a.Handle(&st, tuesday, Message{Text: "Boston", Confidence: 0.3})
	if joinLines(out.Say) != "Did you mean Boston?" || out.Expect.Kind != "yes_no" || !out.Expect.ReadBack {
		t.Errorf("said %q, expects %+v", joinLines(out.Say), out.Expect.Kind)
	}
	if out = a.Handle(&st, tuesday, Message{Text: "no", Confidence: 0.9}); joinLines(out.Say) != "Where?" || st.Slots["city"] != nil {
		t.Errorf("said %q", joinLines(out.Say))
	}
	a.Handle(&st, tuesday, Message{Text: "Boston", Confidence: 0.3})
	if out = a.Handle(&st, tuesday, Message{Text: "no, Austin", Confidence: 0.9}); joinLines(out.Say) != "Austin." {
		t.Errorf("said %q", joinLines(out.Say))
	}
	// A doubtful answer to "did you mean" leaves the question open.
	a.Handle(&st, tuesday, Message{Text: "go"})
	a.Handle(&st, tuesday, Message{Text: "change the city"})
	st.Slots["city"] = nil
	a.Handle(&st, tuesday, Message{Text: "Boston", Confidence: 0.3})
	out = a.Handle(&st, tuesday, Message{Text: "yes", Confidence: 0.49})
	if joinLines(out.Say) != "Sorry, I did not catch that. Did you mean Boston?" || out.Expect.Kind != "yes_no" || st.Slots["city"] != nil {
		t.Errorf("said %q, expects %q, slots %v", joinLines(out.Say), out.Expect.Kind, st.Slots)
	}
	// A confidence at the threshold is enough, and so is an unknown one.
	if a.Handle(&st, tuesday, Message{Text: "yes", Confidence: 0.5}); st.Slots["city"] != "Boston" {
		t.Errorf("slots %v", st.Slots)
	}
	if out = a.Handle(&st, tuesday, Message{Text: "go"}); joinLines(out.Say) != "Where?" {
		t.Errorf("said %q", joinLines(out.Say))
	}
}

// TestMinConfidenceAsksNoModel checks that no model is asked about doubtful words, since it
// would find a meaning in any text.
func TestMinConfidenceAsksNoModel(t *testing.T) {
	a, problems := Parse(append(testFiles(t, "model.yaml"), agent.File{Name: "b.yaml", Data: []byte("settings: {min_confidence: 0.5}\n")}))
	if a == nil {
		t.Fatal(problems)
	}
	var st State
	a.Start(&st, tuesday)
	for i, text := range []string{"what is the weather", "I want to book a flight"} {
		out := a.Handle(&st, tuesday, Message{Text: text, Confidence: 0.4})
		if out.Ask || out.Understand != nil || len(out.Say) == 0 || st.NLUCalls != 0 || out.Handoff != (i == 1) {
			t.Errorf("%s: %+v after %d calls", text, out, st.NLUCalls)
		}
	}
	if out := a.Handle(&st, tuesday, Message{Text: "what is the weather", Confidence: 0.6}); out.Understand == nil {
		t.Errorf("a sure message: %+v", out)
	}
}

// FuzzState decodes any bytes as a checkpoint and continues from it. A damaged state, or
// one of another agent, leads to the error state at worst.
func FuzzState(f *testing.F) {
	a := testAgent(f, "bank.yaml")
	b := testAgent(f, "model.yaml")
	for _, agent := range []*Agent{a, b} {
		var st State
		agent.Start(&st, tuesday)
		for _, text := range []string{"transfer money", "Jane Doe", "what is my balance", "savings", "I want to book a flight", "Boston", "chi", "cancel"} {
			if data, err := json.Marshal(st); err == nil {
				f.Add(data, text)
			}
			agent.Handle(&st, tuesday, Message{Text: text})
		}
	}
	f.Add([]byte(`{"conversation_state":"waiting_for_slot","waiting_for_slot":"iban","current_flow":"none"}`), "yes")
	f.Add([]byte(`{"conversation_state":"confirming","current_flow":"lost_card","current_step":"sure","pending_confirmation":{"step":"kept"}}`), "yes")
	f.Add([]byte(`{"conversation_state":"error","metadata":{"error":{"recovery_state":"confirming"}},"flow_stack":[{"flow":"x"},{"flow":"lost_card","step":"nowhere"}]}`), "try again")
	f.Fuzz(func(t *testing.T, data []byte, text string) {
		for _, agent := range []*Agent{a, b} {
			var st State
			if err := json.Unmarshal(data, &st); err != nil {
				return
			}
			for _, step := range []func() Output{
				func() Output { return agent.Resume(&st, tuesday) },
				func() Output { return agent.Handle(&st, tuesday, Message{Text: text}) },
				func() Output { return agent.RecoverFromError(&st, tuesday) },
				func() Output { return agent.Handle(&st, tuesday, Understood{Failed: true}) },
				func() Output { return agent.Handle(&st, tuesday, Message{Text: "yes"}) },
				func() Output { return agent.Handle(&st, tuesday, Message{Text: "cancel"}) },
			} {
				if out := step(); out.Act != nil {
					agent.Handle(&st, tuesday, ActionEnded{ID: out.Act.ID})
				}
			}
			if _, err := json.Marshal(st); err != nil {
				t.Fatal(err)
			}
		}
	})
}
