package app

import (
	"context"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/hocketvoice/hocket/internal/config"
	"github.com/hocketvoice/hocket/port"
)

// crm is an MCP server with a customer in it, over HTTP.
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

func agentOf(t *testing.T, text string) *Agent {
	t.Helper()
	path := filepath.Join(t.TempDir(), "agent.yaml")
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	a, err := LoadAgent(path)
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

// TestFlowCallsMCP: a flow's action is a tool of a server, its output a part of the
// result.
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
	text, end, err := NewChat(t.Context(), ChatOptions{Agent: filepath.Join(dir, "agent.yaml"), Config: filepath.Join(dir, "config.yaml")})
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := end(); err != nil {
			t.Error(err)
		}
	}()
	now := time.Date(2026, 1, 1, 12, 0, 0, 0, time.UTC)
	if _, err := text.Start(t.Context(), now); err != nil {
		t.Fatal(err)
	}
	said := ""
	for _, line := range []string{"who am I", "four seven"} {
		r, err := text.Say(t.Context(), now, line)
		if err != nil {
			t.Fatal(err)
		}
		said = strings.Join(r.Said, " ")
	}
	if said != "You are Ada 47." {
		t.Errorf("said %q", said)
	}
}

// TestToolsOfAgents: what a model may call is what the agent's file says.
func TestToolsOfAgents(t *testing.T) {
	tools, err := OpenTools(t.Context(), config.Tools{
		MCP: []config.MCPServer{{Name: "crm", URL: crm(t), Prefix: "crm_"}},
		HTTP: []config.HTTPTool{{
			Name: "weather", URL: "http://127.0.0.1:1/now", Method: "GET",
			Parameters: []config.Parameter{{Name: "city"}, {Name: "days", Type: "integer", Optional: true}},
		}},
	})
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
	clash := strings.ReplaceAll(strings.ReplaceAll(callers, "  customer:", "  crm_find:"), "call: customer", "call: crm_find")
	for text, want := range map[string]string{
		callers + "tools: [wether]\n": `the agent's list of tools: tools: there is no tool "wether": there are [customer weather crm_find]`,
		clash + "tools: [weather]\n":  "tools: crm_find is a tool of the agent's actions and of the config's tools",
	} {
		if _, _, err := tools.For(t.Context(), agentOf(t, text)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, expected %q", err, want)
		}
	}
	_, err = OpenTools(t.Context(), config.Tools{HTTP: []config.HTTPTool{{Name: "a", URL: "http://h"}, {Name: "a", URL: "http://h"}}})
	if err == nil || !strings.Contains(err.Error(), "two tools are called a") {
		t.Errorf("%v", err)
	}
}
