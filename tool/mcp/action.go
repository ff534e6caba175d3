package mcp

import (
	"github.com/hocketvoice/hocket/dialog/agent"
	"github.com/hocketvoice/hocket/internal/toolset"
)

// NewActions returns a tool for the actions of an agent's flows that refer to an
// MCP server. Other actions are ignored. It returns an error if an action refers to
// an unknown server or tool. tools may be nil if no server is configured.
func NewActions(tools *Tools, actions []agent.Action) (*toolset.Actions, error) {
	if tools == nil {
		tools = &Tools{}
	}
	return toolset.ActionsBy(tools, actions, func(a *agent.Action) (*toolset.Use, error) {
		if a.MCP == nil {
			return nil, nil
		}
		_, t, err := tools.find(a.MCP.Server, a.MCP.Tool)
		if err != nil {
			return nil, err
		}
		return &toolset.Use{Spec: t.spec, Long: a.Long || t.spec.Long, Outputs: a.MCP.Outputs}, nil
	})
}
