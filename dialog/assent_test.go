package dialog

import (
	"testing"
	"time"

	"github.com/hocketvoice/hocket/dialog/agent"
	"github.com/hocketvoice/hocket/dialog/words"
)

// TestAssent checks that a yes counts only if the message has nothing on which it could
// depend.
func TestAssent(t *testing.T) {
	a, problems := Parse([]agent.File{{Name: "a.yaml", Data: []byte(`
slots:
  city: {type: city, prompt: Where to?, values: [Denver, Boston]}
  day: {type: date, prompt: When?}
flows:
  book_flight:
    trigger: {intents: [book a flight]}
    steps: [{step: a, type: collect, slot: city}, {step: b, type: collect, slot: day}, {step: c, type: action, call: book}]
actions: {book: {inputs: [city, day], requires_confirmation: true}}
`)}})
	if a == nil {
		t.Fatal(problems)
	}
	var st State
	now := time.Date(2026, 1, 5, 12, 0, 0, 0, time.UTC)
	a.Start(&st, now)
	for _, text := range []string{"book a flight", "Denver", "tomorrow"} {
		a.Handle(&st, now, Message{Text: text, Confidence: 1})
	}
	if st.Confirmation == nil {
		t.Fatalf("the state is %s, expected a confirmation", st.ConversationState)
	}
	for _, c := range []struct {
		want  words.Assent
		texts []string
	}{
		{words.Assents, []string{
			"yes", "yes please", "ok", "okay then", "ok do it", "yes, go ahead", "yes i'm sure", "yes that sounds good", "ok whatever, yes, send it",
			"alright, book it anyway", "yes, to Denver tomorrow", "sure, book the flight", "yes, thank you very much", "right, Denver, yes",
		}},
		{words.Refuses, []string{"no", "no thanks", "no, keep it", "no, don't book it", "hm, ok, then no", "don't book the flight", "well no"}},
		{words.GivesUp, []string{"never mind", "never mind, cancel that", "ok, never mind, forget it", "stop, don't book it", "no, leave it", "never mind then"}},
		{words.NoAssent, []string{
			"ok but only if it is refundable", "yes if it has wifi", "yes unless it is full", "sure but wait", "yes but from my savings", "yes provided it is cheap",
			"yes, but not today", "go ahead as long as I can cancel later", "yes to Boston", "yes and make it Friday", "yes?", "is that right?", "yes, hm, no",
			"no problem, no", "maybe", "book the flight", "Denver", "no, Boston", "yes, how much is it", "never mind the wifi, just book it", "that's wrong",
			"yes when I have asked my wife", "yes for two", "yes yes yes of course it depends",
		}},
	} {
		for _, text := range c.texts {
			turn := a.looking(&st, now)
			turn.read(text)
			if got := turn.heard().Assent(); got != c.want {
				t.Errorf("%q is %d, expected %d", text, got, c.want)
			}
		}
	}
	if got := a.SaidYes("yes if it has wifi"); got {
		t.Error("a conditional yes was accepted for a tool")
	}
}
