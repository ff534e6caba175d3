package cli

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/hocketvoice/hocket/dialog"
)

// seedTurn is what seed 003 prints after a turn of its examples. Passed contains the
// intermediate states as "state flow/step ?slot", which the seed prints and the trace
// of the state contains.
type seedTurn struct {
	state    dialog.ConversationState
	flow     string
	step     string
	waits    string
	slots    string
	response string
	passed   []string
	nlu      int // maximum number of calls of the understanding so far
}

// chatSeed holds a conversation with the seed's agent by `hocket chat --json` and
// compares the state after each line. The first line is the greeting.
func chatSeed(t *testing.T, lines []string, want []seedTurn) {
	t.Helper()
	out := output(t, strings.Join(lines, "\n")+"\n", "chat", "--json", "--today", "2025-12-02", "--agent", "testdata/seed003.yaml")
	states := strings.Split(strings.TrimSpace(out), "\n")
	if len(states) != len(want) {
		t.Fatalf("%d lines, expected %d:\n%s", len(states), len(want), out)
	}
	events := 0
	for i, w := range want {
		what := "before turn 1"
		if i > 0 {
			what = lines[i-1]
		}
		var got map[string]any
		var st dialog.State
		for _, v := range []any{&got, &st} {
			if err := json.Unmarshal([]byte(states[i]), v); err != nil {
				t.Fatalf("%s: %v", what, err)
			}
		}
		text := func(s string) any { // None in the seed is null
			if s == "" {
				return nil
			}
			return s
		}
		for field, value := range map[string]any{
			"conversation_state": string(w.state), "current_flow": w.flow, "current_step": text(w.step), "waiting_for_slot": text(w.waits),
		} {
			if got[field] != value {
				t.Errorf("%s: %s is %v, want %v", what, field, got[field], value)
			}
		}
		if slots, _ := json.Marshal(got["slots"]); string(slots) != w.slots {
			t.Errorf("%s: slots are %s, want %s", what, slots, w.slots)
		}
		if w.response != "" && st.LastResponse != w.response {
			t.Errorf("%s: the response is %q, want %q", what, st.LastResponse, w.response)
		}
		if st.TurnCount != i || st.NLUCalls > w.nlu {
			t.Errorf("%s: turn %d with %d calls of the understanding, want turn %d with at most %d", what, st.TurnCount, st.NLUCalls, i, w.nlu)
		}
		var passed []string
		for _, e := range st.Trace[events:] {
			if e.Event == "state_changed" {
				at := string(e.Data.To) + " " + e.Data.Flow + "/" + e.Data.Step + " ?" + e.Data.Slot
				if e.Data.Value != nil { // the words, before they are validated
					at += fmt.Sprintf(" = %v", e.Data.Value)
				}
				passed = append(passed, at)
			}
		}
		events = len(st.Trace)
		if !slices.Equal(passed, w.passed) {
			t.Errorf("%s: passed\n  %s\nwant\n  %s", what, strings.Join(passed, "\n  "), strings.Join(w.passed, "\n  "))
		}
	}
}

// seedStart contains the first turns of both examples.
var seedStart = []seedTurn{
	{state: dialog.Idle, flow: "none", slots: `{}`},
	{
		state: dialog.WaitingForSlot, flow: "book_flight", step: "collect_origin", waits: "origin", slots: `{}`, nlu: 1,
		response: "Where would you like to fly from?",
		passed:   []string{"understanding / ?", "waiting_for_slot book_flight/collect_origin ?origin"},
	},
	{
		state: dialog.WaitingForSlot, flow: "book_flight", step: "collect_destination", waits: "destination", nlu: 1,
		slots: `{"origin":"New York"}`, response: "Where would you like to fly to?",
		passed: []string{"validating_slot book_flight/collect_origin ?origin = New York", "waiting_for_slot book_flight/collect_destination ?destination"},
	},
}

// TestSeed003Example1 is "Complete Flight Booking Flow". It allows one call of the
// understanding for the intent, and one for the date.
func TestSeed003Example1(t *testing.T) {
	chatSeed(t, []string{"I want to book a flight", "New York", "Los Angeles", "Next Friday"}, append(slices.Clone(seedStart), seedTurn{
		state: dialog.WaitingForSlot, flow: "book_flight", step: "collect_date", waits: "departure_date", nlu: 1,
		slots: `{"destination":"Los Angeles","origin":"New York"}`, response: "When would you like to depart?",
		passed: []string{"validating_slot book_flight/collect_destination ?destination = Los Angeles", "waiting_for_slot book_flight/collect_date ?departure_date"},
	}, seedTurn{
		state: dialog.Completed, flow: "none", nlu: 2,
		slots:    `{"booking_ref":"BK-98765","departure_date":"2025-12-12","destination":"Los Angeles","origin":"New York"}`,
		response: "Your flight is booked! Booking reference: BK-98765",
		passed: []string{
			"validating_slot book_flight/collect_date ?departure_date = Next Friday", "executing_action book_flight/search_flights ?", "completed / ?",
		},
	}))
}

// TestSeed003Example2 is "User Correction Mid-Flow". The markers lead to the
// understanding, and the flow continues at the same step.
func TestSeed003Example2(t *testing.T) {
	chatSeed(t, []string{"I want to book a flight", "New York", "Actually, change the origin to Boston"}, append(slices.Clone(seedStart), seedTurn{
		state: dialog.WaitingForSlot, flow: "book_flight", step: "collect_destination", waits: "destination", nlu: 2,
		slots:    `{"origin":"Boston"}`,
		response: "Got it, I've updated your origin to Boston. Where would you like to fly to?",
		passed:   []string{"understanding book_flight/collect_destination ?destination", "waiting_for_slot book_flight/collect_destination ?destination"},
	}))
}
