package api

import (
	"bytes"
	"encoding/json"
	"errors"
	"net/http"
	"os"
	"strconv"
	"strings"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/hocketvoice/hocket/port"
	"github.com/hocketvoice/hocket/porttest"
	"github.com/hocketvoice/hocket/server/hub"
)

// contract is the served API description, against which responses are checked.
type contract struct {
	t        *testing.T
	compiler *jsonschema.Compiler
	doc      map[string]any
	held     map[string]bool // operations with a status, as they were held
}

func newContract(h *house) *contract {
	c := &contract{t: h.t, compiler: jsonschema.NewCompiler(), held: make(map[string]bool)}
	_, b := h.do("GET", "/openapi.json", "")
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(b))
	if err != nil {
		h.t.Fatal(err)
	}
	c.doc, _ = doc.(map[string]any)
	c.compiler.DefaultDraft(jsonschema.Draft2020)
	if err := c.compiler.AddResource("openapi.json", doc); err != nil {
		h.t.Fatal(err)
	}
	return c
}

// hold checks a response against the description.
func (c *contract) hold(h *house, method, path, request, body string) []byte {
	c.t.Helper()
	status, b := h.do(method, request, body)
	operation := strings.ToLower(method) + " " + path + " " + strconv.Itoa(status)
	escape := strings.NewReplacer("~", "~0", "/", "~1", "{", "%7B", "}", "%7D")
	at := "openapi.json#/paths/" + escape.Replace(path) + "/" + strings.ToLower(method) + "/responses/" + strconv.Itoa(status) +
		"/content/application~1json/schema"
	schema, err := c.compiler.Compile(at)
	if err != nil {
		c.t.Errorf("%s is not described: %v: %s", operation, err, b)
		return b
	}
	v, err := jsonschema.UnmarshalJSON(bytes.NewReader(b))
	if err != nil {
		c.t.Errorf("%s: %v: %s", operation, err, b)
		return b
	}
	if err := schema.Validate(v); err != nil {
		c.t.Errorf("%s: %v: %s", operation, err, b)
	}
	c.held[operation] = true
	return b
}

// TestOpenAPI checks that every JSON response and failure matches the description,
// and that the test covers every operation.
func TestOpenAPI(t *testing.T) {
	shelf := newShelf()
	h := newHouse(t, hub.Options{Most: 2}, func(o *Options) { o.Stored, o.Dialer = shelf, operator{} })
	c := newContract(h)
	for _, body := range []string{`{"to":"+15550100"}`, `{"to":"112"}`, `{"to":"+15550101"}`, `{}`, `{"number":"1"}`} {
		c.hold(h, "POST", "/v1/calls", "/v1/calls", body)
	}
	c.hold(h, "GET", "/v1/calls/{id}", "/v1/calls/one", "")
	c.hold(h, "GET", "/v1/calls/{id}", "/v1/calls/two", "")
	c.hold(h, "GET", "/healthz", "/healthz", "")
	c.hold(h, "GET", "/readyz", "/readyz", "")
	c.hold(h, "GET", "/v1/agents", "/v1/agents", "")
	const conversations, one = "/v1/conversations", "/v1/conversations/{id}"
	c.hold(h, "GET", conversations, conversations, "")
	var made Created
	if err := json.Unmarshal(c.hold(h, "POST", conversations, conversations, `{"transport":"text"}`), &made); err != nil {
		t.Fatal(err)
	}
	for _, body := range []string{
		`{"transport":"fax"}`, `{"agent":"nobody","transport":"text"}`, `{"transport":"webrtc","sdp":"v=0"}`,
		strings.Repeat(" ", 300<<10) + `{}`,
	} {
		c.hold(h, "POST", conversations, conversations, body)
	}
	path := conversations + "/" + made.ID
	h.listen(path + "/events?from=1").heard("Welcome")
	h.say(made.ID, "book a flight")
	h.listen(path + "/events?from=1").heard("fly from")
	c.hold(h, "GET", one, path, "")
	c.hold(h, "GET", one, conversations+"/conv_none", "")
	c.hold(h, "GET", conversations, conversations, "")
	c.hold(h, "POST", one+"/commands", path+"/commands", `{"type":"interrupt"}`)
	c.hold(h, "POST", one+"/commands", path+"/commands", `{"type":"dance"}`)
	c.hold(h, "POST", one+"/commands", path+"/commands", `{"type":"startConversation"}`)
	c.hold(h, "PATCH", one+"/context", path+"/context", `{"files":{"a":[1]},"preferences":{}}`)
	c.hold(h, "PATCH", one+"/context", path+"/context", `{"notes":{}}`)
	c.hold(h, "GET", one+"/context", path+"/context", "")
	c.hold(h, "GET", one+"/context", conversations+"/conv_none/context", "")
	c.hold(h, "POST", one+"/sdp", path+"/sdp", `{"sdp":"v=0"}`)
	c.hold(h, "POST", one+"/sdp", path+"/sdp", `{}`)
	c.hold(h, "GET", one+"/events", path+"/events?from=x", "")
	c.hold(h, "GET", one+"/trace", conversations+"/conv_none/trace", "")
	c.hold(h, "GET", "/v1/events", "/v1/events?from=0", "")
	const stored = "/v1/stored/{id}"
	c.hold(h, "GET", "/v1/stored", "/v1/stored?limit=1", "")
	c.hold(h, "GET", "/v1/stored", "/v1/stored?limit=0", "")
	c.hold(h, "GET", stored, "/v1/stored/conv_1", "")
	c.hold(h, "GET", stored, "/v1/stored/conv_locked", "")
	c.hold(h, "GET", stored, "/v1/stored/conv_none", "")
	c.hold(h, "GET", stored+"/trace", "/v1/stored/conv_2/trace", "")
	c.hold(h, "GET", one+"/recording", conversations+"/conv_2/recording", "")
	c.hold(h, "GET", stored+"/alternatives", "/v1/stored/conv_1/alternatives?barge_in=none", "")
	c.hold(h, "GET", stored+"/alternatives", "/v1/stored/conv_1/alternatives?barge_in=loud", "")
	c.hold(h, "GET", stored+"/alternatives", "/v1/stored/conv_2/alternatives?barge_in=none", "")
	trace, err := os.ReadFile("../../web/test/fixtures/desk.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	shelf.traces["conv_2"] = string(trace)
	if list := string(c.hold(h, "GET", stored+"/alternatives", "/v1/stored/conv_2/alternatives?barge_in=none", "")); !strings.Contains(list, "flush_playout") {
		t.Errorf("the alternatives are %s", list)
	}
	delete(shelf.traces, "conv_2")
	c.hold(h, "DELETE", stored, "/v1/stored/conv_1", "")
	c.hold(h, "DELETE", stored, "/v1/stored/conv_elsewhere", "")
	shelf.tasks.Tool = &porttest.Tool{Known: []port.ToolSpec{{Name: "work", Long: true}}}
	t.Cleanup(shelf.tasks.Close)
	if err := shelf.tasks.Start(t.Context(), port.Task{Key: "k", Caller: "/ann", Conversation: "c", Call: port.ToolCall{ID: "k", Name: "work"}}); err != nil {
		t.Fatal(err)
	}
	shelf.kept = append(shelf.kept, StoredDetails{StoredInfo: StoredInfo{ID: "conv_elsewhere", Caller: "/ann"}})
	c.hold(h, "GET", "/v1/callers", "/v1/callers?caller=ann", "")
	c.hold(h, "GET", "/v1/callers", "/v1/callers", "")
	c.hold(h, "DELETE", "/v1/callers", "/v1/callers?caller=ann", "")
	c.hold(h, "GET", "/v1/callers/export", "/v1/callers/export", "")
	shelf.fails(errors.New("disk full"), nil)
	c.hold(h, "GET", "/v1/callers", "/v1/callers?caller=ann", "")
	c.hold(h, "DELETE", "/v1/callers", "/v1/callers?caller=ann", "")
	c.hold(h, "GET", "/v1/stored", "/v1/stored", "")
	c.hold(h, "GET", stored, "/v1/stored/conv_2", "")
	c.hold(h, "GET", stored+"/trace", "/v1/stored/conv_2/trace", "")
	c.hold(h, "DELETE", stored, "/v1/stored/conv_2", "")
	c.hold(h, "GET", "/v1/statechart", "/v1/statechart?view=amplifier", "")
	c.hold(h, "GET", "/v1/statechart", "/v1/statechart?view=soni", "")
	c.hold(h, "POST", "/v1/client_tokens", "/v1/client_tokens", "")
	c.hold(h, "POST", conversations, conversations, `{"transport":"text"}`)
	c.hold(h, "POST", conversations, conversations, `{"transport":"text"}`) // one too many

	paths, _ := c.doc["paths"].(map[string]any)
	for path, item := range paths {
		operations, _ := item.(map[string]any)
		for method, op := range operations {
			o, _ := op.(map[string]any)
			responses, _ := o["responses"].(map[string]any)
			ok, _ := responses["200"].(map[string]any)
			content, _ := ok["content"].(map[string]any)
			if content["text/event-stream"] != nil || content["application/jsonl"] != nil || content["text/plain"] != nil || content["audio/wav"] != nil {
				continue // read by other tests
			}
			held := false
			for _, status := range []string{"200", "201", "202"} {
				held = held || c.held[method+" "+path+" "+status]
			}
			if !held && path != one+"/sdp" { // no leg of this test has one
				t.Errorf("%s %s: no answer was compared with its description", method, path)
			}
		}
	}
}

// TestEventSchema checks that every message of a conversation and of the list
// matches the served schema.
func TestEventSchema(t *testing.T) {
	h := newHouse(t, hub.Options{Events: 40}, nil)
	list := h.listen("/v1/events")
	made := h.begin("flights")
	path := "/v1/conversations/" + made.ID
	events := h.listen(path + "/events?from=1&steps=1")
	events.heard("Welcome")
	h.say(made.ID, "book a flight")
	events.heard("fly from")
	for _, command := range []string{`"suspend"`, `"resume"`, `"startConversation"`, `"endConversation"`} {
		h.do("POST", path+"/commands", `{"type":`+command+`}`)
	}
	for {
		if _, err := events.next(); err != nil {
			break
		}
	}
	late := h.listen(path + "/events?from=1")
	for {
		if _, err := late.next(); err != nil {
			break
		}
	}
	list.until("the end", func(m hub.Message) bool { return m.Type == hub.TypeEnded })

	_, b := h.do("GET", "/events.schema.json", "")
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(b))
	if err != nil {
		t.Fatal(err)
	}
	compiler := jsonschema.NewCompiler()
	if err := compiler.AddResource("events.json", doc); err != nil {
		t.Fatal(err)
	}
	schema, err := compiler.Compile("events.json")
	if err != nil {
		t.Fatal(err)
	}
	seen := make(map[string]int)
	for _, s := range []*stream{events, late, list} {
		for _, m := range s.seen {
			seen[m.Type]++
			b, err := json.Marshal(m)
			if err != nil {
				t.Fatal(err)
			}
			v, err := jsonschema.UnmarshalJSON(bytes.NewReader(b))
			if err != nil {
				t.Fatal(err)
			}
			if err := schema.Validate(v); err != nil {
				t.Errorf("%s: %v", b, err)
			}
		}
	}
	for _, what := range []string{
		hub.TypeState, hub.TypeTurn, hub.TypeEnter, hub.TypeExit, hub.TypeTransition, hub.TypeTranscript, hub.TypeCaption,
		hub.TypeStep, hub.TypeGap, hub.TypeStarted, hub.TypeUpdated, hub.TypeEnded,
	} {
		if seen[what] == 0 {
			t.Errorf("there was no message of the type %s", what)
		}
	}
	if late.seen[0].Type != hub.TypeGap {
		t.Errorf("who comes late is first told %s", late.seen[0].Type)
	}
}

// TestUnknownPaths checks that unknown paths are answered with an error like others.
func TestUnknownPaths(t *testing.T) {
	h := newHouse(t, hub.Options{}, nil)
	h.refused(http.StatusNotFound, "no_such_path", "GET", "/v1/nothing", "")
	h.refused(http.StatusMethodNotAllowed, "method_not_allowed", "DELETE", "/v1/conversations", "")
	h.refused(http.StatusNotFound, "no_such_path", "POST", "/", "{}")
	if status, b := h.do("GET", "/", ""); status != http.StatusOK || !strings.Contains(string(b), "panel") {
		t.Errorf("the panel: %d %s", status, b)
	}
}
