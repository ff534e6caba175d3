package openai

import (
	"bytes"
	"encoding/json"
	"fmt"

	"github.com/hocketvoice/hocket/internal/llm"
	"github.com/hocketvoice/hocket/port"
)

// This file has the Responses API: https://platform.openai.com/docs/api-reference/responses.

type responseRequest struct {
	Model           string         `json:"model"`
	Input           []any          `json:"input"` // said, called and result
	Tools           []responseTool `json:"tools,omitempty"`
	ToolChoice      any            `json:"tool_choice,omitempty"`
	Text            *responseText  `json:"text,omitempty"`
	Stream          bool           `json:"stream"`
	Store           bool           `json:"store"` // the server would keep the conversation
	MaxOutputTokens int            `json:"max_output_tokens,omitempty"`
	Temperature     *float64       `json:"temperature,omitempty"`
}

type said struct {
	Role    string `json:"role"`
	Content string `json:"content"`
}

type called struct {
	Type      string `json:"type"`
	CallID    string `json:"call_id"`
	Name      string `json:"name"`
	Arguments string `json:"arguments"`
}

type result struct {
	Type   string `json:"type"`
	CallID string `json:"call_id"`
	Output string `json:"output"`
}

type responseTool struct {
	Type        string          `json:"type"`
	Name        string          `json:"name"`
	Description string          `json:"description,omitempty"`
	Parameters  json.RawMessage `json:"parameters"`
	Strict      bool            `json:"strict"` // by default true, for which most schemas are too free
}

type responseText struct {
	Format struct {
		Type string `json:"type"`
		jsonSchema
	} `json:"format"`
}

// responsesMembers returns the request's members that the package writes itself.
func responsesMembers() []string {
	return []string{
		"model", "input", "instructions", "tools", "stream", "store", "text", "max_output_tokens", "temperature",
		"previous_response_id", "conversation", "background",
	}
}

// responses is the protocol of the Responses API.
type responses struct {
	o     Options
	extra []byte // members appended to every request
}

var _ llm.Wire = (*responses)(nil)

// Body encodes the request.
func (w *responses) Body(r port.Request) ([]byte, error) {
	q := responseRequest{Model: w.o.Model, Stream: true, MaxOutputTokens: w.o.MaxTokens, Temperature: w.o.Temperature}
	turns, err := llm.Turns(r)
	if err != nil {
		return nil, err
	}
	for _, t := range turns {
		if t.Text != "" {
			q.Input = append(q.Input, said{t.Role, t.Text})
		}
		if c := t.Call; c != nil {
			q.Input = append(q.Input, called{"function_call", c.ID, c.Name, c.Arguments}, result{"function_call_output", c.ID, c.Result})
		}
	}
	tools, err := llm.Tools(r.Tools)
	if err != nil {
		return nil, err
	}
	for _, t := range tools {
		q.Tools = append(q.Tools, responseTool{Type: "function", Name: t.Name, Description: t.Description, Parameters: t.Schema})
	}
	if len(q.Tools) > 0 {
		switch c := r.ToolChoice; c {
		case "":
		case "none", "required":
			q.ToolChoice = c
		default:
			q.ToolChoice = map[string]string{"type": "function", "name": c}
		}
	}
	if f := r.Form; f != nil {
		q.Text = &responseText{}
		q.Text.Format.Type = "json_schema"
		q.Text.Format.jsonSchema = jsonSchema{Name: f.Name, Description: f.Description, Schema: f.Schema, Strict: f.Strict}
	}
	return llm.Encode(q, w.extra)
}

// event is one event of a stream. A response that is not streamed has the members of
// responseObject at the top.
type event struct {
	Type        string          `json:"type"`
	Delta       string          `json:"delta"`
	Arguments   string          `json:"arguments"`
	Name        string          `json:"name"`
	OutputIndex int             `json:"output_index"`
	Item        *item           `json:"item"`
	Response    *responseObject `json:"response"`
	Object      string          `json:"object"`
	Error       json.RawMessage `json:"error"`
}

type item struct {
	Type      string `json:"type"`
	CallID    string `json:"call_id"`
	Name      string `json:"name"`
	Arguments string `json:"arguments"`
	Content   []struct {
		Type    string `json:"type"`
		Text    string `json:"text"`
		Refusal string `json:"refusal"`
	} `json:"content"`
}

type responseObject struct {
	Model      string `json:"model"`
	Status     string `json:"status"`
	Output     []item `json:"output"`
	Incomplete *struct {
		Reason string `json:"reason"`
	} `json:"incomplete_details"`
	Usage *struct {
		Input        int `json:"input_tokens"`
		Output       int `json:"output_tokens"`
		InputDetails struct {
			Cached int `json:"cached_tokens"`
		} `json:"input_tokens_details"`
		OutputDetails struct {
			Reasoning int `json:"reasoning_tokens"`
		} `json:"output_tokens_details"`
	} `json:"usage"`
}

// Take decodes one event. Events that add nothing, such as those of reasoning, are ignored.
func (*responses) Take(a *llm.Answer, kind string, data []byte) (text string, err error) {
	data = bytes.TrimSpace(data)
	if a.Done || len(data) == 0 || string(data) == "[DONE]" {
		return "", nil
	}
	var e event
	if err := json.Unmarshal(data, &e); err != nil {
		if kind == "error" {
			return "", &llm.ErrReported{Body: bytes.Clone(data)}
		}
		return "", fmt.Errorf("invalid event in the stream: %w", err)
	}
	switch e.Type {
	case "response.output_text.delta":
		return e.Delta, nil
	case "response.refusal.delta":
		a.Refused = true
		return e.Delta, nil
	case "response.output_item.added":
		if e.Item != nil && e.Item.Type == "function_call" {
			return "", a.Calls.Add(llm.Piece(e.OutputIndex, e.Item.CallID, e.Item.Name, e.Item.Arguments))
		}
	case "response.function_call_arguments.delta":
		return "", a.Calls.Add(llm.Piece(e.OutputIndex, "", "", e.Delta))
	case "response.function_call_arguments.done":
		return "", a.Calls.Fill(llm.Piece(e.OutputIndex, "", e.Name, e.Arguments))
	case "response.output_item.done":
		if e.Item != nil && e.Item.Type == "function_call" {
			return "", a.Calls.Fill(llm.Piece(e.OutputIndex, e.Item.CallID, e.Item.Name, e.Item.Arguments))
		}
	case "response.completed", "response.incomplete":
		if e.Response == nil {
			return "", fmt.Errorf("invalid event in the stream: %s without a response", e.Type)
		}
		return e.Response.take(a)
	case "error", "response.failed":
		return "", &llm.ErrReported{Body: bytes.Clone(data)}
	case "":
		return whole(a, &e, data)
	}
	return "", nil
}

// whole takes a response that is not streamed.
func whole(a *llm.Answer, e *event, data []byte) (string, error) {
	var o responseObject
	if err := json.Unmarshal(data, &o); err != nil {
		return "", fmt.Errorf("invalid response: %w", err)
	}
	if len(e.Error) > 0 && string(e.Error) != "null" || o.Status == "failed" {
		return "", &llm.ErrReported{Body: bytes.Clone(data)}
	}
	if e.Object != "response" {
		return "", nil // an event of another kind
	}
	return o.take(a)
}

// take ends an answer with the whole response, from which it takes the output if nothing of it
// was streamed.
func (o *responseObject) take(a *llm.Answer) (text string, err error) {
	a.Model = o.Model
	if u := o.Usage; u != nil {
		a.Usage = &llm.Usage{Prompt: u.Input, Completion: u.Output, Cached: u.InputDetails.Cached, Reasoning: u.OutputDetails.Reasoning}
	}
	if !a.Begun() {
		for i, it := range o.Output {
			if it.Type == "function_call" {
				if err := a.Calls.Fill(llm.Piece(i, it.CallID, it.Name, it.Arguments)); err != nil {
					return "", err
				}
			}
			for _, c := range it.Content {
				a.Refused = a.Refused || c.Refusal != ""
				text += c.Text + c.Refusal
			}
		}
	}
	a.Done, a.Finish = true, o.Status
	if o.Incomplete != nil {
		a.Finish = o.Incomplete.Reason
		switch o.Incomplete.Reason {
		case "max_output_tokens", "max_tokens":
			a.End = llm.Length
		case "content_filter":
			a.End = llm.Filtered
		default:
			a.End = llm.Aborted
		}
	}
	return text, nil
}
