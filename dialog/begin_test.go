package dialog_test

import (
	"testing"
	"time"

	"github.com/hocketvoice/hocket/dialog"
	"github.com/hocketvoice/hocket/dialog/agent"
)

// TestDefaultsOfWhoSpeaksFirst checks that slots have their defaults if the user's first
// message comes before any greeting.
func TestDefaultsOfWhoSpeaksFirst(t *testing.T) {
	a, problems := dialog.Parse([]agent.File{{Name: "a.yaml", Data: []byte(`
slots:
  class: {type: string, default: economy, values: [economy, business], prompt: "Which class?"}
flows:
  book:
    trigger: {intents: ["book a flight"]}
    steps:
      - {step: done, type: say, message: "In {class}."}
`)}})
	if a == nil {
		t.Fatal(problems)
	}
	var st dialog.State
	out := a.Handle(&st, time.Date(2026, 1, 5, 9, 0, 0, 0, time.UTC), dialog.Message{Text: "book a flight"})
	if len(out.Say) == 0 || out.Say[0].Text != "In economy." {
		t.Errorf("said %v, expected the default class", out.Say)
	}
}
