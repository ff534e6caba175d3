package dialog

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/hocketvoice/hocket/internal/seeds"
)

// soniTable is conformance/soni.json: the seed's states and transitions as data.
type soniTable struct {
	Initial     string   `json:"initial"`
	States      []string `json:"states"`
	Transitions []struct {
		From, To, On, If string
	} `json:"transitions"`
	Added []struct {
		From, To, Why string
	} `json:"added"`
	Fields []string `json:"dialogue_state_fields"`
	NoFlow string   `json:"no_flow"`
}

func loadSoni(t *testing.T) soniTable {
	t.Helper()
	var table soniTable
	seeds.Load(t, "soni", &table)
	return table
}

// TestMatrixIsTheSeeds compares the engine's edges with the table, both ways.
func TestMatrixIsTheSeeds(t *testing.T) {
	table := loadSoni(t)
	want := make(map[string]bool)
	for _, tr := range table.Transitions {
		if tr.From == "*" {
			for _, s := range table.States {
				want[s+" > "+tr.To] = true
			}
			continue
		}
		want[tr.From+" > "+tr.To] = true
	}
	for _, tr := range table.Added {
		want[tr.From+" > "+tr.To] = true
	}
	got := make(map[string]bool)
	on := make(map[string]string)
	for _, tr := range Transitions() {
		e := fmt.Sprintf("%s > %s", tr.From, tr.To)
		got[e], on[e] = true, tr.On
	}
	for _, tr := range table.Transitions {
		from := tr.From
		if from == "*" {
			from = table.Initial
		}
		if e := from + " > " + tr.To; on[e] != tr.On {
			t.Errorf("%s is taken on %q, the table has %q", e, on[e], tr.On)
		}
	}
	for e := range got {
		if !want[e] {
			t.Errorf("the engine has %s, the table has not", e)
		}
	}
	for e := range want {
		if !got[e] {
			t.Errorf("the table has %s, the engine has not", e)
		}
	}
	var states []string
	for _, s := range ConversationStates() {
		states = append(states, string(s))
	}
	if !slices.Equal(states, table.States) {
		t.Errorf("states %v, want %v", states, table.States)
	}
}

// TestEveryEdgeIsTaken runs all scenarios and looks at the edges in their
// traces: each is in the table, and each of the table is taken by one.
func TestEveryEdgeIsTaken(t *testing.T) {
	table := loadSoni(t)
	taken := make(map[string]string)
	files, _ := filepath.Glob("testdata/scenarios/*.txt")
	for _, file := range files {
		data, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		s := &scenario{t: t, now: tuesday}
		for _, line := range strings.Split(string(data), "\n") {
			if line == "" || strings.ContainsRune("<!~=#", rune(line[0])) {
				continue
			}
			s.run(line)
			for _, e := range s.st.Trace {
				if e.Event == "state_changed" {
					taken[fmt.Sprintf("%s > %s", e.Data.From, e.Data.To)] = filepath.Base(file)
				}
			}
		}
	}
	allowed := make(map[string]bool)
	for _, tr := range Transitions() {
		allowed[fmt.Sprintf("%s > %s", tr.From, tr.To)] = true
	}
	for e, file := range taken {
		if !allowed[e] {
			t.Errorf("%s takes %s, which is not in the table", file, e)
		}
	}
	toError := false
	for e := range taken {
		toError = toError || strings.HasSuffix(e, " > error")
	}
	if !toError {
		t.Error("no scenario takes * > error")
	}
	for _, tr := range table.Transitions {
		if tr.From != "*" && taken[tr.From+" > "+tr.To] == "" {
			t.Errorf("no scenario takes %s > %s (%s)", tr.From, tr.To, tr.On)
		}
	}
	for _, tr := range table.Added {
		if taken[tr.From+" > "+tr.To] == "" {
			t.Errorf("no scenario takes %s > %s (%s)", tr.From, tr.To, tr.Why)
		}
	}
}

// TestStateHasTheSeedsFields looks at the JSON of a state: every field of the
// seed is there, null and "none" where the seed has None and no flow.
func TestStateHasTheSeedsFields(t *testing.T) {
	table := loadSoni(t)
	a := testAgent(t, "seed.yaml")
	var st State
	a.Start(&st, tuesday)
	data, err := json.Marshal(st)
	if err != nil {
		t.Fatal(err)
	}
	var fields map[string]json.RawMessage
	if err := json.Unmarshal(data, &fields); err != nil {
		t.Fatal(err)
	}
	for _, f := range table.Fields {
		if _, ok := fields[f]; !ok {
			t.Errorf("the state has no field %s", f)
		}
	}
	for f, want := range map[string]string{
		"current_flow": `"` + table.NoFlow + `"`, "conversation_state": `"` + table.Initial + `"`, "current_step": "null",
		"waiting_for_slot": "null", "last_nlu_call": "null", "slots": "{}", "metadata": "{}", "turn_count": "0",
		"version": `"1.0"`, "trace": "[]",
	} {
		if got := string(fields[f]); got != want {
			t.Errorf("%s is %s, want %s", f, got, want)
		}
	}
}

// TestSeedExamples runs the two examples of the seed line by line: every state,
// slot, step and response that it prints.
func TestSeedExamples(t *testing.T) {
	type want struct {
		state    ConversationState
		flow     string
		step     string
		waits    string
		slots    string
		response string
		passed   []ConversationState
	}
	a := testAgent(t, "seed.yaml")
	var st State
	now := tuesday
	turn := func(user string, in Input, w want) {
		t.Helper()
		now = now.Add(4 * time.Second)
		before := len(st.Trace)
		a.Handle(&st, now, in)
		slots, _ := json.Marshal(st.Slots)
		if st.ConversationState != w.state || st.CurrentFlow != w.flow || st.CurrentStep != w.step || st.WaitingForSlot != w.waits || string(slots) != w.slots {
			t.Errorf("%s: %s %s/%s ?%s %s\nwant %s %s/%s ?%s %s", user, st.ConversationState, st.CurrentFlow, st.CurrentStep, st.WaitingForSlot, slots, w.state, w.flow, w.step, w.waits, w.slots)
		}
		if w.response != "" && st.LastResponse != w.response {
			t.Errorf("%s: response %q, want %q", user, st.LastResponse, w.response)
		}
		var passed []ConversationState
		for _, e := range st.Trace[before:] {
			if e.Event == "state_changed" {
				passed = append(passed, e.Data.To)
			}
		}
		if !slices.Equal(passed, w.passed) {
			t.Errorf("%s: passed %v, want %v", user, passed, w.passed)
		}
	}
	a.Start(&st, now)
	if st.ConversationState != Idle || st.CurrentFlow != "none" || len(st.Slots) != 0 {
		t.Fatalf("before turn 1: %+v", st)
	}
	turn("example 1, turn 1", Message{Text: "I want to book a flight"}, want{
		state: WaitingForSlot, flow: "book_flight", step: "collect_origin", waits: "origin", slots: `{}`,
		response: "Where would you like to fly from?", passed: []ConversationState{Understanding, WaitingForSlot},
	})
	turn("example 1, turn 2", Message{Text: "New York"}, want{
		state: WaitingForSlot, flow: "book_flight", step: "collect_destination", waits: "destination", slots: `{"origin":"New York"}`,
		response: "Where would you like to fly to?", passed: []ConversationState{ValidatingSlot, WaitingForSlot},
	})
	turn("example 1, turn 3", Message{Text: "Los Angeles"}, want{
		state: WaitingForSlot, flow: "book_flight", step: "collect_date", waits: "departure_date",
		slots:    `{"destination":"Los Angeles","origin":"New York"}`,
		response: "When would you like to depart?", passed: []ConversationState{ValidatingSlot, WaitingForSlot},
	})
	turn("example 1, turn 4", Message{Text: "Next Friday"}, want{
		state: ExecutingAction, flow: "book_flight", step: "search_flights",
		slots:  `{"departure_date":"2025-12-12","destination":"Los Angeles","origin":"New York"}`,
		passed: []ConversationState{ValidatingSlot, ExecutingAction},
	})
	turn("example 1, action", ActionEnded{ID: st.Action.ID, Outputs: map[string]any{"booking_ref": "BK-98765"}}, want{
		state: Completed, flow: "none",
		slots:    `{"booking_ref":"BK-98765","departure_date":"2025-12-12","destination":"Los Angeles","origin":"New York"}`,
		response: "Your flight is booked! Booking reference: BK-98765", passed: []ConversationState{Completed},
	})
	if st.NLUCalls != 1 {
		t.Errorf("example 1 took %d NLU calls, want 1", st.NLUCalls)
	}

	st = State{}
	a.Start(&st, now)
	a.Handle(&st, now, Message{Text: "I want to book a flight"})
	a.Handle(&st, now.Add(2*time.Second), Message{Text: "New York"})
	turn("example 2, turn 3", Message{Text: "Actually, change the origin to Boston"}, want{
		state: WaitingForSlot, flow: "book_flight", step: "collect_destination", waits: "destination", slots: `{"origin":"Boston"}`,
		response: "Got it, I've updated your origin to Boston. Where would you like to fly to?",
		passed:   []ConversationState{Understanding, WaitingForSlot},
	})
}
