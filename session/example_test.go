package session_test

import (
	"context"
	"fmt"
	"log"

	"github.com/hocketvoice/hocket/conv"
	"github.com/hocketvoice/hocket/session"
)

// A program with speech services of its own carries out the effects: here all of them are
// ready at once, and what the agent says is printed.
func ExampleMachine() {
	var m *session.Machine
	m, err := session.NewMachine(session.MachineOptions{
		Conv: conv.Options{Greeting: "Hello. How can I help you?"},
		Perform: func(e conv.Effect) {
			switch e := e.(type) {
			case conv.OpenSession:
				m.Local(conv.SessionReady{})
			case conv.PrimeAudio:
				m.Local(conv.AudioReady{})
			case conv.Speak:
				fmt.Println("agent:", e.Text)
			case conv.EndSpeech:
				m.Local(conv.PlayoutStarted{}, conv.PlayoutFinished{}, conv.UserStop{})
			case conv.Release:
				m.Local(conv.SessionEnded{})
			}
		},
	})
	if err != nil {
		log.Fatal(err)
	}
	m.OnStateChanged(func(s session.StateChanged) { fmt.Println(s.Transition.From, "->", s.Transition.To) })
	if err := m.StartConversation(); err != nil {
		log.Fatal(err)
	}
	if err := m.Run(context.Background()); err != nil {
		log.Fatal(err)
	}
	// Output:
	// idle -> preparing
	// preparing -> listening.ready
	// listening.ready -> processing.generating
	// agent: Hello.
	// agent: How can I help you?
	// processing.generating -> speaking
	// speaking -> listening.ready
	// listening.ready -> terminating
	// terminating -> idle
}
