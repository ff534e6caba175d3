package dialog

import (
	"maps"
	"slices"
	"testing"

	"github.com/hocketvoice/hocket/dialog/agent"
)

// TestIntents measures the classifier on sentences that are not triggers. The thresholds
// are what it reached when the test was written.
func TestIntents(t *testing.T) {
	for _, c := range []struct {
		agent    string
		covered  map[string][]string
		nothing  []string
		accuracy float64
		rejected float64
	}{
		{
			agent: "bank.yaml",
			covered: map[string][]string{
				"transfer_money": {
					"can you transfer some money for me", "I'd like to make a money transfer", "I need to wire money to my sister", "transfer", "please send some money",
					"I would like to send money abroad", "hello I want to do a transfer please", "could you make a transfer to my landlord", "money transfer",
					"I have to transfer money today", "send fifty euros to Anna", "let me wire some cash",
				},
				"check_balance": {
					"how much is on my account", "tell me my balance please", "could you check my balance", "what's the balance of my savings account", "balance please",
					"how much money is in my checking account", "I want to know my account balance", "do I still have money", "check my account", "what is the balance on my account",
				},
				"lost_card": {
					"somebody stole my card", "my card is lost", "I can't find my card I lost it", "please block my credit card", "my credit card was stolen yesterday",
					"block the card right now", "I think I lost my bank card", "card stolen",
				},
			},
			nothing: []string{
				"what's the weather like", "tell me a joke", "I want to order a pizza", "who are you", "my dog ate my homework", "is it raining in london",
				"what time do you open", "can you recommend a restaurant", "play some jazz", "I am so tired today", "where is the train station", "I want to buy a car",
				"do you speak german", "what is the capital of peru", "open the pod bay doors", "how do I get to the airport", "I like turtles", "blue seven monkey",
			},
			accuracy: 0.85, rejected: 0.88,
		},
		{
			agent: "de.yaml",
			covered: map[string][]string{
				"termin": {
					"ich hätte gern einen Termin", "kann ich einen Termin machen", "ich würde gerne einen Termin vereinbaren", "Termin bitte", "haben Sie einen Termin für mich",
					"ich brauche dringend einen Termin", "einen Termin bei Doktor Schulz bitte", "könnte ich einen Termin bekommen",
				},
			},
			nothing: []string{
				"wie wird das Wetter", "erzähl mir einen Witz", "ich habe Hunger", "wo ist der Bahnhof", "spiel Musik", "mein Hund ist krank", "wie spät ist es",
				"ich möchte eine Pizza bestellen", "was kostet das Brot", "wer bist du",
			},
			accuracy: 0.87, rejected: 0.9,
		},
	} {
		a := testAgent(t, c.agent)
		total, right := 0, 0
		for _, want := range slices.Sorted(maps.Keys(c.covered)) {
			for _, text := range c.covered[want] {
				total++
				if got := understoodFlow(a, text); got == want {
					right++
				} else {
					t.Logf("%s: %q: got %q, want %q", c.agent, text, got, want)
				}
			}
		}
		rejected := 0
		for _, text := range c.nothing {
			if got := understoodFlow(a, text); got == "" {
				rejected++
			} else {
				t.Logf("%s: %q: got %q, want nothing", c.agent, text, got)
			}
		}
		accuracy, refusal := float64(right)/float64(total), float64(rejected)/float64(len(c.nothing))
		t.Logf("%s: %.2f of %d understood, %.2f of %d refused", c.agent, accuracy, total, refusal, len(c.nothing))
		if accuracy < c.accuracy || refusal < c.rejected {
			t.Errorf("%s: %.2f understood, %.2f refused; want at least %.2f and %.2f", c.agent, accuracy, refusal, c.accuracy, c.rejected)
		}
	}
}

// understoodFlow returns the flow that a first sentence starts, or "".
func understoodFlow(a *Agent, text string) string {
	var st State
	a.Start(&st, tuesday)
	a.Handle(&st, tuesday, Message{Text: text})
	if st.Runs == 0 {
		return ""
	}
	if st.CurrentFlow != agent.NoFlow {
		return st.CurrentFlow
	}
	return st.Finished.Flow
}

// TestNameInALongSentence checks that a value after the name of a slot is read correctly
// late in a long sentence.
func TestNameInALongSentence(t *testing.T) {
	a, problems := Parse([]agent.File{{Name: "a.yaml", Data: []byte(`
slots:
  title: {type: string, prompt: "Which title?"}
  day: {type: date, prompt: "When?"}
flows:
  order: {trigger: {intents: [order a book]}, steps: [{step: a, type: collect, slot: title}, {step: b, type: collect, slot: day}]}
`)}})
	if a == nil {
		t.Fatal(problems)
	}
	var st State
	a.Start(&st, tuesday)
	a.Handle(&st, tuesday, Message{Text: "I would like to order a book. I have been meaning to for days and days now, and the title is just put my life in the woods please"})
	if st.CurrentFlow != "order" || st.Slots["title"] != "my life in the woods" {
		t.Errorf("in %s with %v", st.CurrentFlow, st.Slots)
	}
}
