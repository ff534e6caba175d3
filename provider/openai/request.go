package openai

import (
	"encoding/json"

	"github.com/hocketvoice/hocket/internal/llm"
	"github.com/hocketvoice/hocket/port"
)

// This file builds requests of chat completions.

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

// chat is the protocol of chat completions.
type chat struct {
	o     Options
	extra []byte // members appended to every request
}

var _ llm.Wire = (*chat)(nil)

// Body encodes the request.
func (w *chat) Body(r port.Request) ([]byte, error) {
	q := request{Model: w.o.Model, Stream: true, Temperature: w.o.Temperature, Seed: w.o.Seed}
	if f := r.Form; f != nil {
		q.ResponseFormat = &responseFormat{Type: "json_schema", JSONSchema: jsonSchema{
			Name: f.Name, Description: f.Description, Schema: f.Schema, Strict: f.Strict,
		}}
	}
	var err error
	if q.Messages, err = messages(r); err != nil {
		return nil, err
	}
	tools, err := llm.Tools(r.Tools)
	if err != nil {
		return nil, err
	}
	for _, t := range tools {
		q.Tools = append(q.Tools, tool{Type: "function", Function: function{Name: t.Name, Description: t.Description, Parameters: t.Schema}})
	}
	if len(q.Tools) > 0 {
		q.ToolChoice = toolChoice(r.ToolChoice)
	}
	if !w.o.NoUsage {
		q.StreamOptions = &streamOptions{IncludeUsage: true}
	}
	if w.o.MaxTokensField == FieldMaxCompletionTokens {
		q.MaxCompletionTokens = w.o.MaxTokens
	} else {
		q.MaxTokens = w.o.MaxTokens
	}
	return llm.Encode(q, w.extra)
}

// messages converts the instructions and the context to messages. Each tool result directly
// follows its call.
func messages(r port.Request) ([]message, error) {
	turns, err := llm.Turns(r)
	if err != nil {
		return nil, err
	}
	var list []message
	for i := range turns {
		t := &turns[i]
		m := message{Role: t.Role}
		if t.Text != "" {
			m.Content = &t.Text
		}
		if t.Call == nil {
			list = append(list, m)
			continue
		}
		m.ToolCalls = []toolCall{{ID: t.Call.ID, Type: "function", Function: functionCall{Name: t.Call.Name, Arguments: t.Call.Arguments}}}
		list = append(list, m, message{Role: "tool", Content: &t.Call.Result, ToolCallID: t.Call.ID})
	}
	return list, nil
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
