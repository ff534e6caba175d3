//go:build flite && pocketsphinx && cgo

package app

import (
	"strings"
	"testing"
	"time"
)

// iban is an account number as somebody reads it aloud, with pauses.
const iban = "D E eight nine [700ms] three seven zero four [700ms] zero zero four four [700ms] " +
	"zero five three two [700ms] zero one three zero [700ms] zero zero"

// TestExamplesBySpeech holds spoken calls with the examples: with pauses inside numbers, a
// correction, a backchannel, an interruption, a cancellation and a confirmation.
func TestExamplesBySpeech(t *testing.T) {
	if raceDetector {
		t.Skip("most of it is decoding, three times as slow with the race detector; `make test` holds these calls without it")
	}
	for _, tt := range []struct {
		name, agent string
		lines       []CallerLine
		said        []string // by the agent, in this order, among what it meant to say
		cut         []string // parts of what nobody heard
		never       []string
	}{
		{
			name: "a flight, corrected while it is summed up", agent: "flights",
			lines: []CallerLine{
				{Text: "I want to book a flight"},
				{Text: "from Boston"},
				{Text: "to Denver"},
				{Text: "the twenty [700ms] third of march"},
				{Text: "actually change the destination to Chicago", BargeIn: 4 * time.Second},
				{Text: "yes please"},
			},
			said: []string{
				"You are flying from Boston to Denver on Monday, March 23.",
				"You are flying from Boston to Chicago on Monday, March 23.", "Your flight is booked.",
			},
			cut: []string{"Shall I book it?"},
		},
		{
			name: "a booking that is cancelled", agent: "flights",
			lines: []CallerLine{
				{Text: "cancel my booking"}, {Text: "B K [500ms] nine eight seven [700ms] six five"}, {Text: "yes please"},
			},
			said: []string{"This will cancel your booking:", "Your booking is cancelled."},
		},
		{
			name: "a change that is not wanted after all", agent: "flights",
			lines: []CallerLine{
				{Text: "I want to change my flight"},
				{Text: "B K [500ms] one two three [700ms] four five"},
				{Text: "the twentieth of april"},
				{Text: "no"},
			},
			said:  []string{"Shall I change it to Monday, April 20?", "I won't do that."},
			never: []string{"It is changed."},
		},
		{
			name: "a transfer, corrected while it is read back", agent: "bank",
			lines: []CallerLine{
				{Text: "I want to send money"},
				{Text: "John Smith"},
				{Text: iban},
				{Text: "two hundred [700ms] and fifty euros"},
				{Text: "actually make it three hundred euros", BargeIn: 2500 * time.Millisecond},
				{Text: "yes please"},
			},
			said: []string{
				"I am sending 250 euros to John Smith, account number D E 8, 9 3 7, 0 4 0, 0 4 4, 0 5 3, 2 0 1, 3 0 0 0.",
				"I am sending 300 euros", "Done. I have sent 300 euros to John Smith.",
			},
			cut:   []string{"Shall I go ahead?"},
			never: []string{"I have sent 250 euros"},
		},
		{
			name: "a read-back that a backchannel does not break off", agent: "bank",
			lines: []CallerLine{
				{Text: "I want to send money"},
				{Text: "John Smith"},
				{Text: iban},
				{Text: "two hundred euros"},
				{Text: "okay", BargeIn: 2500 * time.Millisecond},
				{Text: "yes please"},
			},
			said: []string{"Shall I go ahead?", "Done. I have sent 200 euros"},
		},
		{
			name: "a transfer that is called off", agent: "bank",
			lines: []CallerLine{{Text: "I want to send money"}, {Text: "John Smith"}, {Text: "cancel"}},
			said:  []string{"No money has been sent."},
			never: []string{"I have sent"},
		},
		{
			name: "an appointment, with an interruption and a correction", agent: "clinic",
			lines: []CallerLine{
				{Text: "I need an appointment"},
				{Text: "the skin doctor"},
				{Text: "next monday", BargeIn: 500 * time.Millisecond},
				{Text: "half past [600ms] three"},
				{Text: "Robert Miller"},
				{Text: "the third of may [700ms] nineteen eighty"},
				{Text: "actually make it four o'clock"},
				{Text: "yes"},
			},
			said: []string{
				"Monday, March 9 at 3:30 pm with Doctor Chen, for Robert Miller, born Saturday, May 3, 1980",
				"updated your time to 4 pm", "Your appointment is booked. We'll see you on Monday, March 9 at 4 pm.",
			},
			cut: []string{"you?"},
		},
		{
			name: "an appointment that is cancelled", agent: "clinic",
			lines: []CallerLine{
				{Text: "cancel my appointment"}, {Text: "Robert Miller"}, {Text: "the third of may nineteen eighty"}, {Text: "yes"},
			},
			said: []string{"Shall I cancel it?", "Your appointment is cancelled."},
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			meant, unheard := holdCall(t, tt.agent, tt.lines)
			rest := meant
			for _, want := range tt.said {
				_, after, ok := strings.Cut(rest, want)
				if !ok {
					t.Errorf("the agent did not say %q, or not in its place:\n%s", want, meant)
					continue
				}
				rest = after
			}
			for _, want := range tt.cut {
				if !strings.Contains(unheard, want) {
					t.Errorf("%q was heard; unheard is %q", want, unheard)
				}
			}
			if len(tt.cut) == 0 && unheard != "" {
				t.Errorf("%q was not heard", unheard)
			}
			for _, bad := range tt.never {
				if strings.Contains(meant, bad) {
					t.Errorf("the agent said %q:\n%s", bad, meant)
				}
			}
		})
	}
}

// holdCall holds a call with an example and returns what both said, with the agent's words
// whole, and what of them was cut off.
func holdCall(t *testing.T, agent string, lines []CallerLine) (meant, unheard string) {
	t.Helper()
	var words dialogue
	_, err := Call(t.Context(), CallOptions{
		Agent: "../../examples/" + agent, Lines: lines,
		Day:   time.Date(2026, 3, 2, 12, 0, 0, 0, time.UTC),
		Watch: words.watch,
	})
	if err != nil {
		t.Fatal(err)
	}
	return words.said()
}
