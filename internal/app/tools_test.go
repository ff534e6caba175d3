package app

import (
	"context"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/hocketvoice/hocket/conv"
	"github.com/hocketvoice/hocket/internal/config"
	"github.com/hocketvoice/hocket/internal/settings"
	"github.com/hocketvoice/hocket/port"
)

// crm starts an MCP server over HTTP that knows one customer, and returns its URL.
func crm(t *testing.T) string {
	t.Helper()
	s := sdk.NewServer(&sdk.Implementation{Name: "crm", Version: "1"}, nil)
	type in struct {
		Phone string `json:"phone"`
	}
	type out struct {
		Account map[string]string `json:"account"`
	}
	sdk.AddTool(s, &sdk.Tool{Name: "find"}, func(_ context.Context, _ *sdk.CallToolRequest, in in) (*sdk.CallToolResult, out, error) {
		return nil, out{map[string]string{"name": "Ada " + in.Phone}}, nil
	})
	server := httptest.NewServer(sdk.NewStreamableHTTPHandler(func(*http.Request) *sdk.Server { return s }, nil))
	t.Cleanup(server.Close)
	return server.URL
}

// toolsOf opens an installation's tools until the test ends, and returns those of an agent.
func toolsOf(t *testing.T, o ToolOptions, agent *settings.Agent) (flows, model port.Tool) {
	t.Helper()
	tools, err := OpenTools(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := tools.Close(); err != nil {
			t.Error(err)
		}
	})
	if flows, model, err = tools.For(t.Context(), agent); err != nil {
		t.Fatal(err)
	}
	return flows, model
}

func agentOf(t *testing.T, text string) *settings.Agent {
	t.Helper()
	path := filepath.Join(t.TempDir(), "agent.yaml")
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	a, err := settings.LoadAgent(path)
	if err != nil {
		t.Fatal(err)
	}
	return a
}

const callers = `version: "1.0"
instructions: You are brief.
slots:
  phone: {type: digits, prompt: "Your number?"}
actions:
  customer: {inputs: [phone], mcp: {server: crm, tool: find, outputs: {customer: account.name}}}
flows:
  who:
    description: find a customer
    trigger: {intents: ["who am I"]}
    steps:
      - {step: ask, type: collect, slot: phone}
      - {step: run, type: action, call: customer}
      - {step: told, type: say, message: "You are {customer}."}
`

// TestFlowCallsMCP checks an action that is a tool of an MCP server, with a part of the
// result as its output.
func TestFlowCallsMCP(t *testing.T) {
	dir := t.TempDir()
	for name, text := range map[string]string{
		"agent.yaml":  callers,
		"config.yaml": "tools: {mcp: [{name: crm, url: \"" + crm(t) + "\"}]}\n",
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	o := ChatOptions{Agent: filepath.Join(dir, "agent.yaml"), Config: filepath.Join(dir, "config.yaml")}
	if said := chatted(t, o, "who am I", "four seven"); said[1] != "You are Ada 47." {
		t.Errorf("said %q", said)
	}
}

// TestFlowRunsCommand checks an action that is a program, with parts of the result as its
// outputs, and that its requirements are checked at the start.
func TestFlowRunsCommand(t *testing.T) {
	text := `version: "1.0"
slots: {topic: {type: any}}
actions:
  find: {inputs: [topic], command: {name: finder, outputs: {answer: found.text}}}
  weigh: {inputs: [topic], command: finder, long: false}
flows:
  f: {trigger: {intents: [go]}, steps: [{step: a, type: action, call: find}, {step: b, type: action, call: weigh}]}
`
	finder := config.CommandTool{
		Name: "finder", Command: "sh", Stdin: "none", Parameters: []config.Parameter{{Name: "topic"}},
		Args: []string{"-c", `printf '{"type":"progress","text":"I look"}\n{"type":"result","output":{"found":{"text":"%s"}}}\n' "$1"`, "sh", "{topic}"},
	}
	tools, err := OpenTools(t.Context(), ToolOptions{Tools: config.Tools{Command: []config.CommandTool{finder}}})
	if err != nil {
		t.Fatal(err)
	}
	flows, model, err := tools.For(t.Context(), agentOf(t, text))
	if err != nil {
		t.Fatal(err)
	}
	var heard []string
	out, err := flows.Call(t.Context(), port.ToolCall{ID: "1", Name: "find", Arguments: `{"topic":"hocket"}`}, func(text string) { heard = append(heard, text) })
	if err != nil || out != `{"answer":"hocket"}` || len(heard) != 1 || heard[0] != "I look" {
		t.Errorf("%s, error %v, heard %q", out, err, heard)
	}
	if _, err := model.Call(t.Context(), port.ToolCall{Name: "find", Arguments: `{}`}, nil); err == nil || !strings.Contains(err.Error(), "INVALID_ARGS: find") {
		t.Errorf("%v", err)
	}
	for _, s := range flows.Specs() {
		if s.Long != (s.Name == "find") || !s.Irreversible {
			t.Errorf("%+v", s)
		}
	}
	if _, _, err := tools.For(t.Context(), agentOf(t, strings.ReplaceAll(text, "finder", "fnder"))); err == nil || err.Error() != `action find: tools.command: unknown tool "fnder": expected one of finder` {
		t.Errorf("%v", err)
	}
	if _, _, err := tools.For(t.Context(), agentOf(t, strings.ReplaceAll(text, "find: {inputs: [topic]", "find: {inputs: {about: topic}"))); err == nil ||
		err.Error() != "action find: finder requires the input topic: expected inputs: {topic: SLOT}" {
		t.Errorf("%v", err)
	}
	for want, change := range map[string]func(*config.CommandTool){
		"tools.command: finder: the program no-such does not exist":                                    func(c *config.CommandTool) { c.Command = "no-such" },
		"tools.command: finder: parameters and schema must not both be set":                            func(c *config.CommandTool) { c.Schema = "{}" },
		"tools.command: finder: {topic} in \"{topic}\" is not an argument: the tool has no parameters": func(c *config.CommandTool) { c.Parameters = nil },
		"tools.command: finder: duplicate parameter topic":                                             func(c *config.CommandTool) { c.Parameters = append(c.Parameters, c.Parameters[0]) },
	} {
		c := finder
		change(&c)
		if _, err := OpenTools(t.Context(), ToolOptions{Tools: config.Tools{Command: []config.CommandTool{c}}}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, expected %q", err, want)
		}
	}
	for text, want := range map[string]string{
		`command: [{name: a, command: sh, args: ["{x}"]}]`:                                       `tools.command: a: {x} in "{x}" is not an argument: the tool has no parameters`,
		`a2a: [{name: a, url: nowhere}]`:                                                         "tools.a2a: a: the URL must have the form http://HOST/PATH",
		`http: [{name: the weather, url: "http://a/"}]`:                                          `tools.http: tool 1: the name is "the weather": expected 1 to 64 letters, digits, - or _`,
		`http: [{name: a, url: "http://a/", parameters: [{name: x}, {name: x, type: integer}]}]`: "tools.http: a: duplicate parameter x",
	} {
		path := filepath.Join(t.TempDir(), "config.yaml")
		if err := os.WriteFile(path, []byte("tools:\n  "+text+"\n"), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err = LoadOptions(path); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, expected %q", err, want)
		}
	}
}

// TestLongResults checks that a result too long for a model is summarized, and that a flow
// reads the whole result.
func TestLongResults(t *testing.T) {
	asked := 0
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		asked++
		w.Header().Set("Content-Type", "text/event-stream")
		_, _ = w.Write([]byte(`data: {"choices":[{"index":0,"delta":{"content":"many"},"finish_reason":"stop"}]}` + "\n\ndata: [DONE]\n\n"))
	}))
	defer server.Close()
	flows, model := toolsOf(t, ToolOptions{
		Tools:  config.Tools{Command: []config.CommandTool{{Name: "list", Command: "sh", Args: []string{"-c", "seq 2000"}, Output: "text"}}},
		Model:  config.Model{Name: "m", BaseURL: server.URL},
		Limits: conv.Limits{ResultChars: 5000},
	}, agentOf(t, `version: "1.0"
actions: {all: {outputs: [list], command: list}}
tools: [all, list]
flows: {f: {trigger: {intents: [go]}, steps: [{step: a, type: action, call: all}]}}
`))
	out, err := flows.Call(t.Context(), port.ToolCall{ID: "1", Name: "all"}, nil)
	if err != nil || len(out) < 8000 || !strings.Contains(out, "1999") || asked != 0 {
		t.Errorf("%d bytes, error %v, %d requests", len(out), err, asked)
	}
	out, err = model.Call(t.Context(), port.ToolCall{ID: "1", Name: "list"}, nil)
	if err != nil || out != "Summary of a result of 8892 characters: many" || asked != 1 {
		t.Errorf("%q, error %v, %d requests", out, err, asked)
	}
	// The model can call the action too. As a task, its result is summarized for the model
	// only.
	s := &Server{}
	s.roster.set([]*served{{name: "a", flowTools: flows, modelTools: model}})
	for action, want := range map[bool]int{true: 8000, false: len("Summary of a result of 10902 characters: many")} {
		tool, err := s.toolOf(port.Task{Agent: "a", Action: action})
		if err != nil {
			t.Fatal(err)
		}
		if out, err := tool.Call(t.Context(), port.ToolCall{ID: "1", Name: "all"}, nil); err != nil || action && len(out) < want || !action && len(out) != want {
			t.Errorf("action %v: %d bytes %.80q, error %v", action, len(out), out, err)
		}
	}
	if _, err := s.toolOf(port.Task{Agent: "b"}); err == nil || err.Error() != `this server has no agent "b"` {
		t.Errorf("%v", err)
	}
}

// TestFlowAsksAgent checks an action that is an agent elsewhere.
func TestFlowAsksAgent(t *testing.T) {
	card := ""
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		text := card
		if r.Method == http.MethodPost {
			text = `{"jsonrpc":"2.0","id":"1","result":{"kind":"message","messageId":"m","role":"agent","parts":[{"kind":"text","text":"a plan"}]}}`
		}
		_, _ = w.Write([]byte(text))
	}))
	defer server.Close()
	card = `{"name":"planner","url":"` + server.URL + `"}`
	flows, _ := toolsOf(t, ToolOptions{Tools: config.Tools{A2A: []config.A2AAgent{{Name: "planner", URL: server.URL}}}}, agentOf(t, `version: "1.0"
slots: {wish: {type: any}}
actions: {plan: {inputs: {message: wish}, outputs: [made], a2a: planner}}
flows: {f: {trigger: {intents: [go]}, steps: [{step: a, type: action, call: plan}]}}
`))
	if out, err := flows.Call(t.Context(), port.ToolCall{ID: "1", Name: "plan", Arguments: `{"message":"go"}`}, nil); err != nil || out != `{"made":"a plan"}` {
		t.Errorf("%s, error %v", out, err)
	}
	if _, err := OpenTools(t.Context(), ToolOptions{Tools: config.Tools{A2A: []config.A2AAgent{{Name: "planner", URL: server.URL + "/x.json", KeyEnv: "NO_SUCH_KEY"}}}}); err == nil || err.Error() != "a2a: planner: the environment variable NO_SUCH_KEY is not set" {
		t.Errorf("%v", err)
	}
}

// TestToolsOfAgents checks that a model may call the tools that the agent's file names.
func TestToolsOfAgents(t *testing.T) {
	tools, err := OpenTools(t.Context(), ToolOptions{Tools: config.Tools{
		MCP: []config.MCPServer{{Name: "crm", URL: crm(t), Prefix: "crm_"}},
		HTTP: []config.HTTPTool{{
			Name: "weather", URL: "http://127.0.0.1:1/now", Method: "GET",
			Parameters: []config.Parameter{{Name: "city"}, {Name: "days", Type: "integer", Optional: true}},
		}},
	}})
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := tools.Close(); err != nil {
			t.Error(err)
		}
	}()
	names := func(tool port.Tool) string {
		var list []string
		for _, s := range tool.Specs() {
			list = append(list, s.Name)
		}
		return strings.Join(list, " ")
	}
	for list, want := range map[string]string{
		"":                              "customer",
		"tools: []\n":                   "",
		"tools: [weather]\n":            "weather",
		"tools: [crm_find, customer]\n": "customer crm_find",
		"tools: [\"*\"]\n":              "customer weather crm_find",
	} {
		flows, model, err := tools.For(t.Context(), agentOf(t, callers+list))
		if err != nil || names(flows) != "customer" || names(model) != want {
			t.Errorf("%q: flows %q, model %q, error %v; expected %q", list, names(flows), names(model), err, want)
		}
	}
	_, model, err := tools.For(t.Context(), agentOf(t, callers+"tools: [weather]\n"))
	if err != nil {
		t.Fatal(err)
	}
	_, err = model.Call(t.Context(), port.ToolCall{Name: "weather", Arguments: `{"city":"Ulm","days":"two"}`}, nil)
	if err == nil || !strings.Contains(err.Error(), "INVALID_ARGS: weather: the arguments do not fit the tool's schema: - at '/days': got string") {
		t.Errorf("%v", err)
	}
	clash := strings.ReplaceAll(strings.ReplaceAll(callers, "  customer:", "  crm_find:"), "call: customer", "call: crm_find")
	for text, want := range map[string]string{
		callers + "tools: [wether]\n": `the agent's list of tools: tools: unknown tool "wether": expected one of [customer weather crm_find]`,
		clash + "tools: [weather]\n":  "tools: crm_find is a tool of both the agent's actions and the config's tools",
	} {
		if _, _, err := tools.For(t.Context(), agentOf(t, text)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, expected %q", err, want)
		}
	}
	_, err = OpenTools(t.Context(), ToolOptions{Tools: config.Tools{HTTP: []config.HTTPTool{{Name: "a", URL: "http://h"}, {Name: "a", URL: "http://h"}}}})
	if err == nil || !strings.Contains(err.Error(), `two tools have the name "a"`) {
		t.Errorf("%v", err)
	}
}
