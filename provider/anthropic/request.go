package anthropic

import (
	"encoding/json"
	"fmt"

	"github.com/hocketvoice/hocket/internal/llm"
	"github.com/hocketvoice/hocket/port"
)

// What is said in place of the user where the conversation begins or ends with the agent: a
// request begins with the user, and an answer to the agent's own words would continue them.
const (
	opening = "(The conversation begins.)"
	goOn    = "(Go on.)"
)

// wire is the protocol of the Messages API.
type wire struct {
	o     Options
	extra []byte // members appended to every request
}

var _ llm.Wire = (*wire)(nil)

// Body encodes the request.
func (w *wire) Body(r port.Request) ([]byte, error) {
	q := request{Model: w.o.Model, MaxTokens: w.o.MaxTokens, Stream: true}
	turns, err := llm.Turns(r)
	if err != nil {
		return nil, err
	}
	if turns[0].Role == llm.System {
		// The instructions and tools are the same in each request: the server keeps them.
		q.System = []block{{Type: "text", Text: turns[0].Text, Cache: &cache{Type: "ephemeral"}}}
		turns = turns[1:]
	}
	q.Messages = messages(turns)
	tools, err := llm.Tools(r.Tools)
	if err != nil {
		return nil, err
	}
	if f := r.Form; f != nil {
		// All models fill in a form that is a tool which they must call.
		tools = []llm.Tool{{Name: f.Name, Description: f.Description, Schema: f.Schema}}
		r.ToolChoice = f.Name
	}
	for _, t := range tools {
		schema, err := objectSchema(t)
		if err != nil {
			return nil, err
		}
		q.Tools = append(q.Tools, tool{
			Name: t.Name, Description: t.Description, Schema: schema, Strict: r.Form != nil && r.Form.Strict,
		})
	}
	if len(q.Tools) > 0 {
		q.ToolChoice = choose(r.ToolChoice)
	}
	b, err := json.Marshal(q)
	if err != nil {
		return nil, err
	}
	return append(append(b[:len(b)-1], w.extra...), '}'), nil
}

// objectSchema returns the schema of a tool, which must say that the arguments are an object.
func objectSchema(t llm.Tool) (json.RawMessage, error) {
	var members map[string]json.RawMessage
	if err := json.Unmarshal(t.Schema, &members); err != nil {
		return nil, err
	}
	switch kind := string(members["type"]); kind {
	case `"object"`:
		return t.Schema, nil
	case "":
		members["type"] = json.RawMessage(`"object"`)
		return json.Marshal(members)
	default:
		return nil, fmt.Errorf("the schema of the tool %q has the type %s: expected \"object\"", t.Name, kind)
	}
}

func choose(tool string) *choice {
	switch tool {
	case "":
		return nil
	case "none":
		return &choice{Type: "none"}
	case "required":
		return &choice{Type: "any"}
	default:
		return &choice{Type: "tool", Name: tool}
	}
}

// messages converts turns to messages, which begin and end with the user and alternate. A result
// is the user's, directly after its call. Words of the system between others are the user's too,
// since not all models take them as such.
func messages(turns []llm.Turn) []message {
	var list [][]block // the user's at even positions
	add := func(assistant int, b block) {
		if len(list) == 0 && assistant == 1 {
			list = append(list, []block{text(opening)})
		}
		if len(list)%2 == assistant {
			list = append(list, nil)
		}
		last := &list[len(list)-1]
		*last = append(*last, b)
	}
	for _, t := range turns {
		switch t.Role {
		case llm.System:
			add(0, text("<system>\n"+t.Text+"\n</system>"))
		case llm.User:
			add(0, text(t.Text))
		default:
			if t.Text != "" {
				add(1, text(t.Text))
			}
			if c := t.Call; c != nil {
				add(1, block{Type: "tool_use", ID: c.ID, Name: c.Name, Input: json.RawMessage(c.Arguments)})
				add(0, result(c.ID, c.Result))
			}
		}
	}
	switch {
	case len(list) == 0:
		add(0, text(opening))
	case len(list)%2 == 0:
		add(0, text(goOn))
	}
	all := make([]message, len(list))
	for i, blocks := range list {
		all[i] = message{[...]string{"user", "assistant"}[i%2], blocks}
	}
	return all
}
