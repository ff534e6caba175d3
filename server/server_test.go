package server_test

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"

	"github.com/hocketvoice/hocket"
	"github.com/hocketvoice/hocket/internal/bench"
	"github.com/hocketvoice/hocket/porttest"
	"github.com/hocketvoice/hocket/server"
	"github.com/hocketvoice/hocket/server/api"
)

func agent(t *testing.T) *hocket.Agent {
	t.Helper()
	a, err := hocket.ParseAgent(hocket.File{Name: "front-desk.yaml", Data: []byte(`
settings: {greeting: Good day.}
flows: {hi: {trigger: {intents: [thank you]}, steps: [{step: a, type: say, message: You are welcome.}]}}
`)})
	if err != nil {
		t.Fatal(err)
	}
	return a
}

// serve runs a server with the options until the test ends.
func serve(t *testing.T, o server.Options) (url string) {
	t.Helper()
	s, err := server.New(o)
	if err != nil {
		t.Fatal(err)
	}
	web := httptest.NewServer(s)
	t.Cleanup(func() {
		over, cancel := context.WithCancel(context.Background())
		cancel() // what runs has no time left
		if err := s.Shutdown(over); err != nil {
			t.Error(err)
		}
		web.Close()
	})
	return web.URL
}

// ask sends a request, and reads what it gives.
func ask(t *testing.T, method, url, body string, into any) (status int) {
	t.Helper()
	q, err := http.NewRequestWithContext(t.Context(), method, url, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	r, err := http.DefaultClient.Do(q)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Body.Close()
	b, err := io.ReadAll(r.Body)
	if err != nil {
		t.Fatal(err)
	}
	if into != nil {
		if err := json.Unmarshal(b, into); err != nil {
			t.Fatalf("%s %s: %s", method, url, b)
		}
	}
	return r.StatusCode
}

// hears follows a conversation until the agent has said the text.
func hears(t *testing.T, url, text string) {
	t.Helper()
	q, err := http.NewRequestWithContext(t.Context(), http.MethodGet, url+"/events?from=1", http.NoBody)
	if err != nil {
		t.Fatal(err)
	}
	r, err := http.DefaultClient.Do(q)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Body.Close()
	for lines := bufio.NewScanner(r.Body); lines.Scan(); {
		if strings.Contains(lines.Text(), `"`+text+`"`) {
			return
		}
	}
	t.Fatalf("the agent never said %q", text)
}

// TestByText checks that a browser can load the panel, find the agent, and type.
func TestByText(t *testing.T) {
	url := serve(t, server.Options{Agents: []*hocket.Agent{agent(t)}})
	if status := ask(t, http.MethodGet, url+"/", "", nil); status != http.StatusOK {
		t.Errorf("the panel: status %d", status)
	}
	var list api.AgentList
	ask(t, http.MethodGet, url+"/v1/agents", "", &list)
	if len(list.Agents) != 1 || list.Agents[0] != (api.Agent{Name: "front-desk", Title: "Front desk", Language: "en"}) {
		t.Errorf("agents: %+v", list)
	}
	var made api.Created
	if status := ask(t, http.MethodPost, url+"/v1/conversations", `{"transport":"text"}`, &made); status != http.StatusCreated {
		t.Fatalf("status %d", status)
	}
	at := url + "/v1/conversations/" + made.ID
	hears(t, at, "Good day.")
	if status := ask(t, http.MethodPost, at+"/commands", `{"type":"send_text","text":"thank you"}`, nil); status != http.StatusAccepted {
		t.Fatalf("status %d", status)
	}
	hears(t, at, "You are welcome.")
}

// TestByVoice checks that a browser that calls over WebRTC hears the agent.
func TestByVoice(t *testing.T) {
	url := serve(t, server.Options{
		Agents: []*hocket.Agent{agent(t)}, Recognizer: &porttest.Recognizer{}, Synthesizer: &porttest.Synthesizer{},
	})
	sound := make(chan struct{})
	var once sync.Once
	b, err := bench.NewBrowser(bench.BrowserOptions{Source: func() []byte { return nil }, Sink: func([]byte) { once.Do(func() { close(sound) }) }})
	if err != nil {
		t.Fatal(err)
	}
	defer b.Close()
	offer, err := b.Offer(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	var made api.Created
	if status := ask(t, http.MethodPost, url+"/v1/conversations", fmt.Sprintf(`{"transport":"webrtc","sdp":%q}`, offer), &made); status != http.StatusCreated {
		t.Fatalf("status %d", status)
	}
	if err := b.Answer(t.Context(), made.SDP); err != nil {
		t.Fatal(err)
	}
	<-sound
}

// TestRefused checks that New reports invalid options.
func TestRefused(t *testing.T) {
	lacks, err := hocket.ParseAgent(hocket.File{Name: "a.yaml", Data: []byte("actions: {book: {}}\nflows: {f: {steps: [{step: a, type: action, call: book}]}}\n")})
	if err != nil {
		t.Fatal(err)
	}
	for want, o := range map[string]server.Options{
		"server: Agents must not be empty":                         {},
		"server: Agents[0] must have a name":                       {Agents: []*hocket.Agent{{}}},
		`server: two agents have the name "front-desk"`:            {Agents: []*hocket.Agent{agent(t), agent(t)}},
		"action book: expected a tool of this name":                {Agents: []*hocket.Agent{lacks}},
		"server: MaxConversations and Resume must not be negative": {Agents: []*hocket.Agent{agent(t)}, Resume: -1},
		"server: open the UDP port of the calls: ":                 {Agents: []*hocket.Agent{agent(t)}, Addr: "nowhere"},
	} {
		if _, err := server.New(o); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, expected %q", err, want)
		}
	}
}
