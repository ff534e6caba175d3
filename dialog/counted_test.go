package dialog_test

import (
	"strings"
	"testing"
	"time"

	"github.com/hocketvoice/hocket/dialog"
	"github.com/hocketvoice/hocket/dialog/agent"
)

// TestGrammarHasTheSlotsLimits: the phrases for a number have what the slot takes, and nothing
// longer or greater.
func TestGrammarHasTheSlotsLimits(t *testing.T) {
	const digit = "(zero | oh | one | two | three | four | five | six | seven | eight | nine)"
	for _, tc := range []struct{ slot, want, never string }{
		{"{type: digits, length: 1}", "(zero | one | two | three | four | five | six | seven | eight | nine)", "oh"},
		{"{type: digits, length: 3}", digit + " [" + digit + " [" + digit + "]]", "+"},
		{"{type: digits}", digit + "+", ""},
		{"{type: integer, min: 0, max: 9}", "(zero | one | two | three | four | five | six | seven | eight | nine)", "teen"},
		{"{type: integer, min: 18, max: 22}", "(eighteen | nineteen | twenty | twenty one | twenty two)", "thir"},
		{"{type: integer, max: 2}", "(zero | one | two)", "three"},
		{"{type: integer, min: 1}", "nineteen | (twenty", ""},
		{"{type: integer, min: -2, max: 9}", "nineteen | (twenty", ""},
		{"{type: integer, min: 1, max: 500}", "nineteen | (twenty", ""},
	} {
		file := "slots: {x: {prompt: Which?, " + tc.slot[1:] + "}\nflows: {f: {trigger: {intents: [ask me]}, steps: [{step: a, type: collect, slot: x}]}}\n"
		a, problems := dialog.Parse([]agent.File{{Name: "agent.yaml", Data: []byte(file)}})
		if len(problems) > 0 {
			t.Fatal(problems)
		}
		var st dialog.State
		now := time.Date(2026, 3, 2, 10, 0, 0, 0, time.UTC)
		a.Start(&st, now)
		phrases := a.Handle(&st, now, dialog.Message{Text: "ask me", Confidence: 1}).Expect.Phrases
		if len(phrases) == 0 || !strings.Contains(phrases[0], tc.want) || tc.never != "" && strings.Contains(phrases[0], tc.never) {
			t.Errorf("%s: the first phrase is %.300q, expected %q and not %q", tc.slot, phrases[0], tc.want, tc.never)
		}
	}
}
