// Command machine steps the state machine alone: a caller interrupts the greeting.
// It uses no goroutines, clock or I/O: events are the input, effects the output.
//
//	go run ./examples/machine
package main

import (
	"fmt"
	"log"
	"time"

	"github.com/hocketvoice/hocket/conv"
)

func main() {
	call, err := conv.New(conv.Options{Greeting: "Hello. How can I help you?"})
	if err != nil {
		log.Fatal(err)
	}
	now := time.Date(2026, 3, 2, 9, 0, 0, 0, time.UTC)
	facts := func(list ...conv.Event) {
		for _, fact := range list {
			for _, effect := range call.Step(now, fact) {
				fmt.Printf("%s -> %T%+v\n", conv.EventType(fact), effect, effect)
			}
			now = now.Add(300 * time.Millisecond)
		}
	}
	facts(conv.UserStart{}, conv.SessionReady{}, conv.AudioReady{}, conv.PlayoutStarted{})
	facts(conv.SpeechStarted{}, conv.STTPartial{Text: "stop that please"}, conv.DeadlinePassed{})
	facts(conv.TurnEnded{Cause: "silence"}, conv.STTFinal{Text: "stop that please"})
	fmt.Printf("%s; heard: %q\n", call.Phase(), call.History()[0].Text)
}
