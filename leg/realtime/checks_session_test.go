package realtime_test

import (
	"net/http"
	"strings"
	"testing"
)

// sessionChecks are C01 to C15, about the connection and its configuration.
var sessionChecks = []check{
	{id: "C01", what: "WebSocket upgrade at /v1/realtime?model= with Authorization: Bearer", with: rigOptions{keys: true}, test: func(t testing.TB, r *rig) {
		c := r.dial(t, dialOptions{header: http.Header{"Authorization": {"Bearer " + key}}})
		c.of("session.created")
	}},
	{id: "C02", what: "the first event is session.created with id, object, type and model", test: func(t testing.TB, r *rig) {
		c := r.dial(t, dialOptions{query: "model=gpt-realtime"})
		e := c.wait("the first event", func(event) bool { return true })
		if e.Type != "session.created" || e.str("session.id") == "" || e.str("session.object") != "realtime.session" ||
			e.str("session.type") != "realtime" || e.str("session.model") != "gpt-realtime" {
			t.Errorf("%s", e.raw)
		}
	}},
	{id: "C03", what: "session.created carries the full effective default configuration", test: func(t testing.TB, r *rig) {
		e := r.dial(t, dialOptions{}).of("session.created")
		for path, want := range map[string]any{
			"session.output_modalities.0":                          "audio",
			"session.instructions":                                 "",
			"session.tool_choice":                                  "auto",
			"session.max_output_tokens":                            "inf",
			"session.audio.input.format.type":                      "audio/pcm",
			"session.audio.input.format.rate":                      24000.0,
			"session.audio.output.format.type":                     "audio/pcm",
			"session.audio.output.speed":                           1.0,
			"session.audio.input.turn_detection.type":              "server_vad",
			"session.audio.input.turn_detection.threshold":         0.5,
			"session.audio.input.turn_detection.prefix_padding_ms": 300.0,
			"session.audio.input.turn_detection.create_response":   true,
		} {
			if got := e.get(path); got != want {
				t.Errorf("%s is %v, expected %v", path, got, want)
			}
		}
		if tools, ok := e.get("session.tools").([]any); !ok || len(tools) != 0 || e.str("session.audio.output.voice") == "" || e.num("session.expires_at") < 1e9 {
			t.Errorf("%s", e.raw)
		}
	}},
	{id: "C04", what: "browser auth: the key in a subprotocol, realtime selected", with: rigOptions{keys: true}, test: func(t testing.TB, r *rig) {
		c := r.dial(t, dialOptions{protocols: []string{"realtime", "openai-insecure-api-key." + key}})
		c.of("session.created")
		if got := c.ws.Subprotocol(); got != "realtime" {
			t.Errorf("subprotocol %q", got)
		}
	}},
	{id: "C05", what: "a wrong key is refused: error invalid_api_key, then close 3000", with: rigOptions{keys: true}, test: func(t testing.TB, r *rig) {
		for _, o := range []dialOptions{{}, {header: http.Header{"Authorization": {"Bearer wrong"}}}} {
			c := r.dial(t, o)
			if e := c.of("error"); e.str("error.code") != "invalid_api_key" {
				t.Errorf("%s", e.raw)
			}
			if code := c.ended(); code != 3000 {
				t.Errorf("close code %d", code)
			}
		}
	}},
	{id: "C06", what: "unknown query parameters and headers are ignored", test: func(t testing.TB, r *rig) {
		r.dial(t, dialOptions{query: "model=m&temperature=0.8&x=y", header: http.Header{"X-Anything": {"at all"}, "OpenAI-Organization": {"org"}}}).of("session.created")
	}},
	{id: "C07", what: "session.update merges; session.updated shows the effective whole", test: func(t testing.TB, r *rig) {
		c := r.dial(t, dialOptions{})
		c.update(obj{"instructions": "Be brief.", "audio": obj{"output": obj{"voice": "marin"}}})
		e := c.update(obj{"audio": obj{"input": obj{"turn_detection": obj{"type": "server_vad", "threshold": 0.7}}}})
		for path, want := range map[string]any{
			"session.instructions":                                   "Be brief.",
			"session.audio.output.voice":                             "marin",
			"session.audio.input.turn_detection.threshold":           0.7,
			"session.audio.input.turn_detection.silence_duration_ms": 500.0,
			"session.audio.input.turn_detection.interrupt_response":  true,
			"session.audio.input.turn_detection.create_response":     true,
		} {
			if got := e.get(path); got != want {
				t.Errorf("%s is %v, expected %v", path, got, want)
			}
		}
	}},
	{id: "C08", what: "turn_detection: null turns detection off; members not named keep their values", test: func(t testing.TB, r *rig) {
		c := r.dial(t, dialOptions{})
		c.update(obj{"instructions": "Stay."})
		e := c.update(obj{"audio": obj{"input": obj{"turn_detection": nil}}})
		in, _ := e.get("session.audio.input").(map[string]any)
		if v, ok := in["turn_detection"]; !ok || v != nil || e.str("session.instructions") != "Stay." || e.str("session.audio.input.format.type") != "audio/pcm" {
			t.Errorf("%s", e.raw)
		}
	}},
	{id: "C09", what: "empty string and empty array clear instructions and tools", test: func(t testing.TB, r *rig) {
		c := r.dial(t, dialOptions{})
		tool := obj{"type": "function", "name": "f", "parameters": obj{"type": "object", "properties": obj{}}}
		if e := c.update(obj{"instructions": "x", "tools": []any{tool}}); len(e.get("session.tools").([]any)) != 1 {
			t.Errorf("%s", e.raw)
		}
		if e := c.update(obj{"instructions": "", "tools": []any{}}); len(e.get("session.tools").([]any)) != 0 || e.str("session.instructions") != "" {
			t.Errorf("%s", e.raw)
		}
	}},
	{id: "C10", what: "an invalid value: an error about the client's event, and no session.updated", test: func(t testing.TB, r *rig) {
		c := r.dial(t, dialOptions{})
		for _, s := range []obj{
			{"type": "realtime", "audio": obj{"input": obj{"turn_detection": obj{"type": "telepathy"}}}},
			{"type": "realtime", "audio": obj{"input": obj{"turn_detection": obj{"type": "server_vad", "idle_timeout_ms": 10}}}},
			{"type": "realtime", "tool_choice": "perhaps"},
			{"type": "realtime", "no_such_member": 1},
			{"instructions": "no type"},
		} {
			m := c.mark()
			e := c.expectError(obj{"type": "session.update", "session": s})
			if e.str("error.type") != "invalid_request_error" || e.str("error.message") == "" {
				t.Errorf("%s", e.raw)
			}
			c.settle()
			for _, e := range c.since(m) {
				if e.Type == "session.updated" {
					t.Errorf("updated by %v", s)
				}
			}
		}
	}},
	{id: "C11", what: "output_modalities text and audio together are refused", test: func(t testing.TB, r *rig) {
		c := r.dial(t, dialOptions{})
		c.expectError(obj{"type": "session.update", "session": obj{"type": "realtime", "output_modalities": []string{"text", "audio"}}})
	}},
	{id: "C12", what: "session.update naming the current model is accepted", test: func(t testing.TB, r *rig) {
		c := r.dial(t, dialOptions{query: "model=gpt-realtime"})
		if e := c.update(obj{"model": "gpt-realtime"}); e.str("session.model") != "gpt-realtime" {
			t.Errorf("%s", e.raw)
		}
		c.expectError(obj{"type": "session.update", "session": obj{"type": "realtime", "model": "another"}})
	}},
	{id: "C13", what: "unparseable JSON: an error, and the connection stays open", test: func(t testing.TB, r *rig) {
		c := r.dial(t, dialOptions{})
		for _, s := range []string{"{", "", "hello", `{"type":}`} {
			c.raw(s)
			if e := c.of("error"); e.str("error.type") != "invalid_request_error" {
				t.Errorf("%s", e.raw)
			}
		}
		c.update(obj{"instructions": "alive"})
	}},
	{id: "C14", what: "an unknown event type: an error naming it, and the connection stays open", test: func(t testing.TB, r *rig) {
		c := r.dial(t, dialOptions{})
		if e := c.expectError(obj{"type": "no.such.event"}); !strings.Contains(e.str("error.message"), "no.such.event") {
			t.Errorf("%s", e.raw)
		}
		c.update(obj{"instructions": "alive"})
	}},
	{id: "C15", what: "a missing type: an error, and the connection stays open", test: func(t testing.TB, r *rig) {
		c := r.dial(t, dialOptions{})
		if e := c.expectError(obj{"hello": 1}); e.str("error.param") != "type" {
			t.Errorf("%s", e.raw)
		}
		for _, s := range []string{"[]", "null", "1", `{"type":1}`} {
			c.raw(s)
			c.of("error")
		}
		c.update(obj{"instructions": "alive"})
	}},
}
