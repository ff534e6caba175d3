package conv_test

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/hocketvoice/hocket/conv"
	"github.com/hocketvoice/hocket/dialog"
	"github.com/hocketvoice/hocket/dialog/agent"
)

const keeper = `
settings:
  language: en
slots:
  number: {type: digits, length: 6, secret: true, prompt: "What is your number?"}
  city: {type: city, values: [Boston, Denver], prompt: "Where to?"}
actions:
  log_in: {inputs: [number], outputs: [right]}
  audit: {inputs: [number, city], outputs: [report], long: true}
flows:
  login:
    description: log in
    trigger: {intents: [log me in]}
    steps:
      - {step: a, type: collect, slot: number}
      - {step: b, type: action, call: log_in}
      - {step: c, type: branch, slot: number, cases: {"739184": rich}, default: poor}
      - {step: rich, type: say, message: "You are the one.", next: d}
      - {step: poor, type: say, message: "You are somebody.", next: d}
      - {step: d, type: collect, slot: city}
      - {step: sure, type: confirm, message: "To {city}, shall I?"}
      - {step: e, type: action, call: audit}
      - {step: f, type: set, slots: {number: null}}
`

// TestAnySequenceVeiled: whatever happens, in whatever order, the veil changes nothing of
// the conversation, shows no secret that the user said, and what it shows can be stepped
// again by who knows none.
func TestAnySequenceVeiled(t *testing.T) {
	for _, how := range []struct{ name, settings string }{
		{"words", "  language: en\n"},
		{"model", "  model: {understanding: true, answers: true}\n"},
	} {
		t.Run(how.name, func(t *testing.T) {
			made, problems := dialog.Parse([]agent.File{{Name: "agent.yaml", Data: []byte(strings.Replace(keeper, "  language: en\n", how.settings, 1))}})
			if made == nil {
				t.Fatal(problems)
			}
			rapid.Check(t, func(t *rapid.T) { veiled(t, made) })
		})
	}
}

func veiled(t *rapid.T, made *dialog.Agent) {
	o := drawOptions(t)
	o.Agent = made
	three := [3]*conv.Conversation{} // alone, behind the veil, replayed
	for i := range three {
		c, err := conv.New(o)
		if err != nil {
			t.Fatal(err)
		}
		three[i] = c
	}
	alone, replayed := three[0], three[2]
	v, err := conv.NewVeil(three[1])
	if err != nil {
		t.Fatal(err)
	}
	w := &world{t: t, c: alone, said: []string{
		"", "mhm", "stop", "yes", "no", "cancel", "log me in", "log me in", "Denver", "to Boston", "739184", "739184", "it is 739184",
		"seven three nine one eight four", "the number is 739184", "no, 739185", "seven three nine",
	}}
	now := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	for i := range rapid.IntRange(4, 60).Draw(t, "steps") {
		var ev conv.Event
		switch i {
		case 0:
			ev = conv.UserStart{}
		case 1:
			ev = conv.SessionReady{}
		case 2:
			ev = conv.AudioReady{}
		case 3:
			ev = conv.UserText{Text: "log me in"}
		default:
			now = now.Add(w.pause())
			ev = w.draw()
		}
		line, err := conv.MarshalEvent(ev)
		t.Logf("%v %s %v", now, line, err)
		alone.Step(now, ev)
		shown, err := v.Step(now, ev)
		if err != nil {
			t.Fatal(err)
		}
		if shown.After == nil {
			replayed.Step(now, shown.Event)
		} else if err := replayed.Recall(shown.After, *shown.Conversation.Last()); err != nil {
			t.Fatal(err)
		}
		same(t, "behind the veil", three[1], alone)
		same(t, "replayed", replayed, shown.Conversation)
		b, err := conv.MarshalEvent(shown.Event)
		if err != nil {
			t.Fatal(err)
		}
		what, err := json.Marshal([]any{shown.Conversation.Last(), shown.Conversation.State()})
		if err != nil {
			t.Fatal(err)
		}
		for _, form := range []string{"739184", "739185", "seven three nine one"} {
			for _, text := range [][]byte{b, what, shown.After} {
				if i := bytes.Index(text, []byte(form)); i >= 0 {
					t.Fatalf("%q is shown: %s: ...%s", form, b, text[max(0, i-300):min(len(text), i+100)])
				}
			}
		}
	}
}

// same fails where two conversations have not come to the same.
func same(t *rapid.T, what string, got, want *conv.Conversation) {
	a, err := got.Snapshot()
	if err != nil {
		t.Fatal(err)
	}
	b, err := want.Snapshot()
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(a, b) {
		t.Fatalf("%s:\n%s\nexpected\n%s", what, a, b)
	}
}
