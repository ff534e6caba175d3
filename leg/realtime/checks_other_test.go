package realtime_test

import (
	"encoding/json"
	"io"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"
)

var weatherTool = obj{
	"type": "function", "name": weather, "description": "The weather of a city.",
	"parameters": obj{"type": "object", "properties": obj{"city": obj{"type": "string"}}, "required": []string{"city"}},
}

// calling asks for the weather with a tool and returns the response's events.
func calling(t testing.TB, r *rig) (*client, []event) {
	t.Helper()
	c := r.dial(t, dialOptions{})
	c.textOnly()
	c.update(obj{"tools": []any{weatherTool}, "tool_choice": "required"})
	c.user("What is it like outside?")
	list := c.respond(nil)
	return c, list
}

var betaHeader = http.Header{"OpenAI-Beta": {"realtime=v1"}}

// post sends a request to a REST endpoint.
func (r *rig) post(t testing.TB, path, body string) (int, map[string]any) {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, r.http.URL+path, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Authorization", "Bearer "+key)
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	b, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	var m map[string]any
	if err := json.Unmarshal(b, &m); err != nil {
		t.Fatalf("%s: %v: %s", path, err, b)
	}
	return resp.StatusCode, m
}

// otherChecks are C63, C64 and C66 to C71.
var otherChecks = []check{
	{id: "C63", what: "a function call: added, arguments.delta* = arguments.done, done, in the output", test: func(t testing.TB, r *rig) {
		_, list := calling(t, r)
		added := find(t, list, "response.output_item.added")
		id, item := added.str("item.call_id"), added.str("item.id")
		if added.str("item.type") != "function_call" || added.str("item.name") != weather || id == "" || added.str("item.status") != "in_progress" || added.str("item.arguments") != "" {
			t.Errorf("%s", added.raw)
		}
		done := find(t, list, "response.function_call_arguments.done")
		if args := concat(list, "response.function_call_arguments.delta"); args != done.str("arguments") || args != `{"city":"Paris"}` {
			t.Errorf("%q, %s", args, done.raw)
		}
		if done.str("call_id") != id || done.str("name") != weather || done.str("item_id") != item {
			t.Errorf("%s", done.raw)
		}
		if e := find(t, list, "response.output_item.done"); e.str("item.status") != "completed" || e.str("item.arguments") != `{"city":"Paris"}` {
			t.Errorf("%s", e.raw)
		}
		if e := find(t, list, "response.done"); e.str("response.status") != "completed" || e.str("response.output.0.call_id") != id {
			t.Errorf("%s", e.raw)
		}
		asked := r.llm.Requests()
		if last := lastOf(t, asked); len(last.Tools) != 1 || string(last.ToolChoice) != `"required"` {
			t.Errorf("the model was asked with %v, %s", last.Tools, last.ToolChoice)
		}
	}},
	{id: "C64", what: "function_call_output starts no response; response.create then gives a message", test: func(t testing.TB, r *rig) {
		c, list := calling(t, r)
		id := find(t, list, "response.output_item.added").str("item.call_id")
		m := c.mark()
		c.send(obj{"type": "conversation.item.create", "item": obj{"type": "function_call_output", "call_id": id, "output": "17 degrees"}})
		c.of("conversation.item.done")
		c.settle()
		done := find(t, c.respond(nil), "response.done")
		if n := count(c.since(m), "response.created"); n != 1 {
			t.Errorf("%d responses began, one was asked for", n)
		}
		if done.str("response.output.0.type") != "message" || done.str("response.output.0.content.0.text") != "The tool says: 17 degrees." {
			t.Errorf("%s", done.raw)
		}
	}},
	{id: "C66", what: "OpenAI-Beta: realtime=v1 selects the beta dialect: a flat session", test: func(t testing.TB, r *rig) {
		s, _ := r.dial(t, dialOptions{header: betaHeader}).of("session.created").get("session").(map[string]any)
		for _, name := range []string{"modalities", "input_audio_format", "output_audio_format", "turn_detection", "voice", "max_response_output_tokens", "instructions", "tools"} {
			if _, ok := s[name]; !ok {
				t.Errorf("no %s in %v", name, s)
			}
		}
		if s["input_audio_format"] != "pcm16" || s["type"] != nil || s["audio"] != nil {
			t.Errorf("%v", s)
		}
	}},
	{id: "C67", what: "beta: session.update without a type; items are announced as conversation.item.created", test: func(t testing.TB, r *rig) {
		c := r.dial(t, dialOptions{header: betaHeader})
		c.send(obj{"type": "session.update", "session": obj{"instructions": "Be brief.", "turn_detection": nil, "temperature": 0.7, "input_audio_format": "g711_ulaw", "modalities": []string{"text"}}})
		e := c.of("session.updated")
		if e.str("session.instructions") != "Be brief." || e.get("session.turn_detection") != nil || e.str("session.input_audio_format") != "g711_ulaw" {
			t.Errorf("%s", e.raw)
		}
		m := c.mark()
		c.send(obj{"type": "conversation.item.create", "item": message("user", "input_text", "hello")})
		c.of("conversation.item.created")
		c.send(obj{"type": "conversation.item.create", "item": message("assistant", "text", "hi")})
		if e := c.of("conversation.item.created"); e.str("item.content.0.type") != "text" {
			t.Errorf("%s", e.raw)
		}
		c.settle()
		if got := types(c.since(m)); !slices.Equal(got, []string{"conversation.item.created", "error"}) {
			t.Errorf("came %v", got)
		}
	}},
	{id: "C68", what: "beta: response events have their old names and no new ones", speech: true, test: func(t testing.TB, r *rig) {
		c := r.dial(t, dialOptions{header: betaHeader})
		c.send(obj{"type": "session.update", "session": obj{"turn_detection": nil}})
		c.of("session.updated")
		c.send(obj{"type": "conversation.item.create", "item": message("user", "input_text", "hello")})
		list := c.respond(nil)
		for _, name := range []string{"response.audio.delta", "response.audio.done", "response.audio_transcript.delta", "response.audio_transcript.done", "conversation.item.created"} {
			find(t, list, name)
		}
		for _, e := range list {
			if strings.Contains(e.Type, "output_audio") || strings.Contains(e.Type, "output_text") || e.Type == "conversation.item.added" || e.Type == "conversation.item.done" {
				t.Errorf("%.200s", e.raw)
			}
		}
		if done := find(t, list, "response.done"); done.str("response.output.0.content.0.type") != "audio" || done.str("response.output.0.content.0.transcript") == "" {
			t.Errorf("%s", done.raw)
		}
		if len(heard(t, list)) < 24000 {
			t.Errorf("%d bytes of sound", len(heard(t, list)))
		}
		c.send(obj{"type": "conversation.item.create", "item": message("user", "input_text", "hello")})
		list = c.respond(obj{"modalities": []string{"text"}})
		find(t, list, "response.text.delta")
		find(t, list, "response.text.done")
	}},
	{id: "C69", what: "POST client_secrets: value ek_, expires_at, session", with: rigOptions{keys: true}, test: func(t testing.TB, r *rig) {
		now := time.Now().Unix()
		status, m := r.post(t, "/v1/realtime/client_secrets", `{"expires_after":{"anchor":"created_at","seconds":120},"session":{"type":"realtime","model":"m","instructions":"Hm."}}`)
		e := event{m: m}
		if at := int64(e.num("expires_at")) - now; status != 200 || !strings.HasPrefix(e.str("value"), "ek_") || at < 115 || at > 125 ||
			e.str("session.id") == "" || e.str("session.object") != "realtime.session" || e.str("session.type") != "realtime" || e.str("session.instructions") != "Hm." {
			t.Errorf("%d %v", status, m)
		}
		for _, path := range []string{"/v1/realtime/sessions", "/v1/realtime/transcription_sessions", "/openai/v1/realtime/client_secrets"} {
			if status, m := r.post(t, path, `{}`); status != 200 {
				t.Errorf("%s: %d %v", path, status, m)
			}
		}
	}},
	{id: "C70", what: "a WebSocket with the client secret starts with its configuration", with: rigOptions{keys: true}, test: func(t testing.TB, r *rig) {
		_, m := r.post(t, "/v1/realtime/client_secrets", `{"session":{"type":"realtime","model":"m","instructions":"Hm.","audio":{"input":{"turn_detection":null}}}}`)
		value, _ := m["value"].(string)
		e := r.dial(t, dialOptions{header: http.Header{"Authorization": {"Bearer " + value}}}).of("session.created")
		if e.str("session.instructions") != "Hm." || e.get("session.audio.input.turn_detection") != nil || e.str("session.id") == "" {
			t.Errorf("%s", e.raw)
		}
	}},
	{id: "C71", what: "client_secrets with expires_after.seconds outside 10 to 7200: 400 and an error", with: rigOptions{keys: true}, test: func(t testing.TB, r *rig) {
		for _, body := range []string{`{"expires_after":{"seconds":5}}`, `{"expires_after":{"seconds":7201}}`, `{"session":{"type":"no"}}`, `{`} {
			status, m := r.post(t, "/v1/realtime/client_secrets", body)
			fault, _ := m["error"].(map[string]any)
			_, code := fault["code"]
			_, param := fault["param"]
			if status != 400 || fault["message"] == "" || fault["type"] == "" || !code || !param {
				t.Errorf("%s: %d %v", body, status, m)
			}
		}
	}},
}
