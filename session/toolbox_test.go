package session

import (
	"strings"
	"testing"
	"time"

	"github.com/hocketvoice/hocket/conv"
	"github.com/hocketvoice/hocket/dialog"
	"github.com/hocketvoice/hocket/dialog/agent"
	"github.com/hocketvoice/hocket/port"
	"github.com/hocketvoice/hocket/porttest"
)

// TestConsent: a model's tool that needs it runs after a yes to this very call,
// once, whatever the model does.
func TestConsent(t *testing.T) {
	agent, problems := dialog.Parse([]agent.File{{Name: "a.yaml", Data: []byte("version: \"1.0\"\ninstructions: be brief\n")}})
	if agent == nil {
		t.Fatal(problems)
	}
	tools := &porttest.Tool{Known: []port.ToolSpec{{Name: "cancel", Confirm: true}, {Name: "look"}}}
	// The model calls what the user's words name, whatever was said before, and
	// reports what came of it.
	model := &porttest.Model{Answer: func(r port.Request) []port.Delta {
		last := r.Messages[len(r.Messages)-1]
		if last.Role == "tool" {
			return []port.Delta{{Text: "It says " + last.Content + "."}}
		}
		arguments := `{"ref": "A1", "n": 1}`
		if strings.Contains(last.Content, "other") {
			arguments = `{"ref": "B2", "n": 1}`
		}
		if strings.Contains(last.Content, "yes") {
			arguments = `{"n":1,"ref":"A1"}` // the same, spelt in another way
		}
		return []port.Delta{{Call: &port.ToolCall{ID: "c" + time.Now().String(), Name: "cancel", Arguments: arguments}}}
	}}
	tx, err := NewText(TextOptions{Conv: conv.Options{Agent: agent}, Tools: tools, Model: model})
	if err != nil {
		t.Fatal(err)
	}
	now := time.Date(2026, 1, 1, 12, 0, 0, 0, time.UTC)
	if _, err := tx.Start(t.Context(), now); err != nil {
		t.Fatal(err)
	}
	ran := 0
	for _, line := range []struct {
		say  string
		runs bool
	}{
		{"yes", false}, // to nothing
		{"cancel it", false},
		{"no", false},
		{"cancel it", false},
		{"yes but the other one", false},
		{"cancel it", false},
		{"yes please", true},
		{"yes", false}, // it was used up
		{"yes", true},  // to the question that followed
	} {
		now = now.Add(time.Second)
		r, err := tx.Say(t.Context(), now, line.say)
		if err != nil {
			t.Fatal(err)
		}
		if line.runs {
			ran++
		}
		said := strings.Join(r.Said, " ")
		if len(tools.Calls()) != ran || line.runs == strings.Contains(said, conv.CodeNeedsYes) {
			t.Errorf("%q: %d runs, expected %d; %s", line.say, len(tools.Calls()), ran, said)
		}
	}
}

// TestModelTools: a model neither sees nor runs what it may not, and flows do.
func TestModelTools(t *testing.T) {
	all := &porttest.Tool{Known: []port.ToolSpec{{Name: "reserve"}, {Name: "look"}}}
	allowed := &porttest.Tool{Known: []port.ToolSpec{{Name: "look"}}}
	var offered []string
	model := &porttest.Model{Answer: func(r port.Request) []port.Delta {
		offered = nil
		for _, s := range r.Tools {
			offered = append(offered, s.Name)
		}
		if last := r.Messages[len(r.Messages)-1]; last.Role == "tool" {
			return []port.Delta{{Text: last.Content}}
		}
		return []port.Delta{{Call: &port.ToolCall{ID: "c", Name: "reserve", Arguments: "{}"}}}
	}}
	agent, problems := dialog.Parse([]agent.File{{Name: "a.yaml", Data: []byte(booking + "instructions: be brief\n")}})
	if agent == nil {
		t.Fatal(problems)
	}
	all.Run = nil
	tx, err := NewText(TextOptions{Conv: conv.Options{Agent: agent}, Tools: all, ModelTools: allowed, Model: model})
	if err != nil {
		t.Fatal(err)
	}
	now := time.Date(2026, 1, 1, 12, 0, 0, 0, time.UTC)
	if _, err := tx.Start(t.Context(), now); err != nil {
		t.Fatal(err)
	}
	r, err := tx.Say(t.Context(), now, "tell me a story")
	if err != nil || strings.Join(offered, " ") != "look" || len(all.Calls()) != 0 || !strings.Contains(strings.Join(r.Said, " "), `no tool \"reserve\"`) {
		t.Errorf("offered %q, calls %v, said %q, error %v", offered, all.Calls(), r.Said, err)
	}
	for _, line := range []string{"reserve a table", "four", "yes"} {
		if r, err = tx.Say(t.Context(), now, line); err != nil {
			t.Fatal(err)
		}
	}
	if len(all.Calls()) != 1 {
		t.Errorf("the flow's action ran %d times; said %q", len(all.Calls()), r.Said)
	}
}

// TestConsentWithoutFlows: a model's tool that needs a yes is asked about where no
// agent and no flow is configured.
func TestConsentWithoutFlows(t *testing.T) {
	tools := &porttest.Tool{Known: []port.ToolSpec{{Name: "cancel", Confirm: true}}}
	model := &porttest.Model{Answer: func(r port.Request) []port.Delta {
		if last := r.Messages[len(r.Messages)-1]; last.Role == "tool" {
			return []port.Delta{{Text: "It says " + last.Content + "."}}
		}
		return []port.Delta{{Call: &port.ToolCall{ID: "c" + time.Now().String(), Name: "cancel"}}}
	}}
	tx, err := NewText(TextOptions{Conv: conv.Options{Language: "de"}, Tools: tools, Model: model})
	if err != nil {
		t.Fatal(err)
	}
	now := time.Date(2026, 1, 1, 12, 0, 0, 0, time.UTC)
	if _, err := tx.Start(t.Context(), now); err != nil {
		t.Fatal(err)
	}
	for _, line := range []struct {
		say  string
		runs int
	}{{"storniere das", 0}, {"nein", 0}, {"storniere das", 0}, {"ja", 1}, {"ja", 1}} {
		if _, err := tx.Say(t.Context(), now, line.say); err != nil {
			t.Fatal(err)
		}
		if n := len(tools.Calls()); n != line.runs {
			t.Errorf("%q: %d runs, expected %d", line.say, n, line.runs)
		}
	}
}
