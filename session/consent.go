package session

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

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

// pick is the tool that runs a call of the conversation's. It fails where the user
// has to be asked first: a flow asks by itself, a model is told to.
func (b toolbox) pick(c *conv.Conversation, id string, call port.ToolCall) (port.Tool, error) {
	if isAction(c, id) {
		return b.flows, nil
	}
	if spec, ok := specOf(b.model, call.Name); ok && spec.Confirm && !consented(c, call) {
		return nil, putBack(call.Name)
	}
	return b.model, nil
}

// isAction reports whether a call of the conversation's is a flow's.
func isAction(c *conv.Conversation, id string) bool {
	return slices.ContainsFunc(c.State().Calls, func(k conv.Call) bool { return k.ID == id && k.Action })
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

// needsYes is the code of a call that the user has to say yes to first.
const needsYes = "CONFIRMATION_NEEDED"

// consented reports whether the user has said yes to a model's call: the same call
// was made before and put back, and what the user said last, after that, is a yes.
// It reads the history alone, so that a conversation that was restored knows it
// too. A yes is good for one run.
func consented(c *conv.Conversation, call port.ToolCall) bool {
	agent, history := c.Options().Agent, c.History()
	if agent == nil {
		return false
	}
	said := "" // the last words of the user's behind the item looked at
	for i := len(history) - 1; i >= 0; i-- {
		it := &history[i]
		switch {
		case it.Role == conv.RoleUser && said == "":
			said = it.Text
		case it.Role == conv.RoleTool && it.Name == call.Name && sameJSON(it.Arguments, call.Arguments):
			return it.Failed && strings.Contains(it.Text, `"code":"`+needsYes+`"`) && agent.SaidYes(said)
		}
	}
	return false
}

// putBack is the answer to a call that the user has not said yes to.
func putBack(name string) error {
	return &port.Failure{Code: needsYes, Message: fmt.Sprintf(
		"%s needs the user's consent: say what it will do, with its values, ask for a yes or no, and call it again with the same arguments after a yes", name)}
}

// sameJSON reports whether two texts are the same JSON value, or the same text.
func sameJSON(a, b string) bool {
	x, errX := compact(a)
	y, errY := compact(b)
	if errX != nil || errY != nil {
		return a == b
	}
	return bytes.Equal(x, y)
}

// compact is a JSON value in one spelling: its keys in order.
func compact(text string) ([]byte, error) {
	if text == "" {
		text = "{}"
	}
	var v any
	d := json.NewDecoder(strings.NewReader(text))
	d.UseNumber()
	if err := d.Decode(&v); err != nil {
		return nil, err
	}
	return json.Marshal(v)
}
