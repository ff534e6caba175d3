package session

import (
	"slices"

	"github.com/hocketvoice/hocket/conv"
	"github.com/hocketvoice/hocket/port"
)

// toolbox is what runs calls: those of the flows' actions, and the model's.
type toolbox struct{ flows, model port.Tool }

// newToolbox: without tools of its own, a model has those of the flows.
func newToolbox(flows, model port.Tool) toolbox {
	if model == nil {
		model = flows
	}
	return toolbox{flows, model}
}

// pick is the tool that runs a call of the conversation's.
func (b toolbox) pick(c *conv.Conversation, id string) port.Tool {
	if isAction(c, id) {
		return b.flows
	}
	return b.model
}

// isAction reports whether a call of the conversation's is a flow's.
func isAction(c *conv.Conversation, id string) bool {
	return slices.ContainsFunc(c.State().Calls, func(k conv.Call) bool { return k.ID == id && k.Action() })
}

// specOf is what is known of a tool, if there is one of the name.
func specOf(tool port.Tool, name string) (port.ToolSpec, bool) {
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
