package session

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/hocketvoice/hocket/conv"
	"github.com/hocketvoice/hocket/port"
	"github.com/hocketvoice/hocket/port/errclass"
	"github.com/hocketvoice/hocket/porttest"
)

// TestLongHistory: a model is given the last turn word for word, and a summary of
// what was said before it.
func TestLongHistory(t *testing.T) {
	var asked, summaries []port.Request
	model := &porttest.Model{Answer: func(r port.Request) []port.Delta {
		if r.Instructions == summaryInstructions {
			summaries = append(summaries, r)
			return []port.Delta{{Text: "Ann wants "}, {Text: "to fly."}}
		}
		asked = append(asked, r)
		return []port.Delta{{Text: "All right."}}
	}}
	texts := []string{"I am Ann", "book a flight", "to Boston", "on Monday"}
	said := line{answers, 800 * ms}
	c := hold(t, thinking(plan{
		conv: conv.Options{SummaryTurns: 1}, texts: texts, lines: []line{said, said, said, said},
	}, model, nil))
	if c.err != nil {
		t.Fatal(c.err)
	}
	if len(asked) != 4 || len(summaries) != 3 {
		t.Fatalf("%d answers and %d summaries were asked for", len(asked), len(summaries))
	}
	if first, want := summaries[0].Messages[0].Content, "user: I am Ann\nagent: All right.\n"; first != want {
		t.Errorf("the first summary is asked for of %q, want %q", first, want)
	}
	if second := summaries[1].Messages[0].Content; !strings.Contains(second, "Ann wants to fly.") || !strings.Contains(second, "book a flight") || strings.Contains(second, "I am Ann") {
		t.Errorf("the second summary is asked for of %q", second)
	}
	for i, r := range asked {
		told := strings.Contains(r.Instructions, "Ann wants to fly.")
		if told != (i >= 2) || !strings.HasPrefix(r.Instructions, "You sell flights.") {
			t.Errorf("answer %d: the model is told %q", i+1, r.Instructions)
		}
		if want := []int{1, 3, 3, 3}[i]; len(r.Messages) != want || r.Messages[want-1].Content != texts[i] {
			t.Errorf("answer %d: the model reads %+v", i+1, r.Messages)
		}
	}
}

// TestSummaryThatFails: nothing is lost with it, and what is not a summary is none.
func TestSummaryThatFails(t *testing.T) {
	for name, answer := range map[string]func(func(port.Delta) error) error{
		"fails": func(func(port.Delta) error) error { return &port.Failure{Code: errclass.ServerError, Message: "down"} },
		"is long": func(emit func(port.Delta) error) error {
			return emit(port.Delta{Text: strings.Repeat("x", maxSummary+1)})
		},
		"is empty": func(emit func(port.Delta) error) error { return emit(port.Delta{Text: " \n"}) },
	} {
		t.Run(name, func(t *testing.T) {
			summaries := 0
			var last port.Request
			tx, err := NewText(TextOptions{
				Conv: conv.Options{SummaryTurns: 1},
				Model: modelFunc(func(_ context.Context, r port.Request, emit func(port.Delta) error) error {
					if r.Instructions == summaryInstructions {
						summaries++
						return answer(emit)
					}
					last = r
					return emit(port.Delta{Text: "All right."})
				}),
			})
			if err != nil {
				t.Fatal(err)
			}
			if _, err := tx.Start(t.Context(), start); err != nil {
				t.Fatal(err)
			}
			for _, text := range []string{"I am Ann", "book a flight", "to Boston"} {
				r, err := tx.Say(t.Context(), start, text)
				if err != nil || !slices.Equal(r.Said, []string{"All right."}) {
					t.Fatalf("%q, %v", r.Said, err)
				}
			}
			if summaries == 0 || len(last.Messages) != 5 || last.Messages[0].Content != "I am Ann" {
				t.Errorf("%d summaries were asked for, the model reads %+v", summaries, last.Messages)
			}
		})
	}
}

// TestSummaryOfNoModel: none is asked for where there is nobody to ask.
func TestSummaryOfNoModel(t *testing.T) {
	if got := summarize(t.Context(), nil, port.Request{}); got != "" {
		t.Errorf("%q", got)
	}
	broken := modelFunc(func(context.Context, port.Request, func(port.Delta) error) error { return errors.New("broken") })
	if got := summarize(t.Context(), broken, port.Request{}); got != "" {
		t.Errorf("%q", got)
	}
}
