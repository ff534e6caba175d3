// Command functions holds a spoken call like examples/call, in which a flow calls a
// Go function. Its arguments are the agent and the weights of the detector, or ""
// for the built-in weights.
//
//	go run -tags flite,pocketsphinx,silero_embed ./examples/functions examples/functions/agent ""
package main

import (
	"context"
	"fmt"
	"log"
	"os"
	"time"

	"github.com/hocketvoice/hocket"
	"github.com/hocketvoice/hocket/detector/silero"
	"github.com/hocketvoice/hocket/leg/file"
	"github.com/hocketvoice/hocket/port"
	"github.com/hocketvoice/hocket/provider/flite"
	"github.com/hocketvoice/hocket/provider/pocketsphinx"
	"github.com/hocketvoice/hocket/session"
)

func must[T any](v T, err error) T {
	if err != nil {
		log.Fatal(err)
	}
	return v
}

type party struct {
	Guests int `json:"guests" jsonschema:"how many people come"`
}

func reserve(_ context.Context, p party) (map[string]int, error) {
	return map[string]int{"table": 10 + p.Guests}, nil
}

func main() {
	ctx, voice := context.Background(), must(flite.New(flite.Options{}))
	says := must(file.Say(ctx, voice, "rms", "I want to book a table", "four"))
	call := hocket.Call{
		Agent:       must(hocket.LoadAgent(os.Args[1])),
		Leg:         must(file.New(file.Options{Utterances: says})),
		Recognizer:  must(pocketsphinx.New(pocketsphinx.Options{})),
		Synthesizer: voice,
		Detector:    must(silero.New(silero.Options{Path: os.Args[2]})),
		Said:        func(s session.Spoken) { fmt.Printf("%s: %s\n", s.Role, s.Text) },
	}
	call.Agent.Tools = []port.Tool{hocket.Func("reserve", "reserves a table", reserve)}
	if err := call.RunVirtual(ctx, time.Now()); err != nil {
		log.Fatal(err)
	}
}
