package dialog_test

import (
	"reflect"
	"testing"
	"time"

	"github.com/hocketvoice/hocket/dialog"
	"github.com/hocketvoice/hocket/dialog/agent"
	"github.com/hocketvoice/hocket/turn"
)

// slotAgent asks for each of its slots in a flow of its own.
const slotAgent = `
slots:
  pin: {type: digits, length: 6, prompt: Which six digits?}
  digit: {type: digits, length: 1, prompt: Which digit?}
  ticket: {type: digits, prompt: Which number?}
  short: {type: digits, length: [4, 6], prompt: Which digits?}
  account: {type: code, validator: iban, prompt: Which account?}
  people: {type: integer, min: 1, max: 8, prompt: How many?}
  room: {type: integer, min: 1, max: 40, prompt: Which room?}
  seats: {type: integer, prompt: How many seats?}
  day: {type: date, prompt: Which day?}
  birth: {type: date, past: true, prompt: When were you born?}
  hour: {type: time, prompt: What time?}
  sure: {type: boolean, prompt: Are you sure?}
  city: {type: city, values: [Boston, San Jose, York, New York, New York City], prompt: Which city?}
  who: {type: name, prompt: Who are you?}
  note: {type: string, prompt: What else?}
flows:
  ask_pin: {trigger: {intents: [enter the pin]}, steps: [{step: a, type: collect, slot: pin}]}
  ask_digit: {trigger: {intents: [enter the digit]}, steps: [{step: a, type: collect, slot: digit}]}
  ask_ticket: {trigger: {intents: [enter the ticket]}, steps: [{step: a, type: collect, slot: ticket}]}
  ask_short: {trigger: {intents: [enter the short]}, steps: [{step: a, type: collect, slot: short}]}
  ask_account: {trigger: {intents: [enter the account]}, steps: [{step: a, type: collect, slot: account}]}
  ask_people: {trigger: {intents: [enter the people]}, steps: [{step: a, type: collect, slot: people}]}
  ask_room: {trigger: {intents: [enter the room]}, steps: [{step: a, type: collect, slot: room}]}
  ask_seats: {trigger: {intents: [enter the seats]}, steps: [{step: a, type: collect, slot: seats}]}
  ask_day: {trigger: {intents: [enter the day]}, steps: [{step: a, type: collect, slot: day}]}
  ask_birth: {trigger: {intents: [enter the birth]}, steps: [{step: a, type: collect, slot: birth}]}
  ask_hour: {trigger: {intents: [enter the hour]}, steps: [{step: a, type: collect, slot: hour}]}
  ask_sure: {trigger: {intents: [enter the sure]}, steps: [{step: a, type: collect, slot: sure}]}
  ask_city: {trigger: {intents: [enter the city]}, steps: [{step: a, type: collect, slot: city}]}
  ask_who: {trigger: {intents: [enter the who]}, steps: [{step: a, type: collect, slot: who}]}
  ask_note: {trigger: {intents: [enter the note]}, steps: [{step: a, type: collect, slot: note}]}
`

// TestCompleteness reads partial transcripts as answers to the question for a slot.
func TestCompleteness(t *testing.T) {
	const complete, incomplete, undecided = turn.Complete, turn.Incomplete, turn.Undecided
	a, problems := dialog.Parse([]agent.File{{Name: "agent.yaml", Data: []byte(slotAgent)}})
	if len(problems) > 0 {
		t.Fatal(problems)
	}
	now := time.Date(2026, 3, 2, 10, 0, 0, 0, time.UTC)
	for _, tc := range []struct {
		slot, words string
		want        turn.Completeness
	}{
		{"pin", "", undecided},
		{"pin", "one two three", incomplete},
		{"pin", "one two three four five", incomplete},
		{"pin", "one two three four five six", complete},
		{"pin", "it's one two three four five six", complete},
		{"pin", "twelve thirty four fifty six", complete},
		{"pin", "double one two three four", incomplete},
		{"pin", "one two three four five six seven", undecided}, // refused; the caller may correct it
		{"pin", "um", incomplete},
		{"pin", "what do you mean", undecided},
		{"digit", "seven", complete},
		{"ticket", "one two three", undecided}, // its length is not known
		{"short", "one two three", incomplete},
		{"short", "one two three four", undecided},
		{"short", "one two three four five six", complete},
		{"account", "d e eight nine three seven", incomplete},
		{"account", "d e eight nine three seven zero four zero zero four four zero five three two zero one three zero zero zero", complete},
		{"account", "d e eight nine three seven zero four zero zero four four zero five three two zero one three zero zero one", incomplete},
		{"people", "two", complete},
		{"people", "for two people", complete},
		{"people", "nine", undecided}, // refused
		{"room", "two", complete},     // no room has a hundred
		{"room", "twenty", undecided}, // twenty-one
		{"room", "forty", complete},
		{"room", "twenty one", complete},
		{"seats", "two", undecided}, // two hundred
		{"day", "the fifth", undecided},
		{"day", "may the fifth", complete},
		{"day", "may twenty", undecided}, // may twenty-first
		{"day", "the fifth of", incomplete},
		{"day", "tomorrow", complete},
		{"day", "next friday please", complete},
		{"day", "on the", incomplete},
		{"birth", "may the fifth", undecided},
		{"birth", "may the fifth nineteen ninety", undecided}, // nineteen ninety-one
		{"birth", "may the fifth nineteen ninety one", complete},
		{"hour", "nine", undecided},
		{"hour", "at nine thirty p m", complete},
		{"sure", "yes", complete},
		{"sure", "yes please", complete},
		{"sure", "no", complete},
		{"sure", "yes and", incomplete},
		{"sure", "yes but not today", undecided},
		{"city", "boston", complete},
		{"city", "from", incomplete},
		{"city", "new", incomplete},
		{"city", "i'd like to go to san", incomplete},
		{"city", "new york", undecided},
		{"city", "new york city", complete},
		{"who", "my name is", incomplete},
		{"who", "john", undecided},
		{"note", "that is all", undecided},
		{"note", "leave it with the", incomplete},
	} {
		var st dialog.State
		a.Start(&st, now)
		a.Handle(&st, now, dialog.Message{Text: "enter the " + tc.slot, Confidence: 1})
		if st.WaitingForSlot != tc.slot {
			t.Fatalf("the agent waits for %q, expected %q", st.WaitingForSlot, tc.slot)
		}
		before := st.Clone()
		if got := a.Completeness(&st, now, tc.words); got != tc.want {
			t.Errorf("%s: %q is %q, expected %q", tc.slot, tc.words, got, tc.want)
		}
		if !reflect.DeepEqual(before, st) {
			t.Errorf("%s: %q changes the state", tc.slot, tc.words)
		}
	}
}
