package explore

import (
	"slices"

	"github.com/hocketvoice/hocket/conv/view"
)

// Edge is a transition between two states of a view.
type Edge struct {
	From, To string
}

// Row is a row of a seed's table.
type Row struct {
	From, To string // "*" is any state, "<previous>" the state before
	Except   []string
	// Added reports that the row is not in the seed's own table, but follows from
	// another seed or from the seed's text.
	Added bool
}

// Table is a seed's table for its view.
type Table struct {
	View    view.Name
	Initial string
	Rows    []Row
}

// Tables returns the seeds' tables, including the rows that reconcile them: the state
// diagram and requirements of seed 000, the matrix of seed 001, section 5, the state
// machine of seed 002, and that of seed 004.
func Tables() []Table {
	return []Table{
		{View: view.NameAgentVoice, Initial: "idle", Rows: []Row{
			{From: "idle", To: "preparing"},
			{From: "preparing", To: "listening"},
			{From: "listening", To: "processing"},
			{From: "processing", To: "waitingForCopilot"},
			{From: "waitingForCopilot", To: "processing"},
			{From: "waitingForCopilot", To: "speaking"},
			{From: "processing", To: "speaking"},
			{From: "speaking", To: "listening"},
			{From: "speaking", To: "interrupted"},
			{From: "interrupted", To: "listening"},
			{From: "processing", To: "listening"},
			{From: "waitingForCopilot", To: "listening"},
			{From: "*", To: "suspended", Except: []string{"idle", "terminating", "suspended"}},
			{From: "suspended", To: "<previous>"},
			{From: "*", To: "faulted", Except: []string{"idle", "faulted", "terminating"}},
			{From: "faulted", To: "preparing"},
			{From: "faulted", To: "terminating"},
			{From: "*", To: "terminating", Except: []string{"idle", "terminating"}},
			{From: "terminating", To: "idle"},
			{From: "speaking", To: "processing", Added: true},
			{From: "suspended", To: "listening", Added: true},
		}},
		{View: view.NameAmplifier, Initial: "none", Rows: []Row{
			{From: "none", To: "idle"},
			{From: "idle", To: "listening"},
			{From: "idle", To: "error"},
			{From: "idle", To: "reconnecting"},
			{From: "listening", To: "processing"},
			{From: "listening", To: "error"},
			{From: "listening", To: "reconnecting"},
			{From: "processing", To: "idle"},
			{From: "processing", To: "listening"},
			{From: "processing", To: "speaking"},
			{From: "processing", To: "tool_executing"},
			{From: "processing", To: "error"},
			{From: "processing", To: "reconnecting"},
			{From: "speaking", To: "idle"},
			{From: "speaking", To: "listening"},
			{From: "speaking", To: "tool_executing"},
			{From: "speaking", To: "error"},
			{From: "speaking", To: "reconnecting"},
			{From: "tool_executing", To: "processing"},
			{From: "tool_executing", To: "waiting_amplifier"},
			{From: "tool_executing", To: "error"},
			{From: "tool_executing", To: "reconnecting"},
			{From: "waiting_amplifier", To: "idle"},
			{From: "waiting_amplifier", To: "processing"},
			{From: "waiting_amplifier", To: "error"},
			{From: "waiting_amplifier", To: "reconnecting"},
			{From: "error", To: "idle"},
			{From: "error", To: "reconnecting"},
			{From: "reconnecting", To: "idle"},
			{From: "reconnecting", To: "error"},
			{From: "*", To: "none", Except: []string{"none"}},
			{From: "idle", To: "processing", Added: true},
		}},
		{View: view.NameEasyTurn, Initial: "IDLE", Rows: []Row{
			{From: "IDLE", To: "LISTENING"},
			{From: "LISTENING", To: "PROCESSING"},
			{From: "PROCESSING", To: "SPEAKING"},
			{From: "PROCESSING", To: "LISTENING"},
			{From: "SPEAKING", To: "LISTENING"},
			{From: "SPEAKING", To: "INTERRUPTED"},
			{From: "INTERRUPTED", To: "LISTENING"},
			{From: "*", To: "IDLE", Except: []string{"IDLE"}},
			{From: "SPEAKING", To: "PROCESSING", Added: true},
			{From: "IDLE", To: "*", Except: []string{"IDLE"}, Added: true},
		}},
		{View: view.NameInteraction, Initial: "AGENT_IDLE", Rows: []Row{
			{From: "AGENT_IDLE", To: "AGENT_SPEAKING"},
			{From: "AGENT_SPEAKING", To: "AGENT_IDLE"},
			{From: "AGENT_SPEAKING", To: "INTERRUPTED"},
			{From: "INTERRUPTED", To: "AGENT_SPEAKING"},
			{From: "INTERRUPTED", To: "AGENT_IDLE"},
		}},
	}
}

// resolve returns the edges that the table allows. "<previous>" after suspended is
// every state that can be suspended; an invariant checks that it is the right one.
func (t Table) resolve() map[Edge]bool {
	states, err := t.View.States()
	if err != nil {
		panic(err) // the tables name views of package conv
	}
	edges := make(map[Edge]bool)
	excepted := func(r Row, s string) bool {
		return slices.Contains(r.Except, s)
	}
	for _, r := range t.Rows {
		switch {
		case r.From == "*":
			for _, from := range states {
				if !excepted(r, from) {
					edges[Edge{from, r.To}] = true
				}
			}
		case r.To == "*":
			for _, to := range states {
				if !excepted(r, to) {
					edges[Edge{r.From, to}] = true
				}
			}
		case r.To == "<previous>":
			for _, to := range states {
				switch to {
				case "idle", "suspended", "faulted", "terminating":
				default:
					edges[Edge{r.From, to}] = true
				}
			}
		default:
			edges[Edge{r.From, r.To}] = true
		}
	}
	return edges
}
