package app

import (
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/hocketvoice/hocket/server/api"
)

// TestChangedAgent checks that a developer's instructions and voice apply to one
// conversation, and that the agent keeps its own.
func TestChangedAgent(t *testing.T) {
	dir := t.TempDir()
	agent := filepath.Join(dir, "shop.yaml")
	if err := os.WriteFile(agent, []byte("instructions: Be kind.\nmodel: {name: m, base_url: \"http://127.0.0.1:9\"}\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	s, err := NewServer(ServeOptions{Agents: []string{agent}, Addr: "127.0.0.1:0", Store: NoStore})
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := s.closeAll(); err != nil {
			t.Error(err)
		}
	}()
	a := s.roster.list()[0]
	short := "Be short."
	b, err := a.with(api.Changes{Instructions: &short, Voice: "rms"})
	if err != nil {
		t.Fatal(err)
	}
	for _, transport := range []string{"webrtc", "text"} {
		o := b.session(transport)
		if o.Instructions != short || transport == "webrtc" && o.Voice != "rms" {
			t.Errorf("%s: the conversation has %q, %q", transport, o.Instructions, o.Voice)
		}
	}
	if o := a.session("webrtc"); o.Instructions != "Be kind." || o.Voice != "" {
		t.Errorf("the agent has %q, %q", o.Instructions, o.Voice)
	}
	if _, err := a.with(api.Changes{Voice: "none"}); err == nil || !strings.Contains(err.Error(), "expected one of slt") {
		t.Errorf("an unknown voice: %v", err)
	}
	flows, err := EmbeddedAgent("flights")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := (&served{agent: flows}).with(api.Changes{Instructions: &short}); err == nil || !strings.Contains(err.Error(), "no model") {
		t.Errorf("instructions without a model: %v", err)
	}
}

// TestDevelopers checks that keys whose names the config lists may change an agent; without
// keys, clients on this machine may.
func TestDevelopers(t *testing.T) {
	const change = `{"transport":"text","changes":{"voice":"rms"}}`
	local := serve(t, "server: {drain: off}")
	var list api.AgentList
	if local.do("GET", "/v1/agents", "", &list); list.Agents[0].Settings == nil {
		t.Error("without keys a client on this machine is not a developer")
	}
	if status := local.do("POST", "/v1/conversations", change, nil); status != http.StatusCreated {
		t.Errorf("without keys: status %d", status)
	}
	t.Setenv(DefaultKeysEnv, "office 0123456789abcdef-one, phone 0123456789abcdef-two")
	r := serve(t, "server: {drain: off, developers: [office]}")
	for key, want := range map[string]int{"0123456789abcdef-one": http.StatusCreated, "0123456789abcdef-two": http.StatusForbidden} {
		r.key = key
		if status := r.do("POST", "/v1/conversations", change, nil); status != want {
			t.Errorf("%s: status %d, expected %d", key, status, want)
		}
		list = api.AgentList{}
		if r.do("GET", "/v1/agents", "", &list); (list.Agents[0].Settings != nil) != (want == http.StatusCreated) {
			t.Errorf("%s: settings %+v", key, list.Agents[0].Settings)
		}
	}
	// A client token made with a developer's key is not a developer's.
	r.key = "0123456789abcdef-one"
	var token api.ClientToken
	r.do("POST", "/v1/client_tokens", "", &token)
	r.key = token.Token
	if status := r.do("POST", "/v1/conversations", change, nil); status != http.StatusForbidden {
		t.Errorf("with a client token: status %d", status)
	}
}

// TestChangesAreStored checks that a conversation keeps a developer's changes of its agent in
// another process, as it keeps the agent's version.
func TestChangesAreStored(t *testing.T) {
	asked := make(chan string, 100)
	model := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		b, err := io.ReadAll(r.Body)
		if err != nil {
			t.Error(err)
		}
		if r.Method == http.MethodPost {
			asked <- string(b)
		}
		w.Header().Set("Content-Type", "text/event-stream")
		_, _ = io.WriteString(w, "data: {\"choices\":[{\"delta\":{\"content\":\"Yes.\"},\"finish_reason\":\"stop\"}]}\n\ndata: [DONE]\n\n")
	}))
	defer model.Close()
	dir := t.TempDir()
	agent := filepath.Join(dir, "shop.yaml")
	if err := os.WriteFile(agent, []byte("instructions: Be kind.\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	config := filepath.Join(dir, "hocket.yaml")
	if err := os.WriteFile(config, []byte("server: {drain: 1s}\nstore: {path: "+filepath.Join(dir, "store.db")+"}\nmodel: {name: m, base_url: \""+model.URL+"/v1\"}\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	var made createdAnswer
	for _, body := range []string{`{"transport":"text","changes":{"instructions":"Be short."}}`, ""} {
		r := serveWith(t, ServeOptions{Agents: []string{agent}, Config: config})
		if body == "" {
			body = `{"resume":"` + made.ResumeToken + `"}`
		}
		if status := r.do("POST", "/v1/conversations", body, &made); status != http.StatusCreated {
			t.Fatalf("%s: status %d", body, status)
		}
		r.do("POST", "/v1/conversations/"+made.ID+"/commands", `{"type":"send_text","text":"are you open"}`, nil)
		r.eventually("a question to the model", func() bool {
			select {
			case q := <-asked:
				if !strings.Contains(q, "are you open") {
					return false // it is a probe
				}
				if !strings.Contains(q, "Be short.") || strings.Contains(q, "Be kind.") {
					t.Errorf("the model is asked %s", q)
				}
				return true
			default:
				return false
			}
		})
		r.eventually("the end of the answer", func() bool { return r.phase(made.ID) == "listening.ready" })
		if err := r.end(); err != nil {
			t.Error(err)
		}
	}
}
