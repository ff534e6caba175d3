package fake

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

// The fake must refuse what the vendors refuse.
func TestServerRefuses(t *testing.T) {
	messages := func(list string) string { return `{"model":"m","stream":true,"messages":[` + list + `]}` }
	user := `{"role":"user","content":"hi"}`
	with := func(members string) string {
		return `{"model":"m","messages":[` + user + `],` + members + `}`
	}
	call := func(id, name, arguments string) string {
		return user + `,{"role":"assistant","content":null,"tool_calls":[{"id":"` + id + `","type":"function","function":{"name":"` + name + `","arguments":"` + arguments + `"}}]}`
	}
	tool := func(name, parameters string) string {
		return with(`"tools":[{"type":"function","function":{"name":"` + name + `","parameters":` + parameters + `}}]`)
	}
	for name, test := range map[string]struct{ body, want string }{
		"good":                     {messages(user), ""},
		"a good call":              {messages(call("a", "f", "{}") + `,{"role":"tool","content":"x","tool_call_id":"a"}`), ""},
		"no JSON":                  {`{`, "the body"},
		"an unknown member":        {with(`"colour":"red"`), "colour"},
		"no model":                 {`{"messages":[` + user + `]}`, "model"},
		"no messages":              {messages(""), "messages is empty"},
		"a role":                   {messages(`{"role":"agent","content":"x"}`), "role"},
		"empty":                    {messages(`{"role":"user","content":" "}`), "content is empty"},
		"null":                     {messages(`{"role":"assistant","content":null}`), "content is empty"},
		"an empty result":          {messages(call("a", "f", "{}") + `,{"role":"tool","content":"","tool_call_id":"a"}`), "content is empty"},
		"an orphan":                {messages(user + `,{"role":"tool","content":"x","tool_call_id":"a"}`), "must be a response"},
		"a result of another call": {messages(call("a", "f", "{}") + `,{"role":"tool","content":"x","tool_call_id":"b"}`), "must be a response"},
		"a second result":          {messages(call("a", "f", "{}") + strings.Repeat(`,{"role":"tool","content":"x","tool_call_id":"a"}`, 2)), "must be a response"},
		"a call without a result":  {messages(call("a", "f", "{}")), "no result"},
		"a result too late":        {messages(call("a", "f", "{}") + `,` + user + `,{"role":"tool","content":"x","tool_call_id":"a"}`), "must be followed"},
		"a call's name":            {messages(call("a", "f.g", "{}")), `name "f.g"`},
		"a call's id":              {messages(call(strings.Repeat("x", 41), "f", "{}")), "bad type or id"},
		"a call's arguments":       {messages(call("a", "f", "{")), "not a JSON object"},
		"calls of a user":          {messages(`{"role":"user","content":"x","tool_call_id":"a"}`), "another role"},
		"no tools":                 {with(`"tools":[]`), "tools is empty"},
		"a tool's name":            {tool("a b", `{"type":"object"}`), "tools.0.function.name"},
		"a tool's schema":          {tool("a", `{"type":"string"}`), "tools.0.function.parameters"},
		"both bounds":              {with(`"max_tokens":1,"max_completion_tokens":1`), "both set"},
		"a bound of 0":             {with(`"max_tokens":0`), "below 1"},
		"temperature":              {with(`"temperature":3`), "temperature"},
		"options of no stream":     {with(`"stream_options":{"include_usage":true}`), "streams alone"},
		"a form":                   {with(`"response_format":{"type":"json_schema"}`), "response_format"},
	} {
		t.Run(name, func(t *testing.T) {
			s := &Server{Key: "k"}
			r := httptest.NewRequest(http.MethodPost, "/v1/chat/completions", strings.NewReader(test.body))
			r.Header.Set("Content-Type", "application/json")
			r.Header.Set("Authorization", "Bearer k")
			w := httptest.NewRecorder()
			s.ServeHTTP(w, r)
			if test.want == "" {
				if w.Code != http.StatusOK || len(s.Requests()) != 1 || !strings.HasSuffix(w.Body.String(), "data: [DONE]\n\n") {
					t.Errorf("status %d: %s", w.Code, w.Body)
				}
				return
			}
			if why := strings.Join(s.Refused(), " "); w.Code != http.StatusBadRequest || !strings.Contains(why, test.want) {
				t.Errorf("status %d, refused %q, expected %q", w.Code, why, test.want)
			}
		})
	}
	for name, test := range map[string]struct {
		server        *Server
		method, path  string
		header, value string
		status        int
	}{
		"a method":            {&Server{}, http.MethodGet, "/v1/chat/completions", "X-A", "", http.StatusMethodNotAllowed},
		"a path":              {&Server{}, http.MethodPost, "/chat/completions", "X-A", "", http.StatusNotFound},
		"no key":              {&Server{Key: "k"}, http.MethodPost, "/v1/chat/completions", "X-A", "", http.StatusUnauthorized},
		"a wrong key":         {&Server{Key: "k"}, http.MethodPost, "/v1/chat/completions", "Authorization", "Bearer j", http.StatusUnauthorized},
		"a key for nothing":   {&Server{}, http.MethodPost, "/v1/chat/completions", "Authorization", "Bearer j", http.StatusUnauthorized},
		"Azure's header":      {&Server{Key: "k"}, http.MethodPost, "/v1/chat/completions", "Api-Key", "k", http.StatusBadRequest},
		"Azure, a version":    {&Server{APIVersion: "1", Model: "m"}, http.MethodPost, "/openai/deployments/m/chat/completions", "X-A", "", http.StatusNotFound},
		"Azure, a deployment": {&Server{APIVersion: "1", Model: "m"}, http.MethodPost, "/openai/deployments/n/chat/completions?api-version=1", "X-A", "", http.StatusNotFound},
		"a type":              {&Server{}, http.MethodPost, "/v1/chat/completions", "Content-Type", "text/plain", http.StatusBadRequest},
	} {
		t.Run(name, func(t *testing.T) {
			r := httptest.NewRequest(test.method, test.path, strings.NewReader(messages(user)))
			r.Header.Set("Content-Type", "application/json")
			r.Header.Set(test.header, test.value)
			w := httptest.NewRecorder()
			test.server.ServeHTTP(w, r)
			if w.Code != test.status || len(test.server.Refused()) != 1 {
				t.Errorf("status %d, expected %d, refused %q", w.Code, test.status, test.server.Refused())
			}
		})
	}
}
