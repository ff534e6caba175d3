package server_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/hocketvoice/hocket"
	"github.com/hocketvoice/hocket/internal/bench"
	"github.com/hocketvoice/hocket/leg/webrtc"
	"github.com/hocketvoice/hocket/porttest"
	"github.com/hocketvoice/hocket/server"
	"github.com/hocketvoice/hocket/server/api"
)

// TestICEServers checks that each answer to an offer has credentials for its client, that
// none is given without an offer, and that the shared secret is in no answer.
func TestICEServers(t *testing.T) {
	const secret = "north-0123456789"
	url := serve(t, server.Options{
		Agents: []*hocket.Agent{agent(t)}, Recognizer: &porttest.Recognizer{}, Synthesizer: &porttest.Synthesizer{},
		ICEServices: []webrtc.ICEService{{URLs: []string{"stun:stun.example"}}, {URLs: []string{"turn:turn.example"}, Secret: secret}},
	})
	b, err := bench.NewBrowser(bench.BrowserOptions{Source: func() []byte { return nil }})
	if err != nil {
		t.Fatal(err)
	}
	defer b.Close()
	offer, err := b.Offer(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	var first, second api.Created
	var again api.Answered
	body := fmt.Sprintf(`{"transport":"webrtc","sdp":%q}`, offer)
	ask(t, http.MethodPost, url+"/v1/conversations", body, &first)
	ask(t, http.MethodPost, url+"/v1/conversations", body, &second)
	ask(t, http.MethodPost, url+"/v1/conversations/"+first.ID+"/sdp", fmt.Sprintf(`{"sdp":%q}`, offer), &again)
	for _, list := range [][]webrtc.ICEServer{first.ICEServers, second.ICEServers, again.ICEServers} {
		if len(list) != 2 || list[0].Username != "" || list[1].URLs[0] != "turn:turn.example" || list[1].Credential == "" || !strings.Contains(list[1].Username, ":") {
			t.Errorf("the servers are %+v", list)
			continue
		}
		if text, err := json.Marshal(list); err != nil || strings.Contains(string(text), secret) || strings.Contains(string(text), first.ID) {
			t.Errorf("an answer has the secret or the id: %s, %v", text, err)
		}
	}
	if len(first.ICEServers) == 2 && len(second.ICEServers) == 2 && first.ICEServers[1].Username == second.ICEServers[1].Username {
		t.Error("two clients have the same credentials")
	}
	var typed api.Created
	if ask(t, http.MethodPost, url+"/v1/conversations", `{"transport":"text"}`, &typed); typed.ICEServers != nil {
		t.Errorf("a conversation by text has %+v", typed.ICEServers)
	}
}

func TestICEServersRefused(t *testing.T) {
	_, err := server.New(server.Options{Agents: []*hocket.Agent{agent(t)}, ICEServices: []webrtc.ICEService{{URLs: []string{"http://a"}}}})
	if err == nil || !strings.Contains(err.Error(), "ICEServices[0]") {
		t.Errorf("got %v", err)
	}
}
