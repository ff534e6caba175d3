package api

import (
	"context"
	"errors"
	"net/http"
	"sync/atomic"
	"testing"

	"github.com/hocketvoice/hocket/conv"
	"github.com/hocketvoice/hocket/dialog"
	"github.com/hocketvoice/hocket/dialog/agent"
	"github.com/hocketvoice/hocket/port"
	"github.com/hocketvoice/hocket/server/hub"
	"github.com/hocketvoice/hocket/session"
)

const failingAgent = `version: "1.0"
settings: {greeting: "Good day."}
actions:
  reserve: {outputs: [table]}
flows:
  table:
    trigger: {intents: ["reserve a table"]}
    steps:
      - {step: run, type: action, call: reserve, map_outputs: {table: table}}
      - {step: told, type: say, message: "It is table {table}."}
  hours:
    trigger: {intents: ["when are you open"]}
    steps:
      - {step: told, type: say, message: "From noon to midnight."}
`

// closedOnce is a tool whose first call fails.
type closedOnce struct{ calls atomic.Int32 }

func (c *closedOnce) Specs() []port.ToolSpec { return []port.ToolSpec{{Name: "reserve"}} }

func (c *closedOnce) Call(_ context.Context, _ port.ToolCall, _ func(string)) (string, error) {
	if c.calls.Add(1) == 1 {
		return "", errors.New("the book is closed")
	}
	return `{"table": 7}`, nil
}

// TestRecoverLeavesTheDialoguesError checks that the command recover takes a dialogue out of its
// error state while the machine listens, so that the action runs once more and the next request
// works.
func TestRecoverLeavesTheDialoguesError(t *testing.T) {
	h := newHouse(t, hub.Options{}, nil)
	tools := new(closedOnce)
	h.call = func(call *hub.Call) {
		files := []agent.File{{Name: "agent.yaml", Data: []byte(failingAgent)}}
		a, problems := dialog.Parse(files)
		if a == nil {
			t.Fatal(problems)
		}
		call.Session = func(c *hub.Conversation) (*session.Session, error) {
			return session.New(session.Options{
				ID: c.ID(), Leg: c.Leg(), Trace: c.Recorder(), AgentFiles: files, Text: true, Tools: tools,
				Conv: conv.Options{Agent: a, Endpoint: "manual"},
			})
		}
	}
	made := h.begin("flights")
	recovers := func() {
		t.Helper()
		ask[Empty](h, http.StatusAccepted, "POST", "/v1/conversations/"+made.ID+"/commands", `{"type":"recover"}`)
	}
	events := h.listen("/v1/conversations/" + made.ID + "/events?from=1")
	events.heard("Good day.")
	recovers() // nothing to recover from
	h.say(made.ID, "reserve a table")
	events.heard("something went wrong")
	if d := ask[hub.Details](h, http.StatusOK, "GET", "/v1/conversations/"+made.ID, ""); d.Phase == conv.Faulted || tools.calls.Load() != 1 {
		t.Fatalf("the machine is in %s after %d calls: expected the dialogue alone in error, after one", d.Phase, tools.calls.Load())
	}
	recovers()
	events.heard("It is table 7.")
	recovers() // it has been left
	h.say(made.ID, "when are you open")
	events.heard("From noon to midnight.")
	if n := tools.calls.Load(); n != 2 {
		t.Errorf("the action ran %d times, expected 2", n)
	}
}
