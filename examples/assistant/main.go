// Command assistant is the tool of the agent in assistant.yaml: a service that tells when the
// shop is open. Its argument is where it listens.
//
//	go run ./examples/assistant 127.0.0.1:8099
package main

import (
	"encoding/json"
	"log"
	"net/http"
	"os"
	"strings"
	"time"
)

var hours = map[string]string{"saturday": "from 10 to 2", "sunday": "not at all"}

func main() {
	http.HandleFunc("GET /hours", func(w http.ResponseWriter, r *http.Request) {
		open, ok := hours[strings.ToLower(r.FormValue("day"))]
		if !ok {
			open = "from 9 to 6"
		}
		_ = json.NewEncoder(w).Encode(map[string]string{"hours": open})
	})
	server := http.Server{Addr: os.Args[1], ReadHeaderTimeout: 5 * time.Second}
	log.Fatal(server.ListenAndServe())
}
