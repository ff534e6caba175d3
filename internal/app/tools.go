package app

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/hocketvoice/hocket/dialog/agent"

	"github.com/hocketvoice/hocket/conv"
	"github.com/hocketvoice/hocket/examples/airline"
	"github.com/hocketvoice/hocket/internal/config"
	"github.com/hocketvoice/hocket/internal/settings"
	"github.com/hocketvoice/hocket/internal/toolset"
	"github.com/hocketvoice/hocket/port"
	"github.com/hocketvoice/hocket/tool/a2a"
	httptool "github.com/hocketvoice/hocket/tool/http"
	"github.com/hocketvoice/hocket/tool/mcp"
	"github.com/hocketvoice/hocket/tool/transfer"
)

// Tools are the tools of a config, which all agents share: MCP servers, HTTP tools,
// programs and remote agents. It is safe for concurrent use.
type Tools struct {
	servers *mcp.Tools           // nil if there are none
	agents  *a2a.Agents          // nil if there are none
	kinds   map[string]port.Tool // by the kind of an [agent.ToolUse]
	common  *toolset.Set
	models  models
	model   port.Model // summarizes long results; nil if there is none
	limits  conv.Limits

	mu      sync.Mutex     // guards airline
	airline *airline.Local // nil until an agent needs it
}

// AirlineURL is the environment variable with the URL for the actions of
// examples/flights. If it is not set, the program itself serves the airline on the
// loopback interface.
const AirlineURL = "HOCKET_AIRLINE_URL"

// ToolOptions are the tools of a config and the options for summaries of their results.
type ToolOptions struct {
	config.Tools
	// Model summarizes long results; zero disables summaries.
	Model config.Model
	// Editor are the tools of the editor around this program; nil if there is none.
	Editor port.Tool
	// Limits are the limits of the machine; zero fields select its defaults.
	Limits conv.Limits
}

// OpenTools opens the tools of a config. The caller must call Close.
func OpenTools(ctx context.Context, c ToolOptions) (_ *Tools, err error) {
	t := &Tools{limits: c.Limits}
	defer func() {
		if err != nil {
			err = errors.Join(err, t.Close())
		}
	}()
	model, err := t.models.get(c.Model)
	if err != nil {
		return nil, err
	}
	t.model = model.port()
	web, err := httpTools(c.HTTP)
	if err != nil {
		return nil, err
	}
	programs, err := commandTools(c.Command)
	if err != nil {
		return nil, err
	}
	forward, err := transfer.New(transferOptions(c.Transfer))
	if err != nil {
		return nil, fmt.Errorf("tools.%w", err)
	}
	t.kinds = map[string]port.Tool{"command": programs, "transfer": forward}
	parts := []toolset.Part{
		{From: "the config's HTTP tools", Tool: web}, {From: "the config's commands", Tool: programs}, {From: "the config's transfers", Tool: forward}, {From: "the editor", Tool: c.Editor},
	}
	if len(c.MCP) > 0 {
		if t.servers, err = mcp.Open(ctx, mcp.Options{Servers: mcpServers(c.MCP)}); err != nil {
			return nil, err
		}
		parts = append(parts, toolset.Part{From: "the MCP servers", Tool: t.servers})
	}
	if len(c.A2A) > 0 {
		if t.agents, err = a2a.Open(ctx, a2aOptions(c.A2A)); err != nil {
			return nil, err
		}
		t.kinds["a2a"] = t.agents
		parts = append(parts, toolset.Part{From: "the agents elsewhere", Tool: t.agents})
	}
	if t.common, err = toolset.Combine(parts...); err != nil {
		return nil, err
	}
	return t, nil
}

// Close closes the tools. No conversation may use them any longer.
func (t *Tools) Close() error {
	t.mu.Lock()
	defer t.mu.Unlock()
	errs := []error{t.models.close()}
	if t.airline != nil {
		errs = append(errs, t.airline.Close())
	}
	if t.agents != nil {
		errs = append(errs, t.agents.Close())
	}
	if t.servers != nil {
		errs = append(errs, t.servers.Close())
	}
	return errors.Join(errs...)
}

// environment returns the function with which an agent's actions look up environment
// variables. If the agent needs the airline and its URL is not set, environment starts
// it.
func (t *Tools) environment(ctx context.Context, def *settings.Agent) (func(string) (string, bool), error) {
	needed := slices.ContainsFunc(def.Actions(), func(a agent.Action) bool {
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

// For returns the tools of an agent: those that its flows call, and those that a model
// may call, whose long results are summarized. If the agent's files have no list of
// tools, a model may call the agent's own actions; otherwise those actions and tools of
// the config that are listed.
func (t *Tools) For(ctx context.Context, agent *settings.Agent) (flows, model port.Tool, err error) {
	getenv, err := t.environment(ctx, agent)
	if err != nil {
		return nil, nil, err
	}
	web, err := httptool.New(httptool.Options{Actions: agent.Actions(), Getenv: getenv})
	if err != nil {
		return nil, nil, err
	}
	served, err := mcp.NewActions(t.servers, agent.Actions())
	if err != nil {
		return nil, nil, err
	}
	parts := []toolset.Part{{From: "the agent's http actions", Tool: web}, {From: "the agent's mcp actions", Tool: served}}
	for _, kind := range []string{"command", "a2a", "transfer"} {
		delegated, err := toolset.NewActions(kind, t.kinds[kind], agent.Actions())
		if err != nil {
			return nil, nil, err
		}
		parts = append(parts, toolset.Part{From: "the agent's " + kind + " actions", Tool: delegated})
	}
	actions, err := toolset.Combine(parts...)
	if err != nil {
		return nil, nil, err
	}
	names, listed := agent.Tools()
	flows, model, err = toolset.Divide(toolset.Division{
		Definition: agent.Actions(), Actions: actions, Common: toolset.Part{From: "the config's tools", Tool: t.common},
		Names: names, Listed: listed,
	})
	if err != nil {
		return nil, nil, err
	}
	return flows, toolset.SummarizeWithin(model, t.model, t.limits), nil
}

// mcpServers converts the MCP servers of a config.
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
