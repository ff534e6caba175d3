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

// This file: what is asked. The messages are those that the strictest of the
// servers accepts: no message is empty, neighbours of one role are one message,
// and each result stands right behind the one call that it answers.

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

// message is one message. Content is null in one that only calls a tool: some
// servers want the member there, and none wants an empty text.
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

// body writes the request.
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

// messages turns the instructions and the context into messages.
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
			return nil, fmt.Errorf("message %d has the role %q, expected user, agent, tool or system", i, m.Role)
		}
	}
	if len(list) == 0 {
		return nil, errors.New("the request has neither instructions nor messages with words in them")
	}
	return list, nil
}

// addText adds what somebody said. Words of the same role in a row are one
// message, since many a chat template wants the roles to alternate.
func addText(list []message, role, text string) []message {
	if strings.TrimSpace(text) == "" {
		return list // what was cut off before a word was heard
	}
	if n := len(list); n > 0 && list[n-1].Role == role && list[n-1].ToolCalls == nil {
		joined := *list[n-1].Content + "\n" + text
		list[n-1].Content = &joined
		return list
	}
	return append(list, message{Role: role, Content: &text})
}

// addCall adds a call with its result. Each call has an assistant message of its
// own: which calls were made at once is not known, and one that was made with
// the result of another before it must stand behind that. The words that were
// said right before belong to the call.
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

// maxID is the longest id of a call that OpenAI takes back.
const maxID = 40

// wireID is a call's id as servers accept it. A call that has an id has the same
// one in every request, so that a server's cache of the prompt stays good.
func wireID(id string, position int) string {
	if id == "" {
		return fmt.Sprintf("call%05d", position) // nine letters and digits, which Mistral's templates want
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

// wireName is the name of a tool in the history, which may be an action of a
// flow that no model has ever called.
func wireName(name string) string {
	name = badRunes.ReplaceAllString(name, "_")
	if name == "" {
		return "tool"
	}
	return name[:min(len(name), 64)]
}

// wireArguments are arguments that a server can parse: an object. A model's
// mistake is shown to it as one.
func wireArguments(arguments string) string {
	if isObject([]byte(arguments)) {
		return arguments
	}
	if strings.TrimSpace(arguments) == "" {
		return "{}"
	}
	b, err := json.Marshal(map[string]string{"invalid_arguments": arguments})
	if err != nil {
		panic(fmt.Sprintf("openai: a string does not marshal: %v", err))
	}
	return string(b)
}

// isObject says whether a text is one JSON object.
func isObject(b []byte) bool {
	b = bytes.TrimLeft(b, " \t\r\n")
	return len(b) > 0 && b[0] == '{' && json.Valid(b)
}

// toolChoice is which tool is to be called: a word, or one tool's name.
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

// tools describes the tools.
func tools(specs []port.ToolSpec) ([]tool, error) {
	list := make([]tool, 0, len(specs))
	seen := make(map[string]bool, len(specs))
	for _, s := range specs {
		if !goodName.MatchString(s.Name) {
			return nil, fmt.Errorf("the tool %q has a name that models cannot call, expected 1 to 64 letters, digits, _ and -", s.Name)
		}
		if seen[s.Name] {
			return nil, fmt.Errorf("there are two tools %q", s.Name)
		}
		seen[s.Name] = true
		schema := s.Schema
		if len(bytes.TrimSpace(schema)) == 0 {
			schema = []byte(`{"type":"object","properties":{}}`)
		}
		if !isObject(schema) {
			return nil, fmt.Errorf("the schema of the tool %q is no JSON object", s.Name)
		}
		list = append(list, tool{Type: "function", Function: function{Name: s.Name, Description: s.Description, Parameters: schema}})
	}
	return list, nil
}
