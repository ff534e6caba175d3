package openai

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"strings"

	"github.com/hocketvoice/hocket/port"
)

// This file builds requests. The messages satisfy the strictest servers: no message
// is empty, consecutive messages of the same role are merged, and each tool result
// directly follows its call.

type request struct {
	Model               string          `json:"model"`
	Messages            []message       `json:"messages"`
	Tools               []tool          `json:"tools,omitempty"`
	ToolChoice          any             `json:"tool_choice,omitempty"`
	ResponseFormat      *responseFormat `json:"response_format,omitempty"`
	Stream              bool            `json:"stream"`
	StreamOptions       *streamOptions  `json:"stream_options,omitempty"`
	MaxTokens           int             `json:"max_tokens,omitempty"`
	MaxCompletionTokens int             `json:"max_completion_tokens,omitempty"`
	Temperature         *float64        `json:"temperature,omitempty"`
	Seed                *int64          `json:"seed,omitempty"`
}

// message is one message. Content is null in a message that only calls a tool: some
// servers require the member, and none accepts an empty text.
type message struct {
	Role       string     `json:"role"`
	Content    *string    `json:"content"`
	ToolCalls  []toolCall `json:"tool_calls,omitempty"`
	ToolCallID string     `json:"tool_call_id,omitempty"`
}

type toolCall struct {
	ID       string       `json:"id"`
	Type     string       `json:"type"`
	Function functionCall `json:"function"`
}

type functionCall struct {
	Name      string `json:"name"`
	Arguments string `json:"arguments"`
}

type tool struct {
	Type     string   `json:"type"`
	Function function `json:"function"`
}

type function struct {
	Name        string          `json:"name"`
	Description string          `json:"description,omitempty"`
	Parameters  json.RawMessage `json:"parameters"`
}

type responseFormat struct {
	Type       string     `json:"type"`
	JSONSchema jsonSchema `json:"json_schema"`
}

type jsonSchema struct {
	Name        string          `json:"name"`
	Description string          `json:"description,omitempty"`
	Schema      json.RawMessage `json:"schema"`
	Strict      bool            `json:"strict"`
}

type streamOptions struct {
	IncludeUsage bool `json:"include_usage"`
}

// body encodes the request.
func (m *Model) body(r port.Request, format *responseFormat) ([]byte, error) {
	q := request{Model: m.o.Model, ResponseFormat: format, Stream: true, Temperature: m.o.Temperature, Seed: m.o.Seed}
	var err error
	if q.Messages, err = messages(r); err != nil {
		return nil, err
	}
	if q.Tools, err = tools(r.Tools); err != nil {
		return nil, err
	}
	if len(q.Tools) > 0 {
		q.ToolChoice = toolChoice(r.ToolChoice)
	}
	if !m.o.NoUsage {
		q.StreamOptions = &streamOptions{IncludeUsage: true}
	}
	if m.o.MaxTokensField == FieldMaxCompletionTokens {
		q.MaxCompletionTokens = m.o.MaxTokens
	} else {
		q.MaxTokens = m.o.MaxTokens
	}
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(q); err != nil {
		return nil, err
	}
	body := b.Bytes()[:b.Len()-len("}\n")]
	return append(append(body, m.extra...), '}'), nil
}

// messages converts the instructions and the context to messages.
func messages(r port.Request) ([]message, error) {
	var list []message
	if text := strings.TrimSpace(r.Instructions); text != "" {
		list = addText(list, "system", text)
	}
	for i, m := range r.Messages {
		switch m.Role {
		case "system", "user":
			list = addText(list, m.Role, m.Content)
		case "agent":
			list = addText(list, "assistant", m.Content)
		case "tool":
			list = addCall(list, m, i)
		default:
			return nil, fmt.Errorf("message %d has the role %q: expected user, agent, tool or system", i, m.Role)
		}
	}
	if len(list) == 0 {
		return nil, errors.New("the request has neither instructions nor messages with text")
	}
	return list, nil
}

// addText adds a text. Consecutive texts of the same role are merged into one
// message, since many chat templates require alternating roles.
func addText(list []message, role, text string) []message {
	if strings.TrimSpace(text) == "" {
		return list // cut off before a word was heard
	}
	if n := len(list); n > 0 && list[n-1].Role == role && list[n-1].ToolCalls == nil {
		joined := *list[n-1].Content + "\n" + text
		list[n-1].Content = &joined
		return list
	}
	return append(list, message{Role: role, Content: &text})
}

// addCall adds a call and its result. Each call gets an assistant message of its
// own, because it is not known which calls were made together, and a call that used
// the result of another must follow it. Text said directly before is added to the
// call's message.
func addCall(list []message, m port.Message, position int) []message {
	id := wireID(m.CallID, position)
	call := toolCall{ID: id, Type: "function", Function: functionCall{
		Name: wireName(m.Name), Arguments: wireArguments(m.Arguments),
	}}
	if n := len(list); n > 0 && list[n-1].Role == "assistant" && list[n-1].ToolCalls == nil {
		list[n-1].ToolCalls = []toolCall{call}
	} else {
		list = append(list, message{Role: "assistant", ToolCalls: []toolCall{call}})
	}
	result := m.Content
	if strings.TrimSpace(result) == "" {
		result = "(no output)"
	}
	return append(list, message{Role: "tool", Content: &result, ToolCallID: id})
}

// maxID is the length of the longest call id that OpenAI accepts.
const maxID = 40

// wireID returns a call's id in a form that servers accept. The same call has the
// same id in every request, so that prompt caches remain valid.
func wireID(id string, position int) string {
	if id == "" {
		return fmt.Sprintf("call%05d", position) // nine letters and digits, as Mistral's templates require
	}
	if len(id) <= maxID {
		return id
	}
	sum := sha256.Sum256([]byte(id))
	return hex.EncodeToString(sum[:16])
}

var (
	goodName = regexp.MustCompile(`^[a-zA-Z0-9_-]{1,64}$`)
	badRunes = regexp.MustCompile(`[^a-zA-Z0-9_-]`)
)

// wireName returns the name of a tool in the history, which may be a flow's action
// that is not a tool of the model.
func wireName(name string) string {
	name = badRunes.ReplaceAllString(name, "_")
	if name == "" {
		return "tool"
	}
	return name[:min(len(name), 64)]
}

// wireArguments returns arguments as a JSON object. Invalid arguments of the model
// are wrapped in one.
func wireArguments(arguments string) string {
	if isObject([]byte(arguments)) {
		return arguments
	}
	if strings.TrimSpace(arguments) == "" {
		return "{}"
	}
	b, err := json.Marshal(map[string]string{"invalid_arguments": arguments})
	if err != nil {
		panic(fmt.Sprintf("openai: marshal string: %v", err))
	}
	return string(b)
}

// isObject reports whether b is one JSON object.
func isObject(b []byte) bool {
	b = bytes.TrimLeft(b, " \t\r\n")
	return len(b) > 0 && b[0] == '{' && json.Valid(b)
}

// toolChoice returns the value of tool_choice: a word, or an object with a tool's
// name.
func toolChoice(choice string) any {
	switch choice {
	case "":
		return nil
	case "none", "required":
		return choice
	default:
		return map[string]any{"type": "function", "function": map[string]string{"name": choice}}
	}
}

// tools returns the descriptions of the tools.
func tools(specs []port.ToolSpec) ([]tool, error) {
	list := make([]tool, 0, len(specs))
	seen := make(map[string]bool, len(specs))
	for _, s := range specs {
		if !goodName.MatchString(s.Name) {
			return nil, fmt.Errorf("invalid tool name %q: expected 1 to 64 letters, digits, _ or -", s.Name)
		}
		if seen[s.Name] {
			return nil, fmt.Errorf("duplicate tool name %q", s.Name)
		}
		seen[s.Name] = true
		schema := s.Schema
		if len(bytes.TrimSpace(schema)) == 0 {
			schema = []byte(`{"type":"object","properties":{}}`)
		}
		if !isObject(schema) {
			return nil, fmt.Errorf("the schema of the tool %q is not a JSON object", s.Name)
		}
		list = append(list, tool{Type: "function", Function: function{Name: s.Name, Description: s.Description, Parameters: schema}})
	}
	return list, nil
}
