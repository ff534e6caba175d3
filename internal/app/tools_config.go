package app

import (
	"cmp"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/hocketvoice/hocket/dialog/agent"
	"github.com/hocketvoice/hocket/internal/config"
	"github.com/hocketvoice/hocket/internal/toolset"
	"github.com/hocketvoice/hocket/port"
	"github.com/hocketvoice/hocket/tool/a2a"
	"github.com/hocketvoice/hocket/tool/command"
	httptool "github.com/hocketvoice/hocket/tool/http"
	"github.com/hocketvoice/hocket/tool/transfer"
)

// commandTools returns the command tools of a config.
func commandTools(list []config.CommandTool) (port.Tool, error) {
	o, err := commandOptions(list)
	if err != nil {
		return nil, fmt.Errorf("tools.command: %w", err)
	}
	t, err := command.New(o)
	if err != nil {
		return nil, fmt.Errorf("tools.%w", err)
	}
	return t, nil
}

// commandOptions converts the command tools of a config.
func commandOptions(list []config.CommandTool) (command.Options, error) {
	var o command.Options
	for _, c := range list {
		schema := []byte(c.Schema)
		if c.Schema == "" {
			var err error
			if schema, err = parameters(c.Parameters); err != nil {
				return o, fmt.Errorf("%s: %w", c.Name, err)
			}
		} else if len(c.Parameters) > 0 {
			return o, errors.New(c.Name + ": parameters and schema must not both be set")
		}
		o.Programs = append(o.Programs, command.Program{
			Name: c.Name, Description: c.Description, Command: c.Command, Args: c.Args, Dir: c.Dir, Env: c.Env,
			Stdin: c.Stdin, Output: c.Output, Schema: schema, Quick: c.Quick, Repeatable: c.Repeatable, Confirm: c.Confirm,
			Timeout: time.Duration(c.Timeout),
		})
	}
	return o, nil
}

// a2aOptions converts the remote agents of a config.
func a2aOptions(list []config.A2AAgent) a2a.Options {
	var o a2a.Options
	for _, c := range list {
		o.Agents = append(o.Agents, a2a.Agent{
			Name: c.Name, Description: c.Description, URL: c.URL, KeyEnv: c.KeyEnv, Repeatable: c.Repeatable, Confirm: c.Confirm,
			StartTimeout: time.Duration(c.StartTimeout), Timeout: time.Duration(c.Timeout),
		})
	}
	return o
}

// transferOptions converts the targets of transfers of a config.
func transferOptions(list []config.TransferTarget) transfer.Options {
	var o transfer.Options
	for _, c := range list {
		o.Targets = append(o.Targets, transfer.Target{
			Name: c.Name, Description: c.Description, To: c.To, Allow: c.Allow, From: c.From, Ring: time.Duration(c.Ring), Confirm: c.Confirm,
		})
	}
	return o
}

// httpTools returns the HTTP tools of a config.
func httpTools(list []config.HTTPTool) (port.Tool, error) {
	o, err := httpOptions(list)
	if err != nil {
		return nil, fmt.Errorf("tools.http: %w", err)
	}
	return httptool.New(o)
}

// httpOptions converts the HTTP tools of a config to actions.
func httpOptions(list []config.HTTPTool) (httptool.Options, error) {
	var none httptool.Options
	actions := make([]agent.Action, len(list))
	specs := make(map[string]port.ToolSpec, len(list))
	for i, c := range list {
		if !toolset.IsName(c.Name) {
			return none, fmt.Errorf("tool %d: the name is %q: expected 1 to 64 letters, digits, - or _", i+1, c.Name)
		}
		if _, there := specs[c.Name]; there {
			return none, fmt.Errorf("two tools have the name %q: names must differ", c.Name)
		}
		method := cmp.Or(c.Method, "POST")
		a := agent.Action{
			Name: c.Name, Description: c.Description, Idempotent: c.Repeatable, Declared: true,
			HTTP: &agent.HTTPCall{Method: method, URL: c.URL, Timeout: time.Duration(c.Timeout), Retries: int(c.Retries)},
		}
		if c.KeyEnv != "" {
			a.HTTP.Headers = map[string]string{"Authorization": "Bearer ${" + c.KeyEnv + "}"}
		}
		schema, err := parameters(c.Parameters)
		if err != nil {
			return none, fmt.Errorf("%s: %w", c.Name, err)
		}
		for _, p := range c.Parameters {
			if place := "{" + p.Name + "}"; method == "GET" && !strings.Contains(c.URL, place) {
				a.HTTP.Query = with(a.HTTP.Query, p.Name, place)
			}
			a.Inputs = append(a.Inputs, agent.ActionInput{Name: p.Name, From: p.Name, Optional: p.Optional})
		}
		actions[i] = a
		specs[c.Name] = port.ToolSpec{
			Name: c.Name, Description: c.Description, Schema: schema, Long: c.Long, Confirm: c.Confirm,
			Irreversible: !c.Repeatable && method != "GET",
		}
	}
	return httptool.Options{Actions: actions, Specs: specs}, nil
}

// with sets a key of a map, which it creates if it is nil.
func with(m map[string]string, key, value string) map[string]string {
	if m == nil {
		m = make(map[string]string)
	}
	m[key] = value
	return m
}

// parameters returns the JSON Schema of a tool's arguments.
func parameters(list []config.Parameter) ([]byte, error) {
	arguments := make([]toolset.Argument, len(list))
	for i, p := range list {
		arguments[i] = toolset.Argument(p)
		arguments[i].Type = cmp.Or(p.Type, "string")
	}
	return toolset.ObjectSchema(arguments)
}
