package realtime_test

import (
	"context"
	"encoding/json"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/hocketvoice/hocket/dialog"
	"github.com/hocketvoice/hocket/dialog/agent"
	"github.com/hocketvoice/hocket/leg/realtime"
	"github.com/hocketvoice/hocket/session"
)

// expectNoResponse speaks, and checks that the client receives no response.
func expectNoResponse(t *testing.T, c *client, words string) {
	t.Helper()
	mic := c.microphone(nil)
	mic.say(sound(t, words))
	c.of("input_audio_buffer.committed")
	c.of("conversation.item.input_audio_transcription.completed")
	mic.pass(1000 * ms)
	c.settle()
	for _, e := range c.since(0) {
		if strings.HasPrefix(e.Type, "response.") {
			t.Errorf("%.200s", e.raw)
		}
	}
}

// The agent does not greet in a transcription session.
func TestTranscriptionIsNotGreeted(t *testing.T) {
	t.Parallel()
	r := flowing(t)
	c := r.dial(t, dialOptions{query: "intent=transcription&model=agent"})
	c.of("session.created")
	expectNoResponse(t, c, "transfer money")
}

// The agent does not greet if the client requests a transcription session before
// anything has begun.
func TestUpdateToTranscription(t *testing.T) {
	t.Parallel()
	c := flowing(t).dial(t, dialOptions{query: "model=agent"})
	c.of("session.created")
	if e := c.update(obj{"type": "transcription", "audio": obj{"input": obj{"transcription": obj{"model": "whisper-1"}}}}); e.str("session.type") != "transcription" {
		t.Errorf("%s", e.raw)
	}
	expectNoResponse(t, c, "transfer money")
	c.expectError(obj{"type": "session.update", "session": obj{"type": "realtime"}})
}

// The agent does not greet a client that wants no responses unless it asks for them.
func TestNoGreetingWithoutResponses(t *testing.T) {
	t.Parallel()
	c := flowing(t).dial(t, dialOptions{query: "model=agent"})
	c.of("session.created")
	c.update(obj{"audio": obj{"input": obj{"transcription": obj{"model": "whisper-1"}, "turn_detection": obj{"type": "server_vad", "create_response": false}}}})
	expectNoResponse(t, c, "transfer money")
}

// If an agent has no greeting, the user begins.
func TestAgentWithoutGreeting(t *testing.T) {
	t.Parallel()
	engine(t)
	take(t, 1)
	mute, problems := dialog.Parse([]agent.File{{Name: "agent.yaml", Data: []byte(strings.Replace(flowsAgent, `  greeting: "Hello."`+"\n", "", 1))}})
	if mute == nil {
		t.Fatal(problems)
	}
	r := newRig(t, rigOptions{open: func(_ string, o *session.Options) error {
		o.Conv.Agent = mute
		return nil
	}})
	c := r.dial(t, dialOptions{query: "model=agent"})
	c.of("session.created")
	c.update(obj{"output_modalities": []string{"text"}})
	mic := c.microphone(nil)
	mic.say(sound(t, "transfer money"))
	if done := c.of("response.done"); !strings.Contains(done.str("response.output.0.content.0.text"), "How much") {
		t.Errorf("%s", done.raw)
	}
}

// A client that connects without a model is shown the name of the agent. The first
// model that it names is accepted; another one is refused, while the rest of its update
// takes effect.
func TestModelIsNamedLater(t *testing.T) {
	t.Parallel()
	r := newRig(t, rigOptions{silent: true, change: func(o *realtime.Options) {
		open := o.Open
		o.Open = func(ctx context.Context, from realtime.Caller) (realtime.Parts, error) {
			p, err := open(ctx, from)
			p.Model, p.Means = "house", func(name string) bool { return !slices.Contains([]string{"garden"}, name) }
			return p, err
		}
	}})
	c := r.dial(t, dialOptions{query: "x=y"})
	if e := c.of("session.created"); e.str("session.model") != "house" {
		t.Errorf("%s", e.raw)
	}
	refused := func(model, shown string) {
		t.Helper()
		c.send(obj{"type": "session.update", "event_id": "named", "session": obj{"type": "realtime", "model": model, "instructions": "about the " + model}})
		if e := c.of("session.updated"); e.str("session.model") != shown || e.str("session.instructions") != "about the "+model {
			t.Errorf("%s", e.raw)
		}
		if e := c.of("error"); e.str("error.param") != "session.model" || e.str("error.event_id") != "named" {
			t.Errorf("%s", e.raw)
		}
	}
	refused("garden", "house") // the name of another agent
	if e := c.update(obj{"model": "gpt-realtime"}); e.str("session.model") != "gpt-realtime" {
		t.Errorf("%s", e.raw)
	}
	refused("another", "gpt-realtime")
}

// A field that this server does not support is refused by name, while the rest of the
// update takes effect. If nothing else changes, no update is announced.
func TestUnsupportedFieldIsRefusedAlone(t *testing.T) {
	t.Parallel()
	c := newRig(t, rigOptions{silent: true}).dial(t, dialOptions{})
	c.of("session.created")
	c.send(obj{"type": "session.update", "event_id": "mine", "session": obj{
		"type": "realtime", "temperature": 0.8, "instructions": "be brief", "tools": []any{obj{"type": "mcp", "server_label": "s"}, weatherTool},
	}})
	if e := c.of("session.updated"); e.str("session.instructions") != "be brief" || e.str("session.tools.0.name") != weather {
		t.Errorf("%s", e.raw)
	}
	for _, param := range []string{"session.temperature", "session.tools"} {
		if e := c.of("error"); e.str("error.param") != param || e.str("error.event_id") != "mine" || e.str("error.code") != "unsupported" {
			t.Errorf("expected an error about %s: %s", param, e.raw)
		}
	}
	m := c.mark()
	c.send(obj{"type": "session.update", "session": obj{"type": "realtime", "temperature": 0.8}})
	c.of("error")
	c.settle()
	if n := count(c.since(m), "session.updated"); n != 0 {
		t.Errorf("%v", types(c.since(m)))
	}
	e := c.expectError(obj{"type": "conversation.item.create", "item": obj{"type": "message", "role": "user", "content": []any{
		obj{"type": "input_text", "text": "look"}, obj{"type": "input_image", "image_url": "data:image/png;base64,AA=="},
	}}})
	if e.str("error.param") != "item.content[1].type" || !strings.Contains(e.str("error.message"), "mages are not supported") {
		t.Errorf("%s", e.raw)
	}
	// Over HTTP the whole request is refused.
	r := newRig(t, rigOptions{silent: true, keys: true})
	if status, body := r.post(t, "/v1/realtime/client_secrets", `{"session":{"type":"realtime","instructions":"x","temperature":0.8}}`); status != 400 || (event{m: body}).str("error.param") != "session.temperature" {
		t.Errorf("%d %v", status, body)
	}
}

// Clients can list and retrieve models with their key, as on OpenAI's server.
func TestModels(t *testing.T) {
	t.Parallel()
	r := newRig(t, rigOptions{silent: true, keys: true, change: func(o *realtime.Options) {
		o.Models = func() []string { return []string{"flights", "model"} }
	}})
	get := func(path, k string) (int, event) {
		t.Helper()
		q, err := http.NewRequestWithContext(t.Context(), http.MethodGet, r.http.URL+path, nil)
		if err != nil {
			t.Fatal(err)
		}
		q.Header.Set("Authorization", "Bearer "+k)
		resp, err := http.DefaultClient.Do(q)
		if err != nil {
			t.Fatal(err)
		}
		defer resp.Body.Close()
		e := event{}
		if err := json.NewDecoder(resp.Body).Decode(&e.m); err != nil {
			t.Fatal(err)
		}
		return resp.StatusCode, e
	}
	for _, base := range []string{"", "/openai"} {
		status, list := get(base+"/v1/models", key)
		if status != 200 || list.str("object") != "list" || len(list.get("data").([]any)) != 2 ||
			list.str("data.0.id") != "flights" || list.str("data.0.object") != "model" || list.num("data.0.created") < 1e9 || list.str("data.0.owned_by") == "" || list.str("data.1.id") != "model" {
			t.Errorf("%d %v", status, list.m)
		}
		if status, one := get(base+"/v1/models/model", key); status != 200 || one.str("id") != "model" || one.str("object") != "model" {
			t.Errorf("%d %v", status, one.m)
		}
		if status, no := get(base+"/v1/models/gpt-9", key); status != 404 || no.str("error.code") != "model_not_found" || no.str("error.param") != "model" {
			t.Errorf("%d %v", status, no.m)
		}
		for _, path := range []string{"/v1/models", "/v1/models/model"} {
			if status, no := get(base+path, "wrong"); status != 401 || no.str("error.code") != "invalid_api_key" {
				t.Errorf("a wrong key: %d %v", status, no.m)
			}
		}
	}
}

// A truncation interrupts an answer that is being spoken, since some clients interrupt
// only by truncation. The text after it counts as unheard, in the item and in what the
// model is told.
func TestTruncateStopsTheSpeech(t *testing.T) {
	t.Parallel()
	engine(t)
	take(t, 1)
	r := newRig(t, rigOptions{})
	c := spoken(t, r, "tell me a story")
	c.send(obj{"type": "response.create"})
	id := c.of("conversation.item.added").str("item.id")
	for played := 0; played < 48*3000; { // 3 s
		played += len(c.of("response.output_audio.delta").str("delta")) * 3 / 4
	}
	c.send(obj{"type": "conversation.item.truncate", "item_id": id, "content_index": 0, "audio_end_ms": 2000})
	c.of("conversation.item.truncated")
	m := c.mark()
	if done := c.of("response.done"); done.str("response.status") != "cancelled" || done.str("response.status_details.reason") != "client_cancelled" {
		t.Errorf("%s", done.raw)
	}
	c.settle()
	for _, e := range c.since(m) {
		if e.Type == "response.output_audio.delta" {
			t.Errorf("it is spoken on: %.100s", e.raw)
		}
	}
	// A cancellation after the truncation is accepted once, for clients that send both;
	// a second one is an error.
	m = c.mark()
	c.send(obj{"type": "response.cancel"})
	c.settle()
	if list := types(c.since(m)); count(c.since(m), "error") != 1 { // the error caused by settle
		t.Errorf("a cancellation behind the truncation: %v", list)
	}
	c.expectError(obj{"type": "response.cancel"})
	c.send(obj{"type": "conversation.item.retrieve", "item_id": id})
	text := c.of("conversation.item.retrieved").str("item.content.0.transcript")
	if !strings.HasPrefix(longAnswer, text) || len(text) < 5 || len(text) > 60 {
		t.Errorf("what was heard in 2 s: %q", text)
	}
	c.update(obj{"output_modalities": []string{"text"}})
	c.user("hello")
	c.respond(nil)
	asked := r.llm.Requests()
	if last := asked[len(asked)-1].Messages; len(last) != 3 || last[1].Text() != text {
		t.Errorf("the model was asked %+v", last)
	}
}

// A client's time zone is a parameter of the address, for sockets and for calls. A name
// that is unknown is refused.
func TestTimeZoneOfAClient(t *testing.T) {
	t.Parallel()
	zones := make(chan *time.Location, 1)
	r := newRig(t, rigOptions{silent: true, change: func(o *realtime.Options) {
		open := o.Open
		o.Open = func(ctx context.Context, from realtime.Caller) (realtime.Parts, error) {
			zones <- from.Location
			return open(ctx, from)
		}
		o.Answer = func(context.Context, string) (realtime.Call, string, error) { return nil, "", realtime.ErrBusy }
	}})
	for query, want := range map[string]string{
		"model=test": "", "model=test&timezone=Europe%2FBerlin": "Europe/Berlin", "timezone=%2B05:30": "+05:30",
	} {
		r.dial(t, dialOptions{query: query}).of("session.created")
		if got := <-zones; (got == nil) != (want == "") || got != nil && got.String() != want {
			t.Errorf("%s: %v, expected %q", query, got, want)
		}
	}
	for _, name := range []string{"", "Local", "Berlin", "..%2Fpasswd", strings.Repeat("a", 300)} {
		bad := r.dial(t, dialOptions{query: "model=test&timezone=" + name}).of("error")
		if bad.str("error.code") != "invalid_value" || bad.str("error.param") != "timezone" || len(bad.str("error.message")) > 250 {
			t.Errorf("%s: %s", name, bad.raw)
		}
		resp, err := http.Post(r.http.URL+"/v1/realtime/calls?timezone="+name, "application/sdp", strings.NewReader("v=0"))
		if err != nil {
			t.Fatal(err)
		}
		_ = resp.Body.Close()
		if resp.StatusCode != http.StatusBadRequest {
			t.Errorf("a call with %s: status %d", name, resp.StatusCode)
		}
	}
}
