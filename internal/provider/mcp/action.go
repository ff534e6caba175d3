package mcp

import (
	"context"
	"fmt"
	"slices"

	"github.com/hocketvoice/hocket/conv"
	"github.com/hocketvoice/hocket/dialog"
	"github.com/hocketvoice/hocket/internal/toolset"
	"github.com/hocketvoice/hocket/port"
)

// Actions are the actions of an agent's flows that tools of MCP servers carry
// out. It is safe for concurrent use.
type Actions struct {
	tools *Tools // nil: no server is configured
	byKey map[string]*dialog.Action
	specs []port.ToolSpec
}

var _ port.Tool = (*Actions)(nil)

// NewActions makes the tool of the actions that name a server. The others are left
// alone. It fails where an action names what there is not; tools may be nil.
func NewActions(tools *Tools, actions []dialog.Action) (*Actions, error) {
	if tools == nil {
		tools = &Tools{}
	}
	m := &Actions{tools: tools, byKey: make(map[string]*dialog.Action)}
	for i := range actions {
		a := &actions[i]
		if a.MCP == nil {
			continue
		}
		_, t, err := tools.find(a.MCP.Server, a.MCP.Tool)
		if err != nil {
			return nil, fmt.Errorf("action %s: %w", a.Name, err)
		}
		m.byKey[a.Name] = a
		s := t.spec
		s.Name, s.Confirm, s.Long = a.Name, a.RequiresConfirmation || s.Confirm, a.Long || s.Long
		s.Irreversible = s.Irreversible && !a.Idempotent
		if a.Description != "" {
			s.Description = a.Description
		}
		m.specs = append(m.specs, s)
	}
	return m, nil
}

// Specs are the actions there are.
func (m *Actions) Specs() []port.ToolSpec { return slices.Clone(m.specs) }

// Call runs the tool of an action once and returns its outputs as a JSON object. A
// failure is a [*port.Failure].
func (m *Actions) Call(ctx context.Context, call port.ToolCall, progress func(string)) (string, error) {
	a := m.byKey[call.Name]
	if a == nil {
		return "", toolError("there is no action %q with mcp", call.Name)
	}
	v, t, err := m.tools.find(a.MCP.Server, a.MCP.Tool)
	if err != nil {
		return "", &port.Failure{Code: conv.ClassToolError, Message: fmt.Sprintf("action %s: %v", a.Name, err)}
	}
	text, err := m.tools.call(ctx, v, *t, call, progress)
	if err != nil {
		return "", err
	}
	return toolset.Outputs(a, a.MCP.Outputs, text)
}
