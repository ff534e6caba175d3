package dialog_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/hocketvoice/hocket/dialog"
)

// tableAgent has an action that gives no output (no mock, no service) and messages that name
// what it should have given.
const tableAgent = `
slots:
  guests: {type: integer, prompt: For how many?}
  note: {type: string, prompt: "Anything else?", required: false}
actions:
  reserve: {inputs: [guests, note], outputs: [table, price], mock: {}}
  pay: {inputs: [guests], requires_confirmation: true, confirmation: "The table is for {guests} and costs {price}. Shall I go ahead?", mock: {}}
flows:
  book_table:
    trigger: {intents: [book a table]}
    steps:
      - {step: a, type: collect, slot: guests}
      - {step: b, type: action, call: reserve}
      - {step: c, type: say, message: "Table {table}."}
  seat:
    trigger: {intents: [find me a seat]}
    steps:
      - {step: a, type: collect, slot: guests}
      - {step: b, type: action, call: reserve}
      - {step: c, type: say, message: "It is reserved. Your table is {table|=0:none|other:number #}. It costs {price:EUR}, {note}. See you, Dr. {guests}."}
  pay_table:
    trigger: {intents: [pay for the table]}
    steps:
      - {step: a, type: collect, slot: guests}
      - {step: b, type: action, call: pay}
`

// tripAgent is examples/flights with an airline that answers at once.
const tripAgent = `
slots:
  origin: {type: city, description: departure city, prompt: From where?, values: [Boston, Denver]}
  destination: {type: city, description: city you want to fly to, prompt: To where?, values: [Boston, Denver]}
  departure_date: {type: date, description: day on which you want to leave, prompt: On which day?}
actions:
  search_flights:
    description: find a flight
    inputs: [origin, destination, departure_date]
    outputs: [flight_number, departure_time, price]
    mock: {flight_number: Hocket 726, departure_time: "16:50", price: 280}
  book:
    description: book the flight that was found
    inputs: [flight_number, origin, destination, departure_date]
    outputs: [booking_ref]
    requires_confirmation: true
    confirmation: "You fly from {origin} to {destination} on {departure_date}, at {departure_time}, for {price} dollars. Shall I book it?"
    mock: {booking_ref: BK-1}
flows:
  book_flight:
    description: book a flight
    trigger: {intents: [book a flight, "I want to fly from {origin} to {destination}"]}
    steps:
      - {step: a, type: collect, slot: origin}
      - {step: b, type: collect, slot: destination}
      - {step: c, type: collect, slot: departure_date}
      - {step: d, type: action, call: search_flights}
      - {step: e, type: action, call: book}
      - {step: f, type: say, message: "It is booked."}
`

// saidExactly returns a check of the last answer.
func saidExactly(want string) func(*dialog.State, string) string {
	return func(_ *dialog.State, said string) string {
		if said = strings.TrimSpace(said); said != want {
			return fmt.Sprintf("said %q, expected %q", said, want)
		}
		return ""
	}
}

// neverSays returns a check that the last answer does not contain part.
func neverSays(part string) func(*dialog.State, string) string {
	return func(_ *dialog.State, said string) string {
		if strings.Contains(said, part) {
			return fmt.Sprintf("%q has %q", said, part)
		}
		return ""
	}
}

// doubts are answers that make a stranger doubt what was meant or done.
func doubts() (all []symptom) {
	add := func(name, agent string, wrong func(*dialog.State, string) string, say ...string) {
		all = append(all, symptom{name: name, agent: agent, say: say, wrong: wrong})
	}
	found := "I want to fly from Boston to Denver tomorrow"
	for _, text := range []string{
		"what does a bag cost", "how much is a bag", "how much is an extra suitcase?", "and what does the insurance cost?", "what does it cost to bring my dog",
		"what does a seat in first class cost", "how much is breakfast",
	} {
		add("the flight's price is told for: "+text, tripAgent, neverSays("The price is"), found, text)
	}
	for _, text := range []string{"what does it cost", "how much is it?", "what is the price", "how much is the flight", "how much does it cost to fly to Denver"} {
		add("the flight's price is not told for: "+text, tripAgent, told("The price is 280", nil), found, text)
	}
	sent := []string{"send 50 euros to Anna", "DE89 3704 0044 0532 0130 00", "yes"}
	const done = "Done. I have sent 50 euros to Anna. Your reference is H B 4, 7 1 1."
	for _, text := range []string{"again please", "repeat that", "once more", "what did you say"} {
		add("a transfer sounds as if it were made twice after: "+text, "examples/bank", saidExactly("I said: "+done), append(sent[:3:3], text)...)
	}
	add("a transfer sounds as if it were made twice after two repetitions", "examples/bank", saidExactly("I said: "+done), append(sent[:3:3], "again please", "again please")...)
	add("the repetition of a question has a preface", "examples/bank", neverSays("I said"), "send 50 euros to Anna", "again please")
	add("a message is spoken with a hole", tableAgent, saidExactly("Done."), "book a table", "4")
	add("a sentence is spoken with a hole", tableAgent, saidExactly("It is reserved. See you, Dr. 4."), "find me a seat", "4")
	add("a question for a yes is spoken with a hole", tableAgent, saidExactly("Guests 4. Shall I go ahead?"), "pay for the table", "4")
	// What was said to make the agents do what nobody wants.
	ready := sent[:2:2]
	moved := []string{"move my appointment", "John Smith", "3 May 1980"}
	visit := []string{"cancel my appointment", "John Smith", "3 May 1980"}
	open := func(st *dialog.State, said string) string {
		if st.Confirmation == nil {
			return fmt.Sprintf("nothing waits for a yes: %q", said)
		}
		return ""
	}
	for _, answers := range [][]string{{"is it too late to cancel?", "sure it is"}, {"that would be a shame", "yes it would"}, {"is it expensive?", "it is"}} {
		add("a visit is cancelled by: "+strings.Join(answers, ", "), "examples/clinic", open, append(visit[:3:3], answers...)...)
	}
	add("no problem sends money", "examples/bank", open, append(ready, "no problem")...)
	add("a plain yes does not cancel any more", "examples/clinic", told("Your appointment is cancelled", nil), append(visit[:3:3], "yes it is right, please")...)
	for agent, lines := range map[string][]string{
		"examples/bank":    {"I sent 50 euros to Anna last week, was that right?", "I sent 50 euros to Anna", "I've sent 50 euros to Anna", "please don't send money to Anna"},
		"examples/flights": {"I flew from Boston to Denver yesterday", "I booked a flight from Boston to Denver last week", "I cancelled my flight BK-98765 yesterday, did it work?"},
		"examples/clinic":  {"I had an appointment with Doctor Chen on Monday at ten", "I booked an appointment last week"},
	} {
		for _, line := range lines {
			add("a report starts something: "+line, agent, func(st *dialog.State, said string) string {
				if st.CurrentFlow != "none" || strings.Contains(line, "don't") && st.Proposed != "" {
					return fmt.Sprintf("the flow is %s, %s is proposed: %q", st.CurrentFlow, st.Proposed, said)
				}
				return ""
			}, line)
		}
	}
	for _, who := range []string{"nobody", "somebody", "everyone", "myself", "me"} {
		add("a person is called "+who, "examples/bank", wantSlots(map[string]any{"payee": nil}), "send 50 euros to "+who)
	}
	add("an answer is the person nobody", "examples/bank", wantSlots(map[string]any{"payee": nil}), "send money", "nobody")
	add("minus 50 is 50", "examples/bank", wantSlots(map[string]any{"amount": nil}), "send minus 50 euros to Anna")
	add("minus 50 is 50 as an answer", "examples/bank", wantSlots(map[string]any{"amount": nil}), "send money", "Anna", "DE89 3704 0044 0532 0130 00", "minus 50 euros")
	for _, text := range []string{"one second please", "on second thought I can come to the old one", "second thoughts, leave it", "give me a second"} {
		add("a choice is taken from: "+text, "examples/clinic", wantSlots(map[string]any{"choice": nil}), append(moved[:3:3], text)...)
	}
	add("the second one is no choice any more", "examples/clinic", wantSlots(map[string]any{"choice": "second"}), append(moved[:3:3], "the second please")...)
	for _, text := range []string{"Anna's number ends with 31", "yesterday it was 20", "it is for her 30th birthday, she is 30"} {
		add("an amount is taken from: "+text, "examples/bank", wantSlots(map[string]any{"amount": 50}), append(ready, text)...)
	}
	for _, text := range []string{"actually 40", "no, 40", "make it 40", "40 instead", "40 euros would be better"} {
		add("an amount is not corrected by: "+text, "examples/bank", wantSlots(map[string]any{"amount": 40}), append(ready, text)...)
	}
	for _, text := range []string{"no wait", "wait", "hold on", "no no no", "don't"} {
		add("what was sent seems to be called off by: "+text, "examples/bank", told("done already", nil), append(sent[:3:3], text)...)
	}
	for _, text := range []string{"but only if it arrives today", "oh wait, only if it arrives today", "if my balance is over 100"} {
		add("what was sent depends on something said too late: "+text, "examples/bank", told("done already", nil), append(sent[:3:3], text)...)
	}
	add("no thanks is told that it is done", "examples/bank", neverSays("done already"), append(sent[:3:3], "no thanks")...)
	add("whether it was sent is answered with the amount", "examples/bank", neverSays("The amount is"), append(ready, "did you already send it?")...)
	add("the amount is not told", "examples/bank", told("The amount is 50 euros", nil), append(ready, "what is the amount?")...)
	// What is done may be wanted once more.
	flown := []string{found, "yes"}
	again := func(st *dialog.State, said string) string {
		if st.CurrentFlow != "book_flight" || st.Confirmation == nil || st.Slots["destination"] != "Denver" || strings.Contains(said, "into account") {
			return fmt.Sprintf("the flow is %s, the slots %v: %q", st.CurrentFlow, st.Slots, said)
		}
		return ""
	}
	anew := func(st *dialog.State, said string) string {
		if st.WaitingForSlot != "origin" || st.Slots["destination"] != nil || strings.Contains(said, "into account") {
			return fmt.Sprintf("%s is awaited, the slots are %v: %q", st.WaitingForSlot, st.Slots, said)
		}
		return ""
	}
	for _, text := range []string{"book it again", "please book that once more", "do the same again"} {
		add("a flight is not booked anew after: "+text, tripAgent, again, append(flown[:2:2], text)...)
	}
	for _, text := range []string{"book another flight", "I want to book another flight please"} {
		add("another flight is not booked after: "+text, tripAgent, anew, append(flown[:2:2], text)...)
		add("another flight is not booked after a no and: "+text, tripAgent, anew, found, "no", text)
	}
	add("again please books", tripAgent, func(st *dialog.State, said string) string {
		if st.CurrentFlow != "none" {
			return said
		}
		return ""
	}, append(flown[:2:2], "again please")...)
	add("a request is a name", "examples/clinic", wantSlots(map[string]any{"patient": nil}), "move my appointment", "book another appointment")
	// What nobody can answer is not misunderstood.
	for _, text := range []string{"what does a bag cost", "how much is a bag?", "when do I have to be at the airport?"} {
		add("a question is called not understood: "+text, tripAgent, told("I don't know that. I can help you to book a flight.", nil), text)
		add("a question within a flow is called not understood: "+text, tripAgent, told("I don't know that. From where?", nil), "book a flight", text)
	}
	// What comes behind a pause after an answer.
	add("an answer that is taken back becomes the next one", tripAgent, wantSlots(map[string]any{"origin": "Boston", "destination": nil}), "book a flight", "Boston", "no Denver")
	add("which city is meant is not asked", tripAgent, told("Is that the", nil), "book a flight", "Boston", "no Denver")
	add("an addition to an answer is lost", tripAgent, wantSlots(map[string]any{"destination": "Denver", "departure_date": "2026-01-09"}), "book a flight", "from Boston", "Denver", "on Friday")
	return all
}

// TestDoubts checks answers that were doubted by people who tried the agents.
func TestDoubts(t *testing.T) {
	for _, s := range doubts() {
		t.Run(s.name, func(t *testing.T) {
			if why := s.hold(t); why != "" {
				t.Error(why)
			}
		})
	}
}
