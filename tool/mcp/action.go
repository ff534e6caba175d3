package mcp

import (
	"github.com/hocketvoice/hocket/dialog/agent"
	"github.com/hocketvoice/hocket/internal/toolset"
)

// NewActions makes the tool of the actions of an agent's flows that name a server. The
// others are left alone. It fails where an action names what there is not; tools may be
// nil: no server is configured.
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
