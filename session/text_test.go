package session

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/hocketvoice/hocket/conv"
	"github.com/hocketvoice/hocket/dialog"
	"github.com/hocketvoice/hocket/dialog/agent"
	"github.com/hocketvoice/hocket/port"
	"github.com/hocketvoice/hocket/port/errclass"
)

const booking = `
version: "1.0"
settings: {greeting: "Good day."}
slots:
  guests: {type: integer, prompt: "How many are you?"}
actions:
  reserve: {inputs: [guests], outputs: [table], requires_confirmation: true}
flows:
  table:
    description: reserve a table
    trigger: {intents: ["reserve a table"]}
    steps:
      - {step: ask, type: collect, slot: guests}
      - {step: run, type: action, call: reserve, map_outputs: {table: table}}
      - {step: told, type: say, message: "It is table {table}."}
`

// reservations is a tool that counts its calls.
type reservations struct {
	calls []port.ToolCall
	fails int
}

func (r *reservations) Specs() []port.ToolSpec { return []port.ToolSpec{{Name: "reserve"}} }

func (r *reservations) Call(_ context.Context, call port.ToolCall, _ func(string)) (string, error) {
	r.calls = append(r.calls, call)
	if len(r.calls) <= r.fails {
		return "", errors.New("the book is closed")
	}
	return `{"table": 7}`, nil
}

func text(t *testing.T, tools port.Tool) *Text {
	t.Helper()
	a, problems := dialog.Parse([]agent.File{{Name: "table.yaml", Data: []byte(booking)}})
	if agent.HasErrors(problems) {
		t.Fatal(problems)
	}
	tx, err := NewText(TextOptions{Conv: conv.Options{Agent: a}, Tools: tools})
	if err != nil {
		t.Fatal(err)
	}
	return tx
}

// TestText holds a conversation by text: greeting, question, confirmation, action.
func TestText(t *testing.T) {
	tools := &reservations{}
	tx := text(t, tools)
	now := time.Date(2026, 1, 1, 12, 0, 0, 0, time.UTC)
	for i, line := range []struct{ say, want string }{
		{"", "Good day."},
		{"reserve a table", "How many are you?"},
		{"four", "4"},
		{"yes", "It is table 7."},
	} {
		now = now.Add(20 * time.Minute) // longer than a session lasts
		var r TextReply
		var err error
		if i == 0 {
			r, err = tx.Start(t.Context(), now)
		} else {
			r, err = tx.Say(t.Context(), now, line.say)
		}
		if err != nil {
			t.Fatal(err)
		}
		if said := strings.Join(r.Said, " "); !strings.Contains(said, line.want) {
			t.Errorf("%q: %q, expected %q", line.say, said, line.want)
		}
		if i < 3 && len(tools.calls) > 0 {
			t.Fatalf("%q ran the action", line.say)
		}
	}
	if len(tools.calls) != 1 || tools.calls[0].Arguments != `{"guests":4}` || tools.calls[0].ID == "" {
		t.Errorf("calls %+v, expected one with its inputs and a key", tools.calls)
	}
	if d := tx.Dialogue(); d.ConversationState != dialog.Completed {
		t.Errorf("the dialogue is %s", d.ConversationState)
	}
}

// TestTextFailure: an action that fails is told and may be tried again; one that
// nobody can run is a failure, too, and not the end.
func TestTextFailure(t *testing.T) {
	for name, tools := range map[string]port.Tool{"fails": &reservations{fails: 1}, "missing": nil} {
		t.Run(name, func(t *testing.T) {
			tx := text(t, tools)
			now := time.Date(2026, 1, 1, 12, 0, 0, 0, time.UTC)
			if _, err := tx.Start(t.Context(), now); err != nil {
				t.Fatal(err)
			}
			var last TextReply
			for _, line := range []string{"reserve a table", "four", "yes"} {
				var err error
				if last, err = tx.Say(t.Context(), now, line); err != nil {
					t.Fatal(err)
				}
			}
			if len(last.Said) == 0 || tx.Over() || tx.Dialogue().ConversationState != dialog.Error {
				t.Errorf("%q, over %v, %s", last.Said, tx.Over(), tx.Dialogue().ConversationState)
			}
		})
	}
}

// TestTextEnds: a context that ends, ends the line.
func TestTextEnds(t *testing.T) {
	tx := text(t, nil)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := tx.Start(ctx, time.Now()); !errors.Is(err, context.Canceled) {
		t.Errorf("%v", err)
	}
}

// TestTextRefuses: what is not taken is told.
func TestTextRefuses(t *testing.T) {
	tx := text(t, nil)
	r, err := tx.Say(t.Context(), time.Now(), "hello")
	if err != nil || !slices.Contains(r.Notes, "no_conversation") {
		t.Errorf("%+v, %v", r, err)
	}
}

// TestTextUnderstoodByAModel: a model is asked what the flows do not know by
// themselves, in a form; when it fails they do without.
func TestTextUnderstoodByAModel(t *testing.T) {
	file := strings.Replace(booking, "settings: {", "settings: {model: {understanding: true}, ", 1)
	a, problems := dialog.Parse([]agent.File{{Name: "table.yaml", Data: []byte(file)}})
	if agent.HasErrors(problems) {
		t.Fatal(problems)
	}
	var asked []port.Request
	model := modelFunc(func(_ context.Context, r port.Request, emit func(port.Delta) error) error {
		asked = append(asked, r)
		if len(asked) == 1 {
			return emit(port.Delta{Text: `{"commands":[{"type":"start_flow","flow":"table"},{"type":"set_slot","slot":"guests","value":4}]}`})
		}
		return &port.Failure{Code: errclass.ServerError, Message: "down", Retryable: true}
	})
	tools := &reservations{}
	tx, err := NewText(TextOptions{Conv: conv.Options{Agent: a}, Tools: tools, Model: model})
	if err != nil {
		t.Fatal(err)
	}
	now := time.Date(2026, 1, 1, 12, 0, 0, 0, time.UTC)
	if _, err := tx.Start(t.Context(), now); err != nil {
		t.Fatal(err)
	}
	say := func(text, want string) {
		t.Helper()
		r, err := tx.Say(t.Context(), now, text)
		if err != nil {
			t.Fatal(err)
		}
		if said := strings.Join(r.Said, " "); !strings.Contains(said, want) {
			t.Errorf("%q: %q, expected %q", text, said, want)
		}
	}
	say("it is my anniversary and the four of us are hungry", "4")
	if len(asked) != 1 || asked[0].Form == nil || len(asked[0].Messages) != 1 || len(asked[0].Tools) > 0 {
		t.Fatalf("asked %+v", asked)
	}
	say("make it five rather", "5")
	say("yes", "It is table 7.")
	if len(asked) != 2 {
		t.Errorf("%d requests, expected the second to fail and none for a yes", len(asked))
	}
	if len(tools.calls) != 1 || tools.calls[0].Arguments != `{"guests":5}` {
		t.Errorf("calls %+v", tools.calls)
	}
}

// TestTextRecovers: Recover runs the action again that failed.
func TestTextRecovers(t *testing.T) {
	tools := &reservations{fails: 1}
	tx := text(t, tools)
	now := time.Date(2026, 1, 1, 12, 0, 0, 0, time.UTC)
	if _, err := tx.Start(t.Context(), now); err != nil {
		t.Fatal(err)
	}
	for _, line := range []string{"reserve a table", "four", "yes"} {
		if _, err := tx.Say(t.Context(), now, line); err != nil {
			t.Fatal(err)
		}
	}
	if got := tx.State().Dialogue.ConversationState; got != dialog.Error {
		t.Fatalf("the dialogue is in %s, expected %s", got, dialog.Error)
	}
	r, err := tx.Recover(t.Context(), now)
	if err != nil {
		t.Fatal(err)
	}
	if said := strings.Join(r.Said, " "); !strings.Contains(said, "It is table 7.") || len(tools.calls) != 2 {
		t.Errorf("%q after %d calls, expected the table after 2", said, len(tools.calls))
	}
	if r, err = tx.Recover(t.Context(), now); err != nil || len(r.Said) > 0 || len(tools.calls) != 2 {
		t.Errorf("with nothing to recover from: %q, error %v, %d calls", r.Said, err, len(tools.calls))
	}
}

// TestTextWordedByAModel: a model finds other words for what the flows say; words
// that lose a value are not said.
func TestTextWordedByAModel(t *testing.T) {
	file := strings.Replace(booking, "settings: {", "settings: {rephrase_responses: true, rephrase_tone: cheerful, ", 1)
	file = strings.Replace(file, "How many are you?", "For how many people is it?", 1)
	a, problems := dialog.Parse([]agent.File{{Name: "table.yaml", Data: []byte(file)}})
	if agent.HasErrors(problems) {
		t.Fatal(problems)
	}
	var asked []port.Request
	model := modelFunc(func(_ context.Context, r port.Request, emit func(port.Delta) error) error {
		asked = append(asked, r)
		for _, piece := range []string{"Lovely! How many ", "of you are coming?"} {
			if err := emit(port.Delta{Text: piece}); err != nil {
				return err
			}
		}
		return nil
	})
	tx, err := NewText(TextOptions{Conv: conv.Options{Agent: a}, Tools: &reservations{}, Model: model})
	if err != nil {
		t.Fatal(err)
	}
	now := time.Date(2026, 1, 1, 12, 0, 0, 0, time.UTC)
	if _, err := tx.Start(t.Context(), now); err != nil {
		t.Fatal(err)
	}
	for _, line := range []struct{ say, want string }{
		{"reserve a table", "Lovely! How many of you are coming?"},
		{"four", "4"}, // what is confirmed has a value that the model's words have not
		{"yes", "It is table 7."},
	} {
		r, err := tx.Say(t.Context(), now, line.say)
		if err != nil {
			t.Fatal(err)
		}
		if said := strings.Join(r.Said, " "); !strings.Contains(said, line.want) {
			t.Errorf("%q: %q, expected %q", line.say, said, line.want)
		}
	}
	if len(asked) == 0 || !strings.Contains(asked[0].Instructions, "cheerful") {
		t.Errorf("asked %+v", asked)
	}
}
