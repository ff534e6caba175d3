package cli

import (
	"context"
	"fmt"
	"os"
	"os/signal"

	"github.com/hocketvoice/hocket/internal/app"
)

// talkCmd holds a call with the person at the terminal.
type talkCmd struct {
	Agent  string `required:"" placeholder:"PATH" help:"The agent: a YAML file, or a folder of them."`
	Config string `placeholder:"FILE" help:"A config file."`

	Trace  string `placeholder:"FILE" help:"Write the trace: every event and every effect."`
	JSON   bool   `name:"json" help:"Print the conversation as JSON lines."`
	Store  string `env:"HOCKET_STORE" placeholder:"STORE" help:"Keep the state of the call there, so that it can go on if the program ends: in a file, in postgres://..., or what $${NAME} holds."`
	Resume string `placeholder:"ID" help:"Go on with a conversation of the store."`
}

// Help returns the long help.
func (talkCmd) Help() string {
	return `The microphone and the speaker are the default ones of the system. Wear headphones: the agent's voice is not removed from what the microphone hears. Ctrl-C hangs up; a second one ends the program at once.`
}

// Run runs the command.
func (c *talkCmd) Run(s *streams) error {
	person, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	defer context.AfterFunc(person, stop)() // a second signal ends the program
	talk := &talk{s: s, json: c.JSON}
	result, err := app.Talk(context.Background(), person, app.CallOptions{
		Agent: c.Agent, Config: c.Config, Store: c.Store, Resume: c.Resume, Trace: c.Trace,
		Watch: talk.watch, Said: talk.said,
		Note: func(note string) { fmt.Fprintln(s.err, "note: "+note) },
	})
	if err != nil {
		return callError(err)
	}
	return talk.end(result)
}
