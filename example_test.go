package hocket_test

import (
	"context"
	"errors"
	"fmt"
	"log"
	"net/http/httptest"
	"strings"
	"time"

	"github.com/hocketvoice/hocket"
	"github.com/hocketvoice/hocket/leg/file"
	"github.com/hocketvoice/hocket/provider/flite"
	"github.com/hocketvoice/hocket/provider/openai/fake"
	"github.com/hocketvoice/hocket/provider/pocketsphinx"
	"github.com/hocketvoice/hocket/session"
)

// The files of an agent that books a table.
const tables = `
settings:
  greeting: "Good evening. How can I help you?"
slots:
  guests: {type: integer, prompt: "For how many people?"}
actions:
  reserve: {inputs: [guests], outputs: [table]}
flows:
  book_table:
    trigger: {intents: ["I want to book a table", "a table for {guests} people"]}
    steps:
      - {step: how_many, type: collect, slot: guests}
      - {step: reserve, type: action, call: reserve}
      - {step: done, type: say, message: "Table {table} is yours."}
`

type party struct {
	Guests int `json:"guests" jsonschema:"how many people come"`
}

type seat struct {
	Table int `json:"table"`
}

// A flow calls a Go function, in a conversation by text.
func Example() {
	agent, err := hocket.ParseAgent(hocket.File{Name: "tables.yaml", Data: []byte(tables)})
	if err != nil {
		log.Fatal(err)
	}
	agent.Tools = append(agent.Tools, hocket.Func("reserve", "reserves a table",
		func(_ context.Context, p party) (seat, error) { return seat{Table: 10 + p.Guests}, nil }))

	chat, err := agent.Chat()
	if err != nil {
		log.Fatal(err)
	}
	ctx, now := context.Background(), time.Date(2026, 3, 2, 19, 0, 0, 0, time.UTC)
	reply, err := chat.Start(ctx, now)
	for _, line := range []string{"I want to book a table", "four"} {
		if err != nil {
			log.Fatal(err)
		}
		fmt.Println("agent:", strings.Join(reply.Said, " "))
		fmt.Println("guest:", line)
		reply, err = chat.Say(ctx, now, line)
	}
	fmt.Println("agent:", strings.Join(reply.Said, " "))
	// Output:
	// agent: Good evening. How can I help you?
	// guest: I want to book a table
	// agent: For how many people?
	// guest: four
	// agent: Table 14 is yours.
}

// The file of an agent describes its language model, here a server on this machine.
func ExampleParseAgent() {
	server := httptest.NewServer(&fake.Server{Answer: func(fake.Request) fake.Answer { return fake.Text("We open at nine.") }})
	defer server.Close()
	said, err := ask("When do you open?", `
instructions: You answer for a shop, in one sentence.
model: {name: llama3, base_url: "`+server.URL+`/v1"}
`)
	fmt.Println(said, err)
	// Output: We open at nine. <nil>
}

// ask returns what the agent of a file answers to a line.
func ask(line, file string) (string, error) {
	agent, err := hocket.ParseAgent(hocket.File{Name: "clerk.yaml", Data: []byte(file)})
	if err != nil {
		return "", err
	}
	chat, err := agent.Chat()
	if err != nil {
		return "", err
	}
	ctx, now := context.Background(), time.Date(2026, 3, 2, 19, 0, 0, 0, time.UTC)
	if _, err := chat.Start(ctx, now); err != nil {
		return "", err
	}
	reply, err := chat.Say(ctx, now, line)
	return strings.Join(reply.Said, " "), err
}

// A spoken call with a caller made of two sentences, held as fast as it can be
// computed.
func ExampleCall() {
	ctx := context.Background()
	agent, err := hocket.LoadAgent("tables.yaml")
	if err != nil {
		log.Fatal(err)
	}
	recognizer, err := pocketsphinx.New(pocketsphinx.Options{})
	if err != nil {
		log.Fatal(err)
	}
	voice, err := flite.New(flite.Options{})
	if err != nil {
		log.Fatal(err)
	}
	says, err := file.Say(ctx, voice, "rms", "I want to book a table", "four")
	if err != nil {
		log.Fatal(err)
	}
	leg, err := file.New(file.Options{Utterances: says})
	if err != nil {
		log.Fatal(err)
	}
	call := hocket.Call{
		Agent: agent, Leg: leg, Recognizer: recognizer, Synthesizer: voice,
		Said: func(s session.Spoken) { fmt.Println(s.Role, s.Text) },
	}
	if err := errors.Join(call.RunVirtual(ctx, time.Now()), voice.Close(), recognizer.Close()); err != nil {
		log.Fatal(err)
	}
}

// A tool of a model: its JSON Schema follows from the struct.
func ExampleFunc() {
	tool := hocket.Func("reserve", "reserves a table",
		func(_ context.Context, p party) (seat, error) { return seat{Table: 10 + p.Guests}, nil })
	tool.Confirm = true // the guest has to say yes
	fmt.Println(string(tool.Specs()[0].Schema))
	// Output:
	// {"type":"object","properties":{"guests":{"type":"integer","description":"how many people come"}},"required":["guests"],"additionalProperties":false}
}
