// Command call holds a spoken call in virtual time: one voice speaks the caller's
// sentences, a recognizer recognizes them, and another voice answers. Its arguments
// are an agent and the weights of the detector, or "" for the built-in weights.
//
//	go run -tags flite,pocketsphinx,silero_embed ./examples/call examples/clinic ""
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

func main() {
	ctx, voice := context.Background(), must(flite.New(flite.Options{}))
	says := must(file.Say(ctx, voice, "rms", "when are you open"))
	call := hocket.Call{
		Agent:       must(hocket.LoadAgent(os.Args[1])),
		Leg:         must(file.New(file.Options{Utterances: says})),
		Recognizer:  must(pocketsphinx.New(pocketsphinx.Options{})),
		Synthesizer: voice,
		Detector:    must(silero.New(silero.Options{Path: os.Args[2]})),
		Said:        func(s session.Spoken) { fmt.Printf("%s: %s\n", s.Role, s.Text) },
	}
	if err := call.RunVirtual(ctx, time.Now()); err != nil {
		log.Fatal(err)
	}
}
