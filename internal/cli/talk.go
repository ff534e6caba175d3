package cli

import (
	"context"
	"fmt"
	"os"
	"os/signal"

	"github.com/hocketvoice/hocket/internal/app"
)

// talkCmd runs a call with the person at the terminal.
type talkCmd struct {
	Agent  string `required:"" placeholder:"PATH" help:"The agent: a YAML file, or a folder of YAML files."`
	Config string `placeholder:"FILE" help:"A config file."`

	Trace  string `placeholder:"FILE" help:"Write the trace, which holds every event and every effect."`
	JSON   bool   `name:"json" help:"Print the conversation as JSON lines."`
	Store  string `env:"HOCKET_STORE" placeholder:"STORE" help:"Save the call in this store, so that it can continue after the program has ended: a file, postgres://..., or $${NAME} for a variable that holds one of them."`
	Resume string `placeholder:"ID" help:"Continue this conversation of the store."`
}

// Help returns the long help.
func (talkCmd) Help() string {
	return `Uses the default microphone and the default speaker of the system. Wear headphones: the removal of the agent's voice from the microphone's sound was not tried with a loudspeaker. Ctrl-C hangs up; a second Ctrl-C ends the program at once.`
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
