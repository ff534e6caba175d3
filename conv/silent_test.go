package conv_test

import (
	"testing"
	"time"

	"github.com/hocketvoice/hocket/conv"
)

// TestSilentStart: who has something to say first is not greeted, and is answered; who has
// not is greeted.
func TestSilentStart(t *testing.T) {
	for _, silent := range []bool{false, true} {
		c, err := conv.New(conv.Options{Greeting: "Hello."})
		if err != nil {
			t.Fatal(err)
		}
		now := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
		spoken := false
		for _, ev := range []conv.Event{conv.UserStart{Silent: silent}, conv.SessionReady{ID: "s"}, conv.AudioReady{}} {
			for _, e := range c.Step(now, ev) {
				_, speaks := e.(conv.Speak)
				spoken = spoken || speaks
			}
		}
		if spoken == silent {
			t.Errorf("silent %v: the agent speaks: %v", silent, spoken)
		}
		if phase := c.Phase(); silent && phase != conv.ListeningReady {
			t.Fatalf("phase %v", phase)
		}
		if !silent {
			continue
		}
		asked := false
		for _, e := range c.Step(now, conv.UserText{Text: "book a flight"}) {
			_, asks := e.(conv.RequestReply)
			asked = asked || asks
		}
		if !asked {
			t.Error("nobody is asked for an answer")
		}
	}
}
