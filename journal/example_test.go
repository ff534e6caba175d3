package journal_test

import (
	"bytes"
	"fmt"
	"log"
	"time"

	"github.com/hocketvoice/hocket/conv"
	"github.com/hocketvoice/hocket/journal"
)

// A conversation is recorded step by step and replayed: every effect must be the
// same.
func Example() {
	o := conv.Options{Greeting: "Hello."}
	call, err := conv.New(o)
	if err != nil {
		log.Fatal(err)
	}
	start := time.Date(2026, 3, 2, 9, 0, 0, 0, time.UTC)
	header, err := journal.NewHeader(start, call.Options(), nil)
	if err != nil {
		log.Fatal(err)
	}
	var trace bytes.Buffer
	w, err := journal.NewWriter(&trace, header)
	if err != nil {
		log.Fatal(err)
	}
	for i, fact := range []conv.Event{conv.UserStart{}, conv.SessionReady{}, conv.AudioReady{}} {
		now := start.Add(time.Duration(i) * 100 * time.Millisecond)
		call.Step(now, fact)
		if err := w.Step(now, call, fact); err != nil {
			log.Fatal(err)
		}
	}
	steps, err := journal.Replay(&trace, func(_ journal.Line, ev conv.Event, c *conv.Conversation) {
		fmt.Println(conv.EventType(ev), "->", c.Phase())
	})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(steps, "steps, the same effects")
	// Output:
	// user.start -> idle
	// session.ready -> preparing
	// audio.ready -> processing.generating
	// 3 steps, the same effects
}
