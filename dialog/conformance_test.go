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

// soniTable is conformance/soni.json: the seed's states and transitions.
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

// TestMatrixIsTheSeeds compares the engine's edges with the table, in both directions.
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
			t.Errorf("%s is taken on %q, expected %q as in the table", e, on[e], tr.On)
		}
	}
	for e := range got {
		if !want[e] {
			t.Errorf("the engine has %s, which is not in the table", e)
		}
	}
	for e := range want {
		if !got[e] {
			t.Errorf("the table has %s, which the engine does not have", e)
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

// TestEveryEdgeIsTaken runs all scenarios and checks that each edge in their traces is in
// the table, and that each edge of the table is taken.
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

// TestStateHasTheSeedsFields checks that the JSON of a state has every field of the seed,
// with null and "none" where the seed has None and no flow.
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

// TestSeedExamples runs the two examples of the seed and checks every state, slot, step and
// response that it prints.
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

// lastEdges returns the edges that the last line of a script takes (see [scenario]).
func lastEdges(t *testing.T, script ...string) []string {
	t.Helper()
	s := &scenario{t: t, now: tuesday}
	for _, line := range script[:len(script)-1] {
		s.run(line)
	}
	before := len(s.st.Trace)
	s.run(script[len(script)-1])
	var edges []string
	for _, e := range s.st.Trace[before:] {
		if e.Event == "state_changed" {
			edges = append(edges, fmt.Sprintf("%s > %s", e.Data.From, e.Data.To))
		}
	}
	return edges
}

// TestMatrixConditions checks that each edge of the table is taken if its condition holds,
// and not by an input that differs only in the condition.
func TestMatrixConditions(t *testing.T) {
	script := func(before []string, lines ...string) []string { return slices.Concat(before, lines) }
	fresh := []string{"agent: seed.yaml", "start"}
	asked := script(fresh, "user: I want to book a flight")
	dated := script(asked, "user: New York", "user: Boston")
	acts := script(dated, "user: tomorrow")
	failed := script(acts, "failed: http_503 the airline does not answer")
	pays := []string{
		"agent: bank.yaml", "start", "user: send fifty euros to John Smith",
		"user: d e eight nine three seven oh four double oh four four oh five three two oh one three oh double oh",
		"user: rent for december",
	}
	confirms := script(pays, "ok: needs_code=no")
	whole := script(fresh, "user: I want to book a flight from New York to Boston tomorrow")
	type row struct{ from, to, condition string }
	// The script so takes the edge, the script other does not.
	shown := map[row]struct{ so, other []string }{
		{"idle", "understanding", "always"}:                                      {asked, fresh},
		{"understanding", "waiting_for_slot", "slot empty"}:                      {asked, whole},
		{"understanding", "executing_action", "all required slots present"}:      {whole, asked},
		{"understanding", "idle", "NLU confidence too low"}:                      {script(fresh, "user: xyzzy"), asked},
		{"waiting_for_slot", "validating_slot", "message received"}:              {script(asked, "user: New York"), script(asked, "repeat")},
		{"waiting_for_slot", "understanding", "intent markers detected"}:         {script(asked, "user: Actually, change the origin to Boston"), script(asked, "user: New York")},
		{"validating_slot", "waiting_for_slot", "validator returns false"}:       {script(dated, "user: yesterday"), acts},
		{"validating_slot", "understanding", "check if more slots needed"}:       {[]string{"agent: steps.yaml", "start", "user: show me the branches", "user: I am twelve"}, acts},
		{"validating_slot", "executing_action", "all required slots present"}:    {acts, dated},
		{"executing_action", "completed", "no more steps"}:                       {script(acts, "ok: booking_ref=BK-1"), confirms},
		{"executing_action", "waiting_for_slot", "action returns missing slots"}: {script(acts, "missing: origin"), script(acts, "ok: booking_ref=BK-1")},
		{"executing_action", "confirming", "action config requires confirm"}:     {confirms, script(acts, "ok: booking_ref=BK-1")},
		{"confirming", "executing_action", "user says yes"}:                      {script(confirms, "user: yes please"), script(confirms, "user: no")},
		{"confirming", "completed", "user says no"}:                              {script(confirms, "user: no"), script(confirms, "user: yes please")},
		{"confirming", "understanding", "state descriptions, CONFIRMING"}:        {script(confirms, "user: no, change the amount to sixty euros"), script(confirms, "user: yes please")},
		{"completed", "idle", "always"}:                                          {script(acts, "ok: booking_ref=BK-1", "user: I want to book a flight"), script(acts, "ok: booking_ref=BK-1")},
		{"*", "error", "always"}:                                                 {failed, script(acts, "ok: booking_ref=BK-1")},
		{"error", "understanding", "user sends a new message"}:                   {script(failed, "user: try again"), failed},
		{"error", "idle", "user cancels the task"}:                               {script(failed, "user: cancel"), script(failed, "user: try again")},
	}
	takes := func(script []string, r row) bool {
		return slices.ContainsFunc(lastEdges(t, script...), func(e string) bool {
			from, to, _ := strings.Cut(e, " > ")
			return to == r.to && (r.from == "*" || r.from == from)
		})
	}
	for _, tr := range loadSoni(t).Transitions {
		r := row{tr.From, tr.To, tr.If}
		c, ok := shown[r]
		switch {
		case !ok:
			t.Errorf("%s to %s: no script takes it if %s", r.from, r.to, r.condition)
		case !takes(c.so, r):
			t.Errorf("%q does not take %s to %s, although %s", c.so[2:], r.from, r.to, r.condition)
		case takes(c.other, r):
			t.Errorf("%q takes %s to %s, although this is false: %s", c.other[2:], r.from, r.to, r.condition)
		}
		delete(shown, r)
	}
	for r := range shown {
		t.Errorf("the table has no %v", r)
	}
}
