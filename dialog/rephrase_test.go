package dialog

import (
	"testing"

	"github.com/hocketvoice/hocket/dialog/agent"
)

// TestKeepsValues checks that a reworded response is accepted if, and only if, it says the
// same.
func TestKeepsValues(t *testing.T) {
	parse := func(yaml string) *Agent {
		a, problems := Parse([]agent.File{{Name: "a.yaml", Data: []byte(yaml)}})
		if a == nil {
			t.Fatal(problems)
		}
		return a
	}
	const slots = `
slots:
  origin: {type: city, prompt: "From?"}
  destination: {type: city, prompt: "To?"}
  departure_date: {type: date, prompt: "When?"}
  meeting: {type: time, prompt: "When?"}
  price: {type: money, currency: EUR, prompt: "How much?"}
  code: {type: code, prompt: "Code?"}
  pin: {type: digits, secret: true, prompt: "PIN?"}
  name: {type: name, prompt: "Name?"}
flows: {f: {trigger: {intents: [los geht es]}, steps: [{step: a, type: collect, slot: origin}]}}
`
	en, de := parse(slots), parse("settings: {language: de}\n"+slots)
	values := map[string]any{
		"origin": "New York", "destination": "Los Angeles", "departure_date": "2025-12-12", "meeting": "15:30",
		"price": int64(250), "code": "BK-98765", "name": "Anna Schmidt",
	}
	for _, c := range []struct {
		a         *Agent
		original  string
		rephrased string
		keeps     bool
	}{
		{en, "You fly from New York to Los Angeles on Friday, December 12.", "On Friday the twelfth of December you're off to Los Angeles from New York!", true},
		{en, "You fly from New York to Los Angeles on Friday, December 12.", "You leave New York for Los Angeles next Friday.", true}, // 12 December on this Tuesday
		{en, "You fly from New York to Los Angeles on Friday, December 12.", "You fly from New York to Los Angeles on Saturday, December 13.", false},
		{en, "You fly from New York to Los Angeles on Friday, December 12.", "You fly to Los Angeles on Friday, December 12.", false},
		{en, "You fly from New York to Los Angeles on Friday, December 12.", "You fly from New York to Los Angeles on Friday, December 12, gate 4.", false},
		{en, "Your flight is booked! Booking reference: BK-98765", "All done, your flight is booked. The reference is B K 9 8 7 6 5.", true},
		{en, "Your flight is booked! Booking reference: BK-98765", "All done, your flight is booked. The reference is BK-98756.", false},
		{en, "The price is 250 euros.", "It comes to two hundred and fifty euros.", true},
		{en, "The price is 250 euros.", "It comes to two hundred and fifteen euros.", false},
		{en, "The price is 250 euros.", "It comes to 250 dollars.", false},
		{en, "See you at 3:30 pm.", "See you at half past three in the afternoon.", true},
		{en, "See you at 3:30 pm.", "See you at half past four in the afternoon.", false},
		{en, "Your flight could not be booked, I'm sorry.", "Good news, your flight is booked!", false},
		{en, "I could not book your flight.", "Unfortunately I was unable to book your flight.", true},
		{en, "Shall I send 250 euros to Anna Schmidt?", "Are you sure you want Anna Schmidt to get 250 euros?", true},
		{en, "Shall I send 250 euros to Anna Schmidt?", "I am sending 250 euros to Anna Schmidt.", false},
		{en, "Shall I send 250 euros to Anna Schmidt?", "Shall I send 250 euros to Anna Schmitt?", false},
		{en, "Where would you like to fly from?", "And from which city do you want to leave?", true},
		{en, "Where would you like to fly from?", "", false},
		{de, "Ihr Flug geht am Freitag, dem 12. Dezember.", "Am Freitag, den zwölften Dezember, fliegen Sie.", true},
		{de, "Ihr Flug geht am Freitag, dem 12. Dezember.", "Am Samstag, den dreizehnten Dezember, fliegen Sie.", false},
		{de, "Das kostet 250 Euro.", "Das macht zweihundertfünfzig Euro.", true},
		{de, "Das kostet 250 Euro.", "Das macht zweihundertfünfzehn Euro.", false},
		{de, "Um 15:30 Uhr geht es nicht.", "Leider geht es um halb vier nachmittags nicht.", true},
		{de, "Um 15:30 Uhr geht es nicht.", "Um halb vier nachmittags passt es gut.", false},
	} {
		if got := c.a.KeepsValues(c.original, c.rephrased, values, tuesday); got != c.keeps {
			t.Errorf("%q\n as %q\n keeps the values: %v, want %v; facts %q and %q", c.original, c.rephrased, got, c.keeps,
				c.a.def.Lang.Facts(c.original, tuesday), c.a.def.Lang.Facts(c.rephrased, tuesday))
		}
	}
	for text, want := range map[string]bool{
		"You fly from New York to Los Angeles on Friday, December 12.": true,
		"Yes.":                       false, // nothing to gain
		"Your code is •••, you know": false,
		"The code is 4 7 1 1, sir":   false,
	} {
		if got := en.Rephrasable(text, map[string]any{"origin": "New York", "pin": "4711"}, tuesday); got != want {
			t.Errorf("%q: rephrasable is %v, want %v", text, got, want)
		}
	}
}

// TestRephraseOfAStep checks that a step decides whether it may be reworded, and the
// settings if it does not.
func TestRephraseOfAStep(t *testing.T) {
	const flow = `
flows:
  f:
    trigger: {intents: [go]}
    steps:
      - {step: a, type: say, message: "One."}
      - {step: b, type: say, message: "Two.", rephrase: true}
      - {step: c, type: say, message: "Three.", rephrase: false}
`
	for settings, want := range map[string][3]bool{"": {true, false, true}, "settings: {rephrase_responses: true}": {false, false, true}} {
		a, problems := Parse([]agent.File{{Name: "a.yaml", Data: []byte(settings + flow)}})
		if a == nil {
			t.Fatal(problems)
		}
		var st State
		a.Start(&st, tuesday)
		out := a.Handle(&st, tuesday, Message{Text: "go"})
		if len(out.Say) != 3 || [3]bool{out.Say[0].Fixed, out.Say[1].Fixed, out.Say[2].Fixed} != want {
			t.Errorf("%q: %+v, want fixed to be %v", settings, out.Say, want)
		}
	}
}
