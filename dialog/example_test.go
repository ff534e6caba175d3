package dialog

import (
	"os"
	"strings"
	"testing"

	"github.com/hocketvoice/hocket/dialog/agent"
)

// flightsExample returns the flights agent of examples/, which the tests of other packages
// and the documentation use too.
func flightsExample(t testing.TB) *Agent {
	t.Helper()
	data, err := os.ReadFile("../examples/flights/flights.yaml")
	if err != nil {
		t.Fatal(err)
	}
	a, problems := Parse([]agent.File{{Name: "flights.yaml", Data: data}})
	for _, p := range problems {
		t.Error(p)
	}
	if a == nil {
		t.FailNow()
	}
	return a
}

// TestFlightsExample runs the conversation that the example promises.
func TestFlightsExample(t *testing.T) {
	a := flightsExample(t)
	var st State
	if out := a.Start(&st, tuesday); !strings.HasPrefix(out.Say[0].Text, "Welcome") {
		t.Fatalf("greeting: %+v", out.Say)
	}
	now := tuesday
	booked := 0
	say := func(text string) string {
		now = now.Add(3e9)
		out := a.Handle(&st, now, Message{Text: text, Confidence: 0.9})
		if out.Act != nil {
			if out.Act.Name == "book" {
				booked++
			}
			out = a.Handle(&st, now, ActionEnded{ID: out.Act.ID, Outputs: map[string]any{
				"flights_found": 2, "flight_number": "Hocket 7", "departure_time": "noon", "price": 120, "booking_ref": "BK-40001",
			}})
		}
		if out.Handoff || out.End || out.Act != nil {
			t.Fatalf("%q: %+v", text, out)
		}
		return joinLines(out.Say)
	}
	for _, c := range []struct{ user, slot string }{
		{"I want to book a flight", "origin"},
		{"from Boston", "destination"},
		{"to Denver", "departure_date"},
	} {
		say(c.user)
		if st.WaitingForSlot != c.slot {
			t.Fatalf("after %q: waits for %q, want %q", c.user, st.WaitingForSlot, c.slot)
		}
	}
	summary := say("next friday")
	for _, want := range []string{"from Boston to Denver", "Friday, December 12"} {
		if !strings.Contains(summary, want) {
			t.Errorf("summary %q lacks %q", summary, want)
		}
	}
	if n := strings.Count(summary, ". ") + 1; n < 3 || len(summary) < 180 {
		t.Errorf("the summary is too short to be interrupted: %q", summary)
	}
	if which := say("actually make it Chicago"); !strings.Contains(which, "destination or origin") {
		t.Errorf("a city may be either: %q", which)
	}
	if again := say("the destination"); !strings.Contains(again, "from Boston to Chicago") {
		t.Errorf("after the correction: %q", again)
	}
	say("change the date")
	if again := say("tomorrow"); !strings.Contains(again, "Wednesday, December 3") {
		t.Errorf("after the second correction: %q", again)
	}
	if booked != 0 || st.ConversationState != Confirming {
		t.Fatalf("booked %d times before the yes, in state %s", booked, st.ConversationState)
	}
	if done := say("yes"); !strings.Contains(done, "B K") || booked != 1 || st.ConversationState != Completed {
		t.Errorf("%q: booked %d times, in state %s", done, booked, st.ConversationState)
	}
	if st.NLUCalls > 4 {
		t.Errorf("%d NLU calls, want at most one for the wish, one for each correction and one for the answer to which city it is", st.NLUCalls)
	}
}
