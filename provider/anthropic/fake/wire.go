package fake

import (
	"encoding/json"
	"net/http"
	"regexp"
	"strings"

	"github.com/hocketvoice/hocket/internal/fakes"
)

// New returns the API as a server, at /v1/messages.
func New(key string) *fakes.Mind { return &fakes.Mind{Wire: wire{}, Key: key} }

type wire struct{}

// Models returns the list of models.
func (wire) Models() (path, body string) {
	return "/v1/models", `{"data":[{"type":"model","id":"fake-1","display_name":"Fake 1","created_at":"2026-01-01T00:00:00Z"}],"has_more":false,"first_id":"fake-1","last_id":"fake-1"}`
}

type request struct {
	Model         string          `json:"model"`
	MaxTokens     *int            `json:"max_tokens"`
	Messages      []message       `json:"messages"`
	System        json.RawMessage `json:"system"`
	Tools         []tool          `json:"tools"`
	ToolChoice    *choice         `json:"tool_choice"`
	Stream        bool            `json:"stream"`
	StopSequences []string        `json:"stop_sequences"`
	Metadata      json.RawMessage `json:"metadata"`
	Thinking      json.RawMessage `json:"thinking"`
}

type message struct {
	Role    string          `json:"role"`
	Content json.RawMessage `json:"content"` // a text or blocks
}

type block struct {
	Type         string          `json:"type"`
	Text         string          `json:"text"`
	ID           string          `json:"id"`
	Name         string          `json:"name"`
	Input        json.RawMessage `json:"input"`
	ToolUseID    string          `json:"tool_use_id"`
	Content      json.RawMessage `json:"content"` // a text or blocks
	IsError      bool            `json:"is_error"`
	CacheControl json.RawMessage `json:"cache_control"`
}

type tool struct {
	Type         string          `json:"type"`
	Name         string          `json:"name"`
	Description  string          `json:"description"`
	InputSchema  json.RawMessage `json:"input_schema"`
	Strict       bool            `json:"strict"`
	CacheControl json.RawMessage `json:"cache_control"`
}

type choice struct {
	Type            string `json:"type"`
	Name            string `json:"name"`
	DisableParallel bool   `json:"disable_parallel_tool_use"`
}

var (
	toolName = regexp.MustCompile(`^[a-zA-Z0-9_-]{1,128}$`)
	callID   = regexp.MustCompile(`^[a-zA-Z0-9_-]+$`)
)

// Check reads a request.
func (wire) Check(r *http.Request, key string, body []byte) (q fakes.MindRequest, no *fakes.Refusal) {
	own, bearer := r.Header.Get("X-Api-Key"), r.Header.Get("Authorization")
	if own == "" {
		own, bearer = strings.TrimPrefix(bearer, "Bearer "), ""
	}
	switch {
	case r.Header.Get("Anthropic-Version") != "2026-10-21":
		return q, fakes.Refuse("anthropic-version: header is required")
	case bearer != "":
		return q, fakes.Refuse("two headers carry a key")
	case own != key:
		return q, &fakes.Refusal{Status: http.StatusUnauthorized, Message: "invalid x-api-key"}
	case body == nil:
		return q, nil
	case r.URL.Path != "/v1/messages":
		return q, &fakes.Refusal{Status: http.StatusNotFound, Message: "Not found"}
	}
	var in request
	if no := fakes.Members(body, &in); no != nil {
		return q, no
	}
	switch {
	case in.Model == "":
		return q, fakes.Refuse("model: Field required")
	case in.MaxTokens == nil || *in.MaxTokens < 1:
		return q, fakes.Refuse("max_tokens: Field required")
	case len(in.Messages) == 0:
		return q, fakes.Refuse("messages: at least one message is required")
	case !in.Stream:
		return q, fakes.Refuse("the fake streams, and stream is not set")
	}
	q = fakes.MindRequest{Model: in.Model, MaxTokens: *in.MaxTokens}
	if no := in.tools(&q); no != nil {
		return q, no
	}
	if len(in.System) > 0 {
		text, _, no := blocks(in.System)
		if no != nil || text == "" {
			return q, fakes.Refuse("system: text content blocks must be non-empty")
		}
		q.Said = append(q.Said, fakes.MindSaid{Role: "system", Text: text})
	}
	no = in.messages(&q)
	return q, no
}

// tools checks the tools.
func (in *request) tools(q *fakes.MindRequest) *fakes.Refusal {
	seen := map[string]bool{}
	for i, t := range in.Tools {
		var schema struct{ Type string }
		switch {
		case t.Type != "" && t.Type != "custom":
			return fakes.Refuse("tools.%d.type: %q", i, t.Type)
		case !toolName.MatchString(t.Name):
			return fakes.Refuse("tools.%d.name: String should match pattern", i)
		case seen[t.Name]:
			return fakes.Refuse("tools: Tool names must be unique.")
		case json.Unmarshal(t.InputSchema, &schema) != nil || schema.Type != "object":
			return fakes.Refuse("tools.%d.input_schema.type: Input should be 'object'", i)
		}
		seen[t.Name] = true
		q.Tools = append(q.Tools, t.Name)
	}
	c := in.ToolChoice
	switch {
	case c == nil:
	case len(in.Tools) == 0:
		return fakes.Refuse("tool_choice may only be specified while providing tools")
	case c.Type == "tool" && !seen[c.Name]:
		return fakes.Refuse("tool_choice.name: Tool '%s' not found in provided tools", c.Name)
	case c.Type != "auto" && c.Type != "any" && c.Type != "none" && c.Type != "tool":
		return fakes.Refuse("tool_choice.type: %q", c.Type)
	case c.Type == "tool":
		q.Form, q.JSON = c.Name, true
	}
	return nil
}

// messages checks the order of the messages and the results of calls.
func (in *request) messages(q *fakes.MindRequest) *fakes.Refusal {
	open, used := map[string]bool{}, map[string]bool{}
	for i, m := range in.Messages {
		want := [2]string{"user", "assistant"}[i%2]
		if m.Role != want {
			return fakes.Refuse("messages.%d: roles must alternate between \"user\" and \"assistant\", beginning with \"user\"", i)
		}
		text, list, no := blocks(m.Content)
		if no != nil {
			return no
		}
		if text != "" {
			list = []block{{Type: "text", Text: text}}
		}
		results := true
		for j, b := range list {
			results = results && b.Type == "tool_result"
			switch {
			case b.Type == "text":
				if strings.TrimSpace(b.Text) == "" {
					return fakes.Refuse("messages: text content blocks must contain non-whitespace text")
				}
				if m.Role == "user" && len(open) > 0 {
					return fakes.Refuse("messages.%d: `tool_use` ids were found without `tool_result` blocks immediately after", i)
				}
				q.Said = append(q.Said, fakes.MindSaid{Role: m.Role, Text: b.Text})
			case b.Type == "tool_use" && m.Role == "assistant":
				if !callID.MatchString(b.ID) || used[b.ID] || !toolName.MatchString(b.Name) || !fakes.IsObject(b.Input) {
					return fakes.Refuse("messages.%d.content.%d: a tool_use with a bad id, name or input, or an id that is not unique", i, j)
				}
				open[b.ID], used[b.ID] = true, true
				q.Said = append(q.Said, fakes.MindSaid{Role: "call", CallID: b.ID, Name: b.Name, Arguments: string(b.Input)})
			case b.Type == "tool_result" && m.Role == "user":
				if !open[b.ToolUseID] || !results {
					return fakes.Refuse("messages.%d.content.%d: unexpected `tool_use_id`, or a result behind words", i, j)
				}
				delete(open, b.ToolUseID)
				text, list, no := blocks(b.Content)
				if no != nil {
					return no
				}
				for _, b := range list {
					text += b.Text
				}
				q.Said = append(q.Said, fakes.MindSaid{Role: "tool", Text: text, CallID: b.ToolUseID})
			default:
				return fakes.Refuse("messages.%d.content.%d.type: %q of the role %s", i, j, b.Type, m.Role)
			}
		}
	}
	if len(open) > 0 || in.Messages[len(in.Messages)-1].Role != "user" {
		return fakes.Refuse("messages: the last message must be the user's, with the results of all calls")
	}
	return nil
}

// blocks reads a text or a list of blocks that is not empty.
func blocks(b json.RawMessage) (text string, list []block, no *fakes.Refusal) {
	if json.Unmarshal(b, &text) == nil {
		if strings.TrimSpace(text) == "" {
			return "", nil, fakes.Refuse("content: must not be empty")
		}
		return text, nil, nil
	}
	if no := fakes.Members(b, &list); no != nil {
		return "", nil, no
	}
	if len(list) == 0 {
		return "", nil, fakes.Refuse("content: must not be empty")
	}
	all := true
	for _, b := range list {
		all = all && b.Type == "text"
	}
	if all && len(list) == 1 {
		return list[0].Text, nil, nil
	}
	return "", list, nil
}

// kinds are the types of errors, by status.
var kinds = map[int]string{
	400: "invalid_request_error", 401: "authentication_error", 403: "permission_error", 404: "not_found_error",
	413: "request_too_large", 429: "rate_limit_error", 500: "api_error", 504: "timeout_error", 529: "overloaded_error",
}

// Failure returns the body of an error.
func (wire) Failure(status int, message string) string {
	kind := kinds[status]
	if kind == "" {
		kind = "api_error"
	}
	return fakes.JSON(map[string]any{
		"type": "error", "error": map[string]string{"type": kind, "message": message}, "request_id": "req_fake",
	})
}

type object = map[string]any

// Events returns the events of an answer.
func (w wire) Events(q fakes.MindRequest, a fakes.MindAnswer) (list []fakes.MindEvent) {
	add := func(kind string, v object) {
		v["type"] = kind
		list = append(list, fakes.MindEvent{Kind: kind, Data: fakes.JSON(v)})
	}
	usage := object{
		"input_tokens": fakes.UsedPrompt - fakes.UsedCached, "cache_read_input_tokens": fakes.UsedCached, "cache_creation_input_tokens": 0, "output_tokens": 1,
	}
	add("message_start", object{"message": object{
		"id": "msg_fake", "type": "message", "role": "assistant", "model": q.Model, "content": []any{},
		"stop_reason": nil, "stop_sequence": nil, "usage": usage,
	}})
	index := 0
	content := func(start object, kind, member string, pieces []string) {
		add("content_block_start", object{"index": index, "content_block": start})
		if index == 0 {
			add("ping", object{})
		}
		for _, p := range pieces {
			add("content_block_delta", object{"index": index, "delta": object{"type": kind, member: p}})
		}
		add("content_block_stop", object{"index": index})
		index++
	}
	stop := "end_turn"
	switch {
	case q.JSON:
		stop = "tool_use"
		content(object{"type": "tool_use", "id": "toolu_form", "name": q.Form, "input": object{}}, "input_json_delta", "partial_json", a.Said)
	case len(a.Said) > 0:
		content(object{"type": "text", "text": ""}, "text_delta", "text", a.Said)
	}
	if a.Broken != 0 {
		return append(list, fakes.MindEvent{Kind: "error", Data: w.Failure(a.Broken, a.Message)})
	}
	for _, c := range a.Calls {
		stop = "tool_use"
		content(object{"type": "tool_use", "id": c.ID, "name": c.Name, "input": object{}}, "input_json_delta", "partial_json", fakes.Halves(c.Arguments, a.Whole))
	}
	switch {
	case a.Length:
		stop = "max_tokens"
	case a.Filtered:
		stop = "refusal"
	}
	add("message_delta", object{"delta": object{"stop_reason": stop, "stop_sequence": nil}, "usage": object{"output_tokens": fakes.UsedCompletion}})
	add("message_stop", object{})
	return list
}
