package app

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/hocketvoice/hocket/dialog"
	"github.com/hocketvoice/hocket/internal/airline"
	"github.com/hocketvoice/hocket/internal/config"
	"github.com/hocketvoice/hocket/internal/provider/httpaction"
	"github.com/hocketvoice/hocket/internal/provider/mcp"
	"github.com/hocketvoice/hocket/internal/toolset"
	"github.com/hocketvoice/hocket/port"
)

// Tools are an installation's tools: its MCP servers and HTTP tools, which all
// agents share. It is safe for concurrent use.
type Tools struct {
	servers *mcp.Tools // nil: there are none
	common  *toolset.Set

	mu      sync.Mutex     // guards airline
	airline *airline.Local // nil: no agent needs it
}

// AirlineURL is the variable that the actions of examples/flights go to. Where the
// environment has none, the program's own airline answers them, on the loopback.
const AirlineURL = "HOCKET_AIRLINE_URL"

// OpenTools starts what the config names. Close ends it.
func OpenTools(ctx context.Context, c config.Tools) (_ *Tools, err error) {
	t := &Tools{}
	defer func() {
		if err != nil {
			err = errors.Join(err, t.Close())
		}
	}()
	web, err := httpTools(c.HTTP)
	if err != nil {
		return nil, err
	}
	parts := []toolset.Part{{From: "the config's HTTP tools", Tool: web}}
	if len(c.MCP) > 0 {
		if t.servers, err = mcp.Open(ctx, mcp.Options{Servers: mcpServers(c.MCP)}); err != nil {
			return nil, err
		}
		parts = append(parts, toolset.Part{From: "the MCP servers", Tool: t.servers})
	}
	if t.common, err = toolset.Combine(parts...); err != nil {
		return nil, err
	}
	return t, nil
}

// Close ends the servers. It is called when no conversation uses them any more.
func (t *Tools) Close() error {
	var errs []error
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.airline != nil {
		errs = append(errs, t.airline.Close())
	}
	if t.servers != nil {
		errs = append(errs, t.servers.Close())
	}
	return errors.Join(errs...)
}

// environment is what an agent's actions find in the environment.
func (t *Tools) environment(ctx context.Context, agent *Agent) (func(string) (string, bool), error) {
	needed := slices.ContainsFunc(agent.Actions(), func(a dialog.Action) bool {
		return a.HTTP != nil && strings.Contains(a.HTTP.URL, "${"+AirlineURL+"}")
	})
	if _, there := os.LookupEnv(AirlineURL); there || !needed {
		return os.LookupEnv, nil
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.airline == nil {
		local, err := airline.Listen(ctx)
		if err != nil {
			return nil, err
		}
		t.airline = local
	}
	url := t.airline.URL()
	return func(name string) (string, bool) {
		if name == AirlineURL {
			return url, true
		}
		return os.LookupEnv(name)
	}, nil
}

// For are the tools of an agent: what its flows call, and what a model may call.
// Without a list in its files a model may call the agent's own actions; a list
// selects among those and the installation's tools.
func (t *Tools) For(ctx context.Context, agent *Agent) (flows, model port.Tool, err error) {
	getenv, err := t.environment(ctx, agent)
	if err != nil {
		return nil, nil, err
	}
	web, err := httpaction.New(httpaction.Options{Actions: agent.Actions(), Getenv: getenv})
	if err != nil {
		return nil, nil, err
	}
	served, err := mcp.NewActions(t.servers, agent.Actions())
	if err != nil {
		return nil, nil, err
	}
	actions, err := toolset.Combine(
		toolset.Part{From: "the agent's http actions", Tool: web}, toolset.Part{From: "the agent's mcp actions", Tool: served})
	if err != nil {
		return nil, nil, err
	}
	names, ok := agent.Tools()
	if !ok {
		names = nil
		for _, a := range agent.Actions() {
			if a.Checks == "" && (a.HTTP != nil || a.MCP != nil) {
				names = append(names, a.Name)
			}
		}
		own, err := toolset.Select(actions, names)
		return actions, own, err
	}
	all, err := toolset.Combine(
		toolset.Part{From: "the agent's actions", Tool: actions}, toolset.Part{From: "the config's tools", Tool: t.common})
	if err != nil {
		return nil, nil, err
	}
	selected, err := toolset.Select(all, names)
	if err != nil {
		return nil, nil, fmt.Errorf("the agent's list of tools: %w", err)
	}
	return actions, selected, nil
}

// mcpServers are the config's servers in the terms of their package.
func mcpServers(list []config.MCPServer) []mcp.Server {
	servers := make([]mcp.Server, len(list))
	for i, c := range list {
		servers[i] = mcp.Server{
			Name: c.Name, Command: c.Command, Args: c.Args, Dir: c.Dir, Env: c.Env, URL: c.URL, KeyEnv: c.KeyEnv,
			Prefix: c.Prefix, Allow: c.Allow, StartTimeout: time.Duration(c.StartTimeout), Timeout: time.Duration(c.Timeout),
		}
		for _, p := range c.Tools {
			servers[i].Policies = append(servers[i].Policies, mcp.Policy{
				Tool: p.Name, Irreversible: p.Irreversible, Repeatable: p.Repeatable, Long: p.Long, Confirm: p.Confirm,
				Timeout: time.Duration(p.Timeout),
			})
		}
	}
	return servers
}

// httpTools are the config's HTTP tools: actions that no flow has.
func httpTools(list []config.HTTPTool) (port.Tool, error) {
	actions := make([]dialog.Action, len(list))
	specs := make(map[string]port.ToolSpec, len(list))
	for i, c := range list {
		if _, there := specs[c.Name]; there {
			return nil, fmt.Errorf("tools.http: two tools are called %s: expected another name for each", c.Name)
		}
		method := cmp.Or(c.Method, "POST")
		a := dialog.Action{
			Name: c.Name, Description: c.Description, Idempotent: c.Repeatable, Declared: true,
			HTTP: &dialog.HTTPCall{Method: method, URL: c.URL, Timeout: time.Duration(c.Timeout), Retries: int(c.Retries)},
		}
		if c.KeyEnv != "" {
			a.HTTP.Headers = map[string]string{"Authorization": "Bearer ${" + c.KeyEnv + "}"}
		}
		schema, err := parameters(c.Parameters)
		if err != nil {
			return nil, fmt.Errorf("tools.http: %s: %w", c.Name, err)
		}
		for _, p := range c.Parameters {
			if place := "{" + p.Name + "}"; method == "GET" && !strings.Contains(c.URL, place) {
				a.HTTP.Query = with(a.HTTP.Query, p.Name, place)
			}
			a.Inputs = append(a.Inputs, dialog.ActionInput{Name: p.Name, From: p.Name, Optional: p.Optional})
		}
		actions[i] = a
		specs[c.Name] = port.ToolSpec{
			Name: c.Name, Description: c.Description, Schema: schema, Long: c.Long, Confirm: c.Confirm,
			Irreversible: !c.Repeatable && method != "GET",
		}
	}
	return httpaction.New(httpaction.Options{Actions: actions, Specs: specs})
}

// with sets a key of a map that may not have been made.
func with(m map[string]string, key, value string) map[string]string {
	if m == nil {
		m = make(map[string]string)
	}
	m[key] = value
	return m
}

// parameters is the JSON Schema of an HTTP tool's arguments.
func parameters(list []config.Parameter) ([]byte, error) {
	properties := make(map[string]map[string]string, len(list))
	required := []string{}
	for _, p := range list {
		if properties[p.Name] != nil {
			return nil, fmt.Errorf("the parameter %s stands twice", p.Name)
		}
		properties[p.Name] = map[string]string{"type": cmp.Or(p.Type, "string")}
		if p.Description != "" {
			properties[p.Name]["description"] = p.Description
		}
		if !p.Optional {
			required = append(required, p.Name)
		}
	}
	return json.Marshal(map[string]any{"type": "object", "properties": properties, "required": required})
}
