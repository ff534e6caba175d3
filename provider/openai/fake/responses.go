package fake

import (
	"encoding/json"
	"net/http"
	"regexp"
	"strings"

	"github.com/hocketvoice/hocket/internal/fakes"
)

// NewResponses returns the Responses API as a server, at /v1/responses.
func NewResponses(key string) *fakes.Mind { return &fakes.Mind{Wire: responses{}, Key: key} }

type responses struct{}

// Models returns the list of models.
func (responses) Models() (path, body string) {
	return "/v1/models", `{"object":"list","data":[{"id":"fake-1","object":"model"}]}`
}

type responseRequest struct {
	Model             string            `json:"model"`
	Input             json.RawMessage   `json:"input"` // a text or items
	Instructions      string            `json:"instructions"`
	Tools             []responseTool    `json:"tools"`
	ToolChoice        json.RawMessage   `json:"tool_choice"`
	Text              *responseText     `json:"text"`
	Stream            bool              `json:"stream"`
	Store             *bool             `json:"store"`
	MaxOutputTokens   *int              `json:"max_output_tokens"`
	Temperature       *float64          `json:"temperature"`
	ParallelToolCalls *bool             `json:"parallel_tool_calls"`
	Reasoning         json.RawMessage   `json:"reasoning"`
	Include           []string          `json:"include"`
	Metadata          map[string]string `json:"metadata"`
}

type responseTool struct {
	Type        string          `json:"type"`
	Name        string          `json:"name"`
	Description string          `json:"description"`
	Parameters  json.RawMessage `json:"parameters"`
	Strict      *bool           `json:"strict"`
}

type responseText struct {
	Format struct {
		Type        string          `json:"type"`
		Name        string          `json:"name"`
		Description string          `json:"description"`
		Schema      json.RawMessage `json:"schema"`
		Strict      bool            `json:"strict"`
	} `json:"format"`
}

type responseItem struct {
	Type      string          `json:"type"`
	Role      string          `json:"role"`
	Content   json.RawMessage `json:"content"`
	CallID    string          `json:"call_id"`
	Name      string          `json:"name"`
	Arguments string          `json:"arguments"`
	Output    string          `json:"output"`
}

var responseCall = regexp.MustCompile(`^.{1,64}$`)

// Check reads a request.
func (responses) Check(r *http.Request, key string, body []byte) (q fakes.MindRequest, no *fakes.Refusal) {
	switch {
	case r.Header.Get("Authorization") != "Bearer "+key:
		return q, &fakes.Refusal{Status: http.StatusUnauthorized, Message: "Incorrect API key provided"}
	case body == nil:
		return q, nil
	case r.URL.Path != "/v1/responses":
		return q, &fakes.Refusal{Status: http.StatusNotFound, Message: "Invalid URL"}
	}
	var in responseRequest
	if no := fakes.Members(body, &in); no != nil {
		return q, no
	}
	switch {
	case in.Model == "":
		return q, fakes.Refuse("Missing required parameter: 'model'.")
	case !in.Stream:
		return q, fakes.Refuse("the fake streams, and stream is not set")
	case in.MaxOutputTokens != nil && *in.MaxOutputTokens < 1:
		return q, fakes.Refuse("Invalid 'max_output_tokens': integer below minimum value.")
	case in.Temperature != nil && (*in.Temperature < 0 || *in.Temperature > 2):
		return q, fakes.Refuse("Invalid 'temperature'")
	}
	q = fakes.MindRequest{Model: in.Model}
	if in.MaxOutputTokens != nil {
		q.MaxTokens = *in.MaxOutputTokens
	}
	if f := in.Text; f != nil {
		if f.Format.Type != "json_schema" || !name.MatchString(f.Format.Name) || !object(f.Format.Schema) {
			return q, fakes.Refuse("Invalid 'text.format'")
		}
		q.Form, q.JSON = f.Format.Name, true
	}
	seen := map[string]bool{}
	for i, t := range in.Tools {
		var schema struct {
			Type       string `json:"type"`
			Additional *bool  `json:"additionalProperties"`
		}
		switch {
		case t.Type != "function" || !name.MatchString(t.Name) || seen[t.Name]:
			return q, fakes.Refuse("Invalid 'tools[%d]'", i)
		case json.Unmarshal(t.Parameters, &schema) != nil || schema.Type != "object":
			return q, fakes.Refuse("Invalid schema for function '%s'", t.Name)
		case (t.Strict == nil || *t.Strict) && (schema.Additional == nil || *schema.Additional):
			return q, fakes.Refuse("Invalid schema for function '%s': 'additionalProperties' is required to be supplied and to be false", t.Name)
		}
		seen[t.Name] = true
		q.Tools = append(q.Tools, t.Name)
	}
	var chosen struct{ Type, Name string }
	if json.Unmarshal(in.ToolChoice, &chosen) == nil && chosen.Type != "" {
		if chosen.Type != "function" || !seen[chosen.Name] {
			return q, fakes.Refuse("Tool choice '%s' not found in 'tools' parameter", chosen.Name)
		}
		q.Form = chosen.Name
	}
	if in.Instructions != "" {
		q.Said = append(q.Said, fakes.MindSaid{Role: "system", Text: in.Instructions})
	}
	no = in.items(&q)
	return q, no
}

// items checks the input: each call is followed by its result.
func (in *responseRequest) items(q *fakes.MindRequest) *fakes.Refusal {
	var text string
	if json.Unmarshal(in.Input, &text) == nil && text != "" {
		q.Said = append(q.Said, fakes.MindSaid{Role: "user", Text: text})
		return nil
	}
	var list []responseItem
	if no := fakes.Members(in.Input, &list); no != nil {
		return no
	}
	if len(list) == 0 {
		return fakes.Refuse("Missing required parameter: 'input'.")
	}
	open := map[string]bool{}
	for i, it := range list {
		switch it.Type {
		case "", "message":
			if !whitelist[it.Role] || it.Role == "tool" {
				return fakes.Refuse("Invalid value: '%s'. 'input[%d].role'", it.Role, i)
			}
			if json.Unmarshal(it.Content, &text) != nil || strings.TrimSpace(text) == "" {
				return fakes.Refuse("input[%d].content is empty", i)
			}
			q.Said = append(q.Said, fakes.MindSaid{Role: it.Role, Text: text})
		case "function_call":
			if open[it.CallID] || !responseCall.MatchString(it.CallID) || !name.MatchString(it.Name) || !object([]byte(it.Arguments)) {
				return fakes.Refuse("Invalid 'input[%d]': a call with a bad id, name or arguments", i)
			}
			open[it.CallID] = true
			q.Said = append(q.Said, fakes.MindSaid{Role: "call", CallID: it.CallID, Name: it.Name, Arguments: it.Arguments})
		case "function_call_output":
			if !open[it.CallID] {
				return fakes.Refuse("No tool call found for function call output with call_id %s.", it.CallID)
			}
			delete(open, it.CallID)
			q.Said = append(q.Said, fakes.MindSaid{Role: "tool", Text: it.Output, CallID: it.CallID})
		default:
			return fakes.Refuse("Invalid value: '%s'. 'input[%d].type'", it.Type, i)
		}
	}
	if len(open) > 0 {
		return fakes.Refuse("No tool output found for function call.")
	}
	return nil
}

// responseKinds are the codes of errors, by status.
var responseKinds = map[int]string{401: "invalid_api_key", 429: "rate_limit_exceeded", 529: "rate_limit_exceeded", 500: "server_error", 504: "timeout"}

// Failure returns the body of an error.
func (responses) Failure(status int, message string) string {
	return text(map[string]any{"error": map[string]any{
		"message": message, "type": "invalid_request_error", "param": nil, "code": responseKinds[status],
	}})
}

// Events returns the events of an answer.
func (responses) Events(q fakes.MindRequest, a fakes.MindAnswer) (list []fakes.MindEvent) {
	type m = map[string]any
	n := 0
	add := func(kind string, v m) {
		v["type"], v["sequence_number"] = kind, n
		n++
		list = append(list, fakes.MindEvent{Kind: kind, Data: text(v)})
	}
	response := func(status string) m {
		return m{
			"id": "resp_fake", "object": "response", "created_at": 1700000000, "model": q.Model, "status": status, "output": []any{},
			"parallel_tool_calls": true, "tool_choice": "auto", "tools": []any{}, "error": nil, "incomplete_details": nil,
		}
	}
	add("response.created", m{"response": response("in_progress")})
	add("response.in_progress", m{"response": response("in_progress")})
	index := 0
	var output []any
	if len(a.Said) > 0 {
		whole := strings.Join(a.Said, "")
		part := func(t string) m { return m{"type": "output_text", "text": t, "annotations": []any{}} }
		item := m{"id": "msg_1", "type": "message", "role": "assistant", "status": "in_progress", "content": []any{}}
		at := func() m { return m{"item_id": "msg_1", "output_index": 0, "content_index": 0} }
		add("response.output_item.added", m{"output_index": 0, "item": item})
		v := at()
		v["part"] = part("")
		add("response.content_part.added", v)
		for _, said := range a.Said {
			v := at()
			v["delta"], v["logprobs"], v["obfuscation"] = said, []any{}, "x"
			add("response.output_text.delta", v)
		}
		if a.Broken != 0 {
			add("error", m{"code": responseKinds[a.Broken], "message": a.Message, "param": nil})
			return list
		}
		v = at()
		v["text"], v["logprobs"] = whole, []any{}
		add("response.output_text.done", v)
		v = at()
		v["part"] = part(whole)
		add("response.content_part.done", v)
		done := m{"id": "msg_1", "type": "message", "role": "assistant", "status": "completed", "content": []any{part(whole)}}
		add("response.output_item.done", m{"output_index": 0, "item": done})
		output = append(output, done)
		index++
	}
	for _, c := range a.Calls {
		item := m{"id": "fc_" + c.ID, "type": "function_call", "status": "in_progress", "call_id": c.ID, "name": c.Name, "arguments": ""}
		add("response.output_item.added", m{"output_index": index, "item": item})
		if !a.Whole {
			for _, p := range fakes.Halves(c.Arguments, false) {
				add("response.function_call_arguments.delta", m{"item_id": "fc_" + c.ID, "output_index": index, "delta": p})
			}
		}
		add("response.function_call_arguments.done", m{"item_id": "fc_" + c.ID, "output_index": index, "name": c.Name, "arguments": c.Arguments})
		done := m{"id": "fc_" + c.ID, "type": "function_call", "status": "completed", "call_id": c.ID, "name": c.Name, "arguments": c.Arguments}
		add("response.output_item.done", m{"output_index": index, "item": done})
		output = append(output, done)
		index++
	}
	kind, end := "response.completed", response("completed")
	if a.Length || a.Filtered {
		kind, end = "response.incomplete", response("incomplete")
		end["incomplete_details"] = m{"reason": map[bool]string{true: "max_output_tokens", false: "content_filter"}[a.Length]}
	}
	end["output"] = output
	end["usage"] = m{
		"input_tokens": fakes.UsedPrompt, "input_tokens_details": m{"cached_tokens": fakes.UsedCached},
		"output_tokens": fakes.UsedCompletion, "output_tokens_details": m{"reasoning_tokens": 2}, "total_tokens": fakes.UsedPrompt + fakes.UsedCompletion,
	}
	add(kind, m{"response": end})
	return list
}
