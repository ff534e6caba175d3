package dialog_test

import (
	"strings"
	"testing"
	"time"

	"github.com/hocketvoice/hocket/dialog"
	"github.com/hocketvoice/hocket/dialog/agent"
)

const declaredDomain = `
slots: {city: {type: city, values: [Boston, Denver], prompt: Where to?}, day: {type: date, prompt: When?}}
actions: {book: {inputs: [city, day], outputs: [ref], requires_confirmation: true}}
flows:
  book_flight:
    description: book a flight
    trigger: {intents: [book a flight]}
    slots: [city, day]
    confirm: To {city} on {day}. Right?
    action: book
    respond: Booked as {ref}.
  bye:
    trigger: {intents: [I am off]}
    steps:
      - {step: answer, type: respond, message: See you.}
      - {step: which, type: branch, slot: city, cases: {Denver: stop, default: never}}
      - {step: never, type: say, message: Never said.}
      - {step: stop, type: end}
`

// TestDeclaredFlow checks that a flow with slots, confirm, action and respond asks, reads
// back, acts and answers, and that a second file can implement its action.
func TestDeclaredFlow(t *testing.T) {
	for _, overlayFirst := range []bool{false, true} {
		files := []agent.File{
			{Name: "domain.yaml", Data: []byte(declaredDomain)},
			{Name: "here.yaml", Data: []byte("actions: {book: {mock: {ref: B1}}}\n")},
		}
		if overlayFirst {
			files[0], files[1] = files[1], files[0]
		}
		a, problems := dialog.Parse(files)
		if a == nil || len(problems) > 0 {
			t.Fatal(problems)
		}
		var st dialog.State
		now := time.Date(2026, 1, 5, 12, 0, 0, 0, time.UTC)
		a.Start(&st, now)
		for _, turn := range []struct{ say, want string }{
			{"book a flight", "Where to?"},
			{"Denver", "When?"},
			{"tomorrow", "To Denver on Tuesday, January 6. Right?"},
			{"yes", "Booked as B1."},
			{"I am off", "See you."},
		} {
			now = now.Add(5 * time.Second)
			said := ""
			for _, l := range a.Handle(&st, now, dialog.Message{Text: turn.say, Confidence: 1}).Say {
				said += l.Text + " "
			}
			if strings.TrimSpace(said) != turn.want {
				t.Errorf("overlay first %v: %q: %q, want %q", overlayFirst, turn.say, said, turn.want)
			}
		}
		if st.CurrentFlow != "none" {
			t.Errorf("the flow %s has not ended", st.CurrentFlow)
		}
	}
}

// TestDeclaredTwice checks that a second declaration must be an implementation, and that a
// flow has either steps or declared fields.
func TestDeclaredTwice(t *testing.T) {
	for want, second := range map[string]string{
		"declared twice": "actions: {book: {inputs: [city], mock: {ref: B1}}}\n",
		"expected steps, or confirm without steps": `
flows: {f: {trigger: {intents: [do it]}, confirm: Sure?, steps: [{step: a, type: say, message: Hi}]}}
`,
	} {
		a, problems := dialog.Parse([]agent.File{{Name: "domain.yaml", Data: []byte(declaredDomain)}, {Name: "here.yaml", Data: []byte(second)}})
		found := false
		for _, p := range problems {
			found = found || strings.Contains(p.String(), want)
		}
		if a != nil || !found {
			t.Errorf("%s: %v", want, problems)
		}
	}
}
