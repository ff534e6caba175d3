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
	m, err := session.NewMachine(session.MachineOptions{
		Conv: conv.Options{Greeting: "Hello. How can I help you?"},
		Perform: func(loop *session.Loop, e conv.Effect) {
			switch e := e.(type) {
			case conv.OpenSession:
				loop.Post(conv.SessionReady{})
			case conv.PrimeAudio:
				loop.Post(conv.AudioReady{})
			case conv.Speak:
				fmt.Println("agent:", e.Text)
			case conv.EndSpeech:
				loop.Post(conv.PlayoutStarted{}, conv.PlayoutFinished{}, conv.UserStop{})
			case conv.Release:
				loop.Post(conv.SessionEnded{})
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
