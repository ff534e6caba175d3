// Command browsers serves an agent to browsers by voice and by text at
// http://127.0.0.1:8080. Its arguments are the agent and the address.
//
//	go run -tags flite,pocketsphinx ./examples/browsers examples/clinic 127.0.0.1:8080
package main

import (
	"errors"
	"log"
	"net/http"
	"os"
	"time"

	"github.com/hocketvoice/hocket"
	"github.com/hocketvoice/hocket/provider/flite"
	"github.com/hocketvoice/hocket/provider/pocketsphinx"
	"github.com/hocketvoice/hocket/server"
)

func main() {
	agent, err1 := hocket.LoadAgent(os.Args[1])
	ears, err2 := pocketsphinx.New(pocketsphinx.Options{})
	voice, err3 := flite.New(flite.Options{})
	handler, err4 := server.New(server.Options{Agents: []*hocket.Agent{agent}, Recognizer: ears, Synthesizer: voice})
	if err := errors.Join(err1, err2, err3, err4); err != nil {
		log.Fatal(err)
	}
	log.Fatal((&http.Server{Addr: os.Args[2], Handler: handler, ReadHeaderTimeout: 5 * time.Second}).ListenAndServe())
}
