package session

import (
	"slices"

	"github.com/hocketvoice/hocket/conv"
	"github.com/hocketvoice/hocket/port"
)

// toolbox contains the tools for the actions of the flows and those for the calls of the model.
type toolbox struct{ flows, model port.Tool }

// newToolbox returns a toolbox. If model is nil, the model uses the tools of the flows.
func newToolbox(flows, model port.Tool) toolbox {
	if model == nil {
		model = flows
	}
	return toolbox{flows, model}
}

// pick returns the tool that runs a call of the conversation.
func (b toolbox) pick(c *conv.Conversation, id string) port.Tool {
	if isAction(c, id) {
		return b.flows
	}
	return b.model
}

// isAction reports whether a call of the conversation is the action of a flow.
func isAction(c *conv.Conversation, id string) bool {
	return slices.ContainsFunc(c.State().Calls, func(k conv.Call) bool { return k.ID == id && k.Action() })
}

// specOf returns the specification of the tool with a name. ok is false if there is none.
func specOf(tool port.Tool, name string) (spec port.ToolSpec, ok bool) {
	if tool == nil {
		return port.ToolSpec{}, false
	}
	specs := tool.Specs()
	i := slices.IndexFunc(specs, func(s port.ToolSpec) bool { return s.Name == name })
	if i < 0 {
		return port.ToolSpec{}, false
	}
	return specs[i], true
}
