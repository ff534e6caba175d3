package google

import (
	"encoding/json"

	"github.com/hocketvoice/hocket/internal/llm"
	"github.com/hocketvoice/hocket/port"
)

// What is said in place of the user where the conversation begins or ends with the agent: a
// request begins and ends with the user.
const (
	opening = "(The conversation begins.)"
	goOn    = "(Go on.)"
)

type request struct {
	Contents   []content   `json:"contents"`
	System     *content    `json:"systemInstruction,omitempty"`
	Tools      []tools     `json:"tools,omitempty"`
	ToolConfig *toolConfig `json:"toolConfig,omitempty"`
	Generation generation  `json:"generationConfig"`
}

type content struct {
	Role  string `json:"role,omitempty"` // "user" or "model"
	Parts []part `json:"parts"`
}

// part is a part of a message; one of its members is set.
type part struct {
	Text      string            `json:"text,omitempty"`
	Thought   bool              `json:"thought,omitempty"`
	Signature string            `json:"thoughtSignature,omitempty"`
	Call      *functionCall     `json:"functionCall,omitempty"`
	Result    *functionResponse `json:"functionResponse,omitempty"`
}

type functionCall struct {
	ID   string          `json:"id,omitempty"`
	Name string          `json:"name"`
	Args json.RawMessage `json:"args,omitempty"`
}

type functionResponse struct {
	ID       string         `json:"id,omitempty"`
	Name     string         `json:"name"`
	Response map[string]any `json:"response"`
}

type tools struct {
	Functions []function `json:"functionDeclarations"`
}

type function struct {
	Name        string          `json:"name"`
	Description string          `json:"description,omitempty"`
	Parameters  json.RawMessage `json:"parametersJsonSchema,omitempty"`
}

type toolConfig struct {
	Calling struct {
		Mode    string   `json:"mode"` // AUTO, ANY or NONE
		Allowed []string `json:"allowedFunctionNames,omitempty"`
	} `json:"functionCallingConfig"`
}

type generation struct {
	MaxTokens   int             `json:"maxOutputTokens,omitempty"`
	Temperature *float64        `json:"temperature,omitempty"`
	MIMEType    string          `json:"responseMimeType,omitempty"`
	Schema      json.RawMessage `json:"responseJsonSchema,omitempty"`
	Thinking    *thinking       `json:"thinkingConfig,omitempty"`
}

type thinking struct {
	Budget int `json:"thinkingBudget"`
}

// wire is the protocol of the Gemini API.
type wire struct {
	o     Options
	extra []byte // members appended to every request
	signatures
}

var _ llm.Wire = (*wire)(nil)

// Body encodes the request.
func (w *wire) Body(r port.Request) ([]byte, error) {
	q := request{Generation: generation{MaxTokens: w.o.MaxTokens, Temperature: w.o.Temperature}}
	if w.o.Thinking != nil {
		q.Generation.Thinking = &thinking{*w.o.Thinking}
	}
	turns, err := llm.Turns(r)
	if err != nil {
		return nil, err
	}
	if turns[0].Role == llm.System {
		q.System = &content{Parts: []part{{Text: turns[0].Text}}}
		turns = turns[1:]
	}
	q.Contents = w.contents(turns)
	list, err := llm.Tools(r.Tools)
	if err != nil {
		return nil, err
	}
	if len(list) > 0 {
		functions := make([]function, len(list))
		for i, t := range list {
			functions[i] = function{t.Name, t.Description, t.Schema}
		}
		q.Tools = []tools{{functions}}
		q.ToolConfig = choice(r.ToolChoice)
	}
	if f := r.Form; f != nil {
		q.Generation.MIMEType, q.Generation.Schema = "application/json", f.Schema
	}
	return llm.Encode(q, w.extra)
}

// functionName returns the name of a call in the history so that it begins with a letter or underscore, as the API requires.
func functionName(name string) string {
	if c := name[0]; c >= '0' && c <= '9' || c == '-' {
		return "_" + name
	}
	return name
}

func choice(name string) *toolConfig {
	var c toolConfig
	switch name {
	case "":
		return nil
	case "none":
		c.Calling.Mode = "NONE"
	case "required":
		c.Calling.Mode = "ANY"
	default:
		c.Calling.Mode, c.Calling.Allowed = "ANY", []string{name}
	}
	return &c
}

// contents converts turns to messages, which begin and end with the user and alternate. A result
// is the user's, directly after its call. Words of the system between others are the user's too,
// since the API has no place for them.
func (w *wire) contents(turns []llm.Turn) []content {
	var list []content
	add := func(role string, p part) {
		if n := len(list); n > 0 && list[n-1].Role == role {
			list[n-1].Parts = append(list[n-1].Parts, p)
			return
		}
		if len(list) == 0 && role == "model" {
			list = append(list, content{"user", []part{{Text: opening}}})
		}
		list = append(list, content{role, []part{p}})
	}
	for _, t := range turns {
		switch t.Role {
		case llm.System:
			add("user", part{Text: "<system>\n" + t.Text + "\n</system>"})
		case llm.User:
			add("user", part{Text: t.Text})
		default:
			if t.Text != "" {
				add("model", part{Text: t.Text})
			}
			if c := t.Call; c != nil {
				name := functionName(c.Name)
				add("model", part{Call: &functionCall{c.ID, name, json.RawMessage(c.Arguments)}, Signature: w.signature(c.ID)})
				add("user", part{Result: &functionResponse{c.ID, name, map[string]any{"output": c.Result}}})
			}
		}
	}
	switch n := len(list); {
	case n == 0:
		list = append(list, content{"user", []part{{Text: opening}}})
	case list[n-1].Role == "model":
		list = append(list, content{"user", []part{{Text: goOn}}})
	}
	return list
}
