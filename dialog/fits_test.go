package dialog

import (
	"strings"
	"testing"
	"time"

	"github.com/hocketvoice/hocket/dialog/agent"
)

// TestFits: a dialogue in the middle of a flow goes on with another version of its agent if
// that has the flow, the step and the slots.
func TestFits(t *testing.T) {
	const text = `version: "1.0"
settings: {language: en}
slots:
  city: {type: city, prompt: "Where do you want to go?"}
  day: {type: date, prompt: "When?"}
flows:
  trip:
    trigger: {intents: ["book a trip"]}
    steps:
      - {step: where, type: collect, slot: city}
      - {step: when, type: collect, slot: day}
      - {step: done, type: say, message: "To {city} on {day}."}
`
	parse := func(text string) *Agent {
		t.Helper()
		a, problems := Parse([]agent.File{{Name: "a.yaml", Data: []byte(text)}})
		if a == nil {
			t.Fatal(problems)
		}
		return a
	}
	a, now := parse(text), time.Date(2026, 3, 2, 12, 0, 0, 0, time.UTC)
	var began, asked State
	a.Start(&began, now)
	a.Start(&asked, now)
	a.Handle(&asked, now, Message{Text: "book a trip"})
	a.Handle(&asked, now, Message{Text: "Boston"})
	if asked.WaitingForSlot != "day" {
		t.Fatalf("it waits for %q", asked.WaitingForSlot)
	}
	for _, c := range []struct{ old, new, want string }{
		{"", "", ""},
		{"Where do you want to go?", "Where to?", ""},
		{"trip:\n", "journey:\n", `the flow "trip"`},
		{"step: when", "step: date", `the step "when" of the flow "trip"`},
		{"city", "town", `the slot "city"`},
		{"day", "date_of_trip", `the slot "day"`},
	} {
		other := parse(strings.ReplaceAll(strings.ReplaceAll(text, c.old, c.new), "type: town", "type: city"))
		if err := other.Fits(&began); err != nil {
			t.Errorf("%s: a dialogue that has begun: %v", c.new, err)
		}
		err := other.Fits(&asked)
		if (err == nil) != (c.want == "") || err != nil && !strings.Contains(err.Error(), c.want) {
			t.Errorf("%q in place of %q: error %v, expected %q", c.new, c.old, err, c.want)
		}
	}
}
