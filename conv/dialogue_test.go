package conv_test

import (
	"testing"
	"time"

	"github.com/hocketvoice/hocket/conv"
	"github.com/hocketvoice/hocket/dialog"
	"github.com/hocketvoice/hocket/dialog/agent"
)

// TestDialogueHearsTheModel: what a model answered for the flows is in the
// dialogue's messages, as far as it was heard.
func TestDialogueHearsTheModel(t *testing.T) {
	a, problems := dialog.Parse([]agent.File{{Name: "a.yaml", Data: []byte("version: \"1.0\"\ninstructions: be brief\n")}})
	if agent.HasErrors(problems) {
		t.Fatal(problems)
	}
	c, err := conv.New(conv.Options{Endpoint: "recognizer", Agent: a})
	if err != nil {
		t.Fatal(err)
	}
	now := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	requests := 0
	for _, ev := range []conv.Event{
		conv.UserStart{},
		conv.SessionReady{},
		conv.AudioReady{},
		conv.UserText{Text: "tell me of trains"},
		conv.ReplyRequested{},
		conv.ReplyDelta{Text: "Trains run on rails. They were invented in England."},
		conv.ReplyDone{},
		conv.PlayoutStarted{},
		conv.UserInterrupt{Source: "button", Heard: 2 * time.Second},
	} {
		for _, e := range c.Step(now, ev) {
			if _, ok := e.(conv.RequestReply); ok {
				requests++
			}
		}
	}
	messages := c.State().Dialogue.Messages
	last := messages[len(messages)-1]
	if requests != 1 || last.Role != "assistant" || last.Content != "Trains run on rails." {
		t.Errorf("%d requests, the last message is %+v, expected what was heard", requests, last)
	}
}
