package realtime_test

import (
	"context"
	"encoding/base64"
	"errors"
	"net"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/coder/websocket"

	"github.com/hocketvoice/hocket/audio"
	"github.com/hocketvoice/hocket/dialog"
	"github.com/hocketvoice/hocket/dialog/agent"
	"github.com/hocketvoice/hocket/leg/realtime"
	"github.com/hocketvoice/hocket/porttest"
	"github.com/hocketvoice/hocket/server/tokens"
	"github.com/hocketvoice/hocket/session"
)

// A connection is closed after its maximum duration, with a code that lets the client
// return.
func TestExpiry(t *testing.T) {
	t.Parallel()
	r := newRig(t, rigOptions{silent: true, change: func(o *realtime.Options) { o.Lifetime = 300 * ms }})
	c := r.dial(t, dialOptions{})
	if e := c.of("error"); e.str("error.code") != "session_expired" || !strings.Contains(e.str("error.message"), "maximum duration") {
		t.Errorf("%s", e.raw)
	}
	if code := c.ended(); code != websocket.StatusGoingAway {
		t.Errorf("close code %d", code)
	}
}

// A server that is closed asks its clients to return.
func TestRestart(t *testing.T) {
	t.Parallel()
	r := newRig(t, rigOptions{silent: true})
	c := r.dial(t, dialOptions{})
	c.of("session.created")
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	if err := r.srv.Close(ctx); err != nil {
		t.Error(err)
	}
	if code := c.ended(); code != websocket.StatusServiceRestart {
		t.Errorf("close code %d", code)
	}
}

// The connection of a client that never reads is closed, and does not fill the server's
// memory.
func TestClientThatNeverReads(t *testing.T) {
	t.Parallel()
	take(t, 2)
	r := newRig(t, rigOptions{silent: true, change: func(o *realtime.Options) { o.WriteTimeout = 500 * ms }})
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	small := &http.Client{Transport: &http.Transport{DialContext: func(ctx context.Context, network, addr string) (net.Conn, error) {
		conn, err := (&net.Dialer{}).DialContext(ctx, network, addr)
		if tcp, ok := conn.(*net.TCPConn); ok {
			err = errors.Join(err, tcp.SetReadBuffer(4096))
		}
		return conn, err
	}}}
	ws, resp, err := websocket.Dial(ctx, "ws"+strings.TrimPrefix(r.http.URL, "http")+"/v1/realtime?model=m", &websocket.DialOptions{HTTPClient: small})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = ws.CloseNow() }()
	if resp.Body != nil {
		_ = resp.Body.Close()
	}
	ask := []byte(`{"type":"session.update","session":{"type":"realtime","instructions":"` + strings.Repeat("x", 100_000) + `"}}`)
	for n := 0; ; n++ {
		if err := ws.Write(ctx, websocket.MessageText, ask); err != nil {
			if ctx.Err() != nil {
				t.Fatalf("the connection is still there after %d events", n)
			}
			return
		}
	}
}

// A client that sends many invalid events receives an error for each, and stays
// connected.
func TestFlood(t *testing.T) {
	t.Parallel()
	take(t, 2)
	r := newRig(t, rigOptions{silent: true})
	c := r.dial(t, dialOptions{})
	for range 2000 {
		c.raw(`{"type":"response.cancel"}`)
		c.raw(`nonsense`)
	}
	for range 4000 {
		c.of("error")
	}
	c.update(obj{"instructions": "alive"})
}

// The connection of a client that does not stop is closed.
func TestEndlessFlood(t *testing.T) {
	t.Parallel()
	take(t, 4)
	r := newRig(t, rigOptions{silent: true})
	c := r.dial(t, dialOptions{})
	for c.ws.Write(t.Context(), websocket.MessageText, []byte(`{"type":"response.cancel"}`)) == nil {
	}
	if code := c.ended(); code != websocket.StatusPolicyViolation {
		t.Errorf("close code %d", code)
	}
	c.wait("what is wrong", func(e event) bool { return e.str("error.code") == "rate_limit_exceeded" })
}

// An append may contain 15 MiB of sound. A larger event ends the connection.
func TestAppendLimit(t *testing.T) {
	t.Parallel()
	take(t, 2)
	r := newRig(t, rigOptions{silent: true})
	c := r.dial(t, dialOptions{})
	c.update(obj{"audio": obj{"input": obj{"turn_detection": nil}}})
	most := base64.StdEncoding.EncodeToString(make([]byte, 15<<20))
	c.write(`{"type":"input_audio_buffer.append","audio":"` + most + `"}`)
	c.send(obj{"type": "input_audio_buffer.clear"}) // the sound need not be heard
	c.of("input_audio_buffer.cleared")
	c.write(`{"type":"input_audio_buffer.append","event_id":"beyond","audio":"` + most + `AAAAAAAA"}`)
	c.wait("an error about it", func(e event) bool { return e.Type == "error" && e.str("error.event_id") == "beyond" })
	_ = c.ws.Write(t.Context(), websocket.MessageText, []byte(`{"type":"input_audio_buffer.append","audio":"`+most+strings.Repeat("A", 1<<20)+`"}`)) // the connection may end before everything is written
	if code := c.ended(); code != websocket.StatusMessageTooBig {
		t.Errorf("close code %d", code)
	}
}

// Responses beyond the limits in rate_limits.updated are refused.
func TestRateLimit(t *testing.T) {
	t.Parallel()
	r := newRig(t, rigOptions{silent: true, change: func(o *realtime.Options) { o.Responses = 1 }})
	c := texting(t, r, "hello")
	if e := find(t, c.respond(nil), "response.done"); e.str("response.status") != "completed" {
		t.Errorf("%s", e.raw)
	}
	c.user("again")
	if e := find(t, c.respond(nil), "response.done"); e.str("response.status") != "failed" || e.str("response.status_details.error.code") != "rate_limit_exceeded" {
		t.Errorf("%s", e.raw)
	}
}

// An unknown model is reported with the first response, as by OpenAI's server, and the
// client stays connected. The same holds if the model fails.
func TestFailures(t *testing.T) {
	t.Parallel()
	unknown := newRig(t, rigOptions{silent: true, open: func(string, *session.Options) error { return realtime.ErrUnknownModel }})
	c := texting(t, unknown, "hello")
	for range 4 {
		e := find(t, c.respond(nil), "response.done")
		if e.str("response.status") != "failed" || e.str("response.status_details.error.code") != "model_not_found" {
			t.Errorf("%s", e.raw)
		}
	}
	failing := newRig(t, rigOptions{silent: true})
	c = texting(t, failing, "please fail")
	for range 4 {
		if e := find(t, c.respond(nil), "response.done"); e.str("response.status") != "failed" || e.str("response.status_details.error.message") == "" {
			t.Errorf("%s", e.raw)
		}
	}
	again := obj{"input": []any{message("user", "input_text", "hello")}}
	if e := find(t, c.respond(again), "response.done"); e.str("response.status") != "completed" {
		t.Errorf("%s", e.raw)
	}
}

// G.711 A-law works like mu-law.
func TestALaw(t *testing.T) {
	t.Parallel()
	engine(t)
	take(t, 1)
	g711(t, newRig(t, rigOptions{}), "audio/pcma", audio.ALaw)
}

// flowing returns a rig whose agent has flows and greets.
func flowing(t *testing.T) *rig {
	t.Helper()
	engine(t)
	take(t, 1)
	agent, problems := dialog.Parse([]agent.File{{Name: "agent.yaml", Data: []byte(flowsAgent)}})
	if agent == nil {
		t.Fatal(problems)
	}
	return newRig(t, rigOptions{open: func(name string, o *session.Options) error {
		o.Conv.Agent = agent
		return nil
	}})
}

// A model can be the name of an agent. Its flows answer text and speech, and it greets
// a client that asks for a response and has said nothing.
func TestAgentOfFlows(t *testing.T) {
	t.Parallel()
	r := flowing(t)
	c := r.dial(t, dialOptions{query: "model=agent"})
	c.textOnly()
	done := find(t, c.respond(nil), "response.done")
	if got := done.str("response.output.0.content.0.text"); got != "Hello." || done.str("response.status") != "completed" {
		t.Errorf("greeting: %s", done.raw)
	}
	c.user("transfer money")
	done = find(t, c.respond(nil), "response.done")
	if got := done.str("response.output.0.content.0.text"); !strings.Contains(got, "How much") {
		t.Errorf("%s", done.raw)
	}
	c.user("twenty")
	done = find(t, c.respond(nil), "response.done")
	if got := done.str("response.output.0.content.0.text"); !strings.Contains(got, "20") {
		t.Errorf("%s", done.raw)
	}
	if n := len(r.llm.Requests()); n != 0 {
		t.Errorf("the language model was asked %d times", n)
	}
}

// A client of flows that asks for a response without saying anything new hears what the agent
// said last, with its question still open: OpenAI's server answers from what was said, too.
func TestFlowsSayAgain(t *testing.T) {
	t.Parallel()
	agent, problems := dialog.Parse([]agent.File{{Name: "agent.yaml", Data: []byte(flowsAgent)}})
	if agent == nil {
		t.Fatal(problems)
	}
	r := newRig(t, rigOptions{silent: true, open: func(_ string, o *session.Options) error {
		o.Conv.Agent, o.Model = agent, nil
		return nil
	}})
	c := r.dial(t, dialOptions{query: "model=agent"})
	c.textOnly()
	c.user("transfer money")
	said := func() string {
		t.Helper()
		done := find(t, c.respond(nil), "response.done")
		if done.str("response.status") != "completed" {
			t.Errorf("%s", done.raw)
		}
		return done.str("response.output.0.content.0.text")
	}
	asked := said()
	for range 2 {
		if got := said(); got != asked || !strings.Contains(got, "How much") {
			t.Errorf("the agent says %q, then %q", asked, got)
		}
	}
	c.user("twenty")
	if got := said(); !strings.Contains(got, "I send 20.") {
		t.Errorf("the agent says %q", got)
	}
}

// A client that sends a message before anything else is not greeted: the first response
// answers it.
func TestWordsFirst(t *testing.T) {
	t.Parallel()
	c := flowing(t).dial(t, dialOptions{query: "model=agent"})
	c.of("session.created")
	c.user("transfer money")
	c.send(obj{"type": "response.create", "response": obj{"output_modalities": []string{"text"}}})
	done := c.of("response.done")
	if got := done.str("response.output.0.content.0.text"); !strings.Contains(got, "How much") {
		t.Errorf("%s", done.raw)
	}
	for _, e := range c.since(0) {
		if e.Type == "error" || e.Type == "response.created" && e.str("response.id") != done.str("response.id") {
			t.Errorf("%s", e.raw)
		}
	}
}

// A client that sends sound is greeted. What it says interrupts the greeting. A
// response.create without a message is answered by the greeting.
func TestWordsIntoGreeting(t *testing.T) {
	t.Parallel()
	engine(t)
	c := flowing(t).dial(t, dialOptions{query: "model=agent"})
	c.of("session.created")
	c.send(obj{"type": "input_audio_buffer.append", "audio": base64.StdEncoding.EncodeToString(make([]byte, 4800))})
	greeting := c.of("response.created")
	c.send(obj{"type": "response.create"}) // while the greeting is spoken
	c.user("transfer money")
	c.send(obj{"type": "response.create", "response": obj{"output_modalities": []string{"text"}}})
	if e := c.of("response.done"); e.str("response.id") != greeting.str("response.id") {
		t.Errorf("%s", e.raw)
	}
	done := c.of("response.done")
	if got := done.str("response.output.0.content.0.text"); !strings.Contains(got, "How much") {
		t.Errorf("%s", done.raw)
	}
	for _, e := range c.since(0) {
		if e.Type == "error" {
			t.Errorf("%s", e.raw)
		}
	}
}

// The conversation of a client that leaves before anything has begun ends at once.
func TestNothingBegan(t *testing.T) {
	t.Parallel()
	r := flowing(t)
	c := r.dial(t, dialOptions{query: "model=agent"})
	c.of("session.created")
	began := time.Now()
	c.vanish()
	for r.srv.Conversations() > 0 {
		if time.Since(began) > patience {
			t.Fatal("its conversation does not end")
		}
		<-time.After(5 * ms)
	}
}

// Clients that leave at any time leave no goroutines behind. TestMain checks this.
func TestClientsThatGo(t *testing.T) {
	t.Parallel()
	r := newRig(t, rigOptions{silent: true})
	for _, line := range []string{"talk slowly", "tell me a story", "hello"} {
		c := texting(t, r, line)
		c.send(obj{"type": "response.create"})
		c.send(obj{"type": "response.create", "response": obj{"conversation": "none"}})
		c.of("response.created")
		c.close()
	}
}

const flowsAgent = `
version: "1.0"
settings:
  language: en
  greeting: "Hello."
slots:
  amount:
    type: number
    prompt: "How much?"
flows:
  transfer:
    description: transfer money
    trigger:
      intents: ["transfer money", "send money"]
    steps:
      - {step: ask, type: collect, slot: amount}
      - {step: tell, type: say, message: "I send {amount}."}
  talk:
    description: talk without end
    trigger:
      intents: ["talk without end"]
    steps:
      - {step: run, type: action, call: talk_without_end}
`

// A request with a wrong method is told the right ones.
func TestMethods(t *testing.T) {
	t.Parallel()
	r := newRig(t, rigOptions{silent: true})
	for path, allow := range map[string]string{"/v1/realtime": "GET, HEAD", "/openai/v1/realtime/client_secrets": "POST", "/v1/realtime/nothing": ""} {
		q, err := http.NewRequestWithContext(t.Context(), http.MethodDelete, r.http.URL+path, nil)
		if err != nil {
			t.Fatal(err)
		}
		w, err := http.DefaultClient.Do(q)
		if err != nil {
			t.Fatal(err)
		}
		_ = w.Body.Close()
		want := http.StatusMethodNotAllowed
		if allow == "" {
			want = http.StatusNotFound
		}
		if w.StatusCode != want || w.Header.Get("Allow") != allow || w.Header.Get("Content-Type") != "application/json" {
			t.Errorf("%s: %d %v", path, w.StatusCode, w.Header)
		}
	}
}

// A client secret is valid on every server that shares the store of secrets, with its
// configuration. If the store fails, the client is asked to try again.
func TestClientSecretAnywhere(t *testing.T) {
	t.Parallel()
	store, away := &porttest.Store{}, new(atomic.Bool)
	node := func() *rig {
		return newRig(t, rigOptions{silent: true, keys: true, change: func(o *realtime.Options) {
			o.Secrets = tokens.NewShared(tokens.SharedOptions{
				Store: store, Kind: "client_secret", Most: 1, Limit: time.Second, Away: away.Load,
			})
		}})
	}
	one, two := node(), node()
	status, m := one.post(t, "/v1/realtime/client_secrets", `{"session":{"type":"realtime","model":"m","instructions":"Hm."}}`)
	if status != http.StatusOK {
		t.Fatalf("%d %v", status, m)
	}
	if status, m := one.post(t, "/v1/realtime/client_secrets", ""); status != http.StatusTooManyRequests {
		t.Errorf("one too many: %d %v", status, m)
	}
	secret, _ := m["value"].(string)
	with := dialOptions{header: http.Header{"Authorization": {"Bearer " + secret}}}
	for _, r := range []*rig{one, two, two} { // a secret can be used several times
		if e := r.dial(t, with).of("session.created"); e.str("session.instructions") != "Hm." {
			t.Errorf("%s", e.raw)
		}
	}
	away.Store(true)
	c := two.dial(t, with)
	if e := c.of("error"); e.str("error.code") != "try_again" {
		t.Errorf("%s", e.raw)
	}
	if code := c.ended(); code != 1013 {
		t.Errorf("close code %d", code)
	}
}
