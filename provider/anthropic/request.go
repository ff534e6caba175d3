package anthropic

import (
	"encoding/json"
	"fmt"

	sdk "github.com/anthropics/anthropic-sdk-go/v2"
	"github.com/anthropics/anthropic-sdk-go/v2/packages/param"

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
	q := sdk.MessageNewParams{Model: w.o.Model, MaxTokens: int64(w.o.MaxTokens)}
	turns, err := llm.Turns(r)
	if err != nil {
		return nil, err
	}
	if turns[0].Role == llm.System {
		// The instructions and tools are the same in each request: the server keeps them.
		q.System = []sdk.TextBlockParam{{Text: turns[0].Text, CacheControl: sdk.NewCacheControlEphemeralParam()}}
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
		u := sdk.ToolUnionParamOfTool(param.Override[sdk.ToolInputSchemaParam](schema), t.Name)
		if t.Description != "" {
			u.OfTool.Description = param.NewOpt(t.Description)
		}
		if r.Form != nil && r.Form.Strict {
			u.OfTool.Strict = param.NewOpt(true)
		}
		q.Tools = append(q.Tools, u)
	}
	if len(q.Tools) > 0 {
		q.ToolChoice = toolChoice(r.ToolChoice)
	}
	b, err := json.Marshal(q)
	if err != nil {
		return nil, err
	}
	b = append(b[:len(b)-1], `,"stream":true`...)
	return append(append(b, w.extra...), '}'), nil
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

func toolChoice(choice string) sdk.ToolChoiceUnionParam {
	switch choice {
	case "":
		return sdk.ToolChoiceUnionParam{}
	case "none":
		return sdk.ToolChoiceUnionParam{OfNone: &sdk.ToolChoiceNoneParam{}}
	case "required":
		return sdk.ToolChoiceUnionParam{OfAny: &sdk.ToolChoiceAnyParam{}}
	default:
		return sdk.ToolChoiceParamOfTool(choice)
	}
}

// messages converts turns to messages, which begin and end with the user and alternate. A result
// is the user's, directly after its call. Words of the system between others are the user's too,
// since not all models take them as such.
func messages(turns []llm.Turn) []sdk.MessageParam {
	var list [][]sdk.ContentBlockParamUnion // the user's at even positions
	add := func(assistant int, block sdk.ContentBlockParamUnion) {
		if len(list) == 0 && assistant == 1 {
			list = append(list, []sdk.ContentBlockParamUnion{sdk.NewTextBlock(opening)})
		}
		if len(list)%2 == assistant {
			list = append(list, nil)
		}
		last := &list[len(list)-1]
		*last = append(*last, block)
	}
	for _, t := range turns {
		switch t.Role {
		case llm.System:
			add(0, sdk.NewTextBlock("<system>\n"+t.Text+"\n</system>"))
		case llm.User:
			add(0, sdk.NewTextBlock(t.Text))
		default:
			if t.Text != "" {
				add(1, sdk.NewTextBlock(t.Text))
			}
			if c := t.Call; c != nil {
				add(1, sdk.NewToolUseBlock(c.ID, json.RawMessage(c.Arguments), c.Name))
				add(0, sdk.NewToolResultBlock(c.ID, c.Result, false))
			}
		}
	}
	switch {
	case len(list) == 0:
		add(0, sdk.NewTextBlock(opening))
	case len(list)%2 == 0:
		add(0, sdk.NewTextBlock(goOn))
	}
	all := make([]sdk.MessageParam, len(list))
	for i, blocks := range list {
		all[i] = sdk.NewUserMessage(blocks...)
		if i%2 == 1 {
			all[i] = sdk.NewAssistantMessage(blocks...)
		}
	}
	return all
}
