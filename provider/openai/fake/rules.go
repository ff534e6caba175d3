package fake

import (
	"encoding/json"
	"fmt"
	"mime"
	"net/http"
	"regexp"
	"strings"
)

// Request is a client's request.
type Request struct {
	Model               string          `json:"model"`
	Messages            []Message       `json:"messages"`
	Tools               []Tool          `json:"tools"`
	ResponseFormat      *ResponseFormat `json:"response_format"`
	Stream              bool            `json:"stream"`
	StreamOptions       *StreamOptions  `json:"stream_options"`
	MaxTokens           *int            `json:"max_tokens"`
	MaxCompletionTokens *int            `json:"max_completion_tokens"`
	Temperature         *float64        `json:"temperature"`
	Seed                *int64          `json:"seed"`
	ReasoningEffort     string          `json:"reasoning_effort"`
	ParallelToolCalls   *bool           `json:"parallel_tool_calls"`
	ToolChoice          json.RawMessage `json:"tool_choice"`
	TopP                *float64        `json:"top_p"`

	Header http.Header `json:"-"`
}

// Message is one message of a request.
type Message struct {
	Role       string     `json:"role"`
	Content    *string    `json:"content"`
	Name       string     `json:"name"`
	ToolCalls  []ToolCall `json:"tool_calls"`
	ToolCallID string     `json:"tool_call_id"`
}

// Text returns the content, or an empty string.
func (m Message) Text() string {
	if m.Content == nil {
		return ""
	}
	return *m.Content
}

// ToolCall is a call in an assistant message.
type ToolCall struct {
	ID       string `json:"id"`
	Type     string `json:"type"`
	Function struct {
		Name      string `json:"name"`
		Arguments string `json:"arguments"`
	} `json:"function"`
}

// Tool is a tool that the model may call.
type Tool struct {
	Type     string `json:"type"`
	Function struct {
		Name        string          `json:"name"`
		Description string          `json:"description"`
		Parameters  json.RawMessage `json:"parameters"`
		Strict      bool            `json:"strict"`
	} `json:"function"`
}

// ResponseFormat is the requested form of the answer.
type ResponseFormat struct {
	Type       string `json:"type"`
	JSONSchema struct {
		Name        string          `json:"name"`
		Description string          `json:"description"`
		Schema      json.RawMessage `json:"schema"`
		Strict      bool            `json:"strict"`
	} `json:"json_schema"`
}

// StreamOptions are the options of a stream.
type StreamOptions struct {
	IncludeUsage bool `json:"include_usage"`
}

// refusal is the reason for refusing a request, with the vendor's status and code.
type refusal struct {
	status        int
	code, message string
}

func bad(format string, args ...any) *refusal {
	return &refusal{http.StatusBadRequest, "invalid_value", fmt.Sprintf(format, args...)}
}

// checkHTTP checks the headers of a request.
func (s *Server) checkHTTP(r *http.Request) *refusal {
	if r.Method != http.MethodPost {
		return &refusal{http.StatusMethodNotAllowed, "method_not_allowed", r.Method + " is not supported here"}
	}
	want := "/v1/chat/completions"
	if s.APIVersion != "" {
		want = "/openai/deployments/" + s.Model + "/chat/completions"
		if got := r.URL.Query().Get("api-version"); got != s.APIVersion {
			return &refusal{http.StatusNotFound, "404", fmt.Sprintf("api-version is %q", got)}
		}
	}
	if r.URL.Path != want {
		return &refusal{http.StatusNotFound, "404", "unknown path " + r.URL.Path}
	}
	if kind, _, err := mime.ParseMediaType(r.Header.Get("Content-Type")); err != nil || kind != "application/json" {
		return bad("the content type is not application/json")
	}
	return s.checkKey(r)
}

// checkKey checks the key of a request.
func (s *Server) checkKey(r *http.Request) *refusal {
	bearer, key := strings.TrimPrefix(r.Header.Get("Authorization"), "Bearer "), r.Header.Get("Api-Key")
	if s.APIVersion == "" {
		bearer, key = key, bearer // Azure sends the key in another header
	}
	if bearer != "" {
		return bad("two headers carry a key, or the wrong one")
	}
	if key != s.Key {
		return &refusal{http.StatusUnauthorized, "invalid_api_key", "Incorrect API key provided: " + key}
	}
	return nil
}

var (
	name      = regexp.MustCompile(`^[a-zA-Z0-9_-]{1,64}$`)
	callID    = regexp.MustCompile(`^.{1,40}$`)
	whitelist = map[string]bool{"system": true, "developer": true, "user": true, "assistant": true, "tool": true}
)

// check checks the members of a request.
func check(q *Request) *refusal {
	switch {
	case q.Model == "":
		return bad("you must provide a model parameter")
	case len(q.Messages) == 0:
		return bad("messages is empty: expected at least 1")
	case q.StreamOptions != nil && !q.Stream:
		return bad("stream_options is for streams alone")
	case q.MaxTokens != nil && q.MaxCompletionTokens != nil:
		return bad("max_tokens and max_completion_tokens are both set")
	case q.MaxTokens != nil && *q.MaxTokens < 1, q.MaxCompletionTokens != nil && *q.MaxCompletionTokens < 1:
		return bad("the bound on tokens is below 1")
	case q.Temperature != nil && (*q.Temperature < 0 || *q.Temperature > 2):
		return bad("temperature is %g: expected 0 to 2", *q.Temperature)
	}
	if f := q.ResponseFormat; f != nil {
		if f.Type != "json_schema" || !name.MatchString(f.JSONSchema.Name) || !object(f.JSONSchema.Schema) {
			return bad("response_format is not a json_schema with a name and a schema")
		}
	}
	if q.Tools != nil && len(q.Tools) == 0 {
		return bad("tools is empty: expected at least 1 or none at all")
	}
	seen := map[string]bool{}
	for i, t := range q.Tools {
		var schema struct{ Type string }
		switch {
		case t.Type != "function":
			return bad("tools.%d.type is %q", i, t.Type)
		case !name.MatchString(t.Function.Name) || seen[t.Function.Name]:
			return bad("tools.%d.function.name is %q", i, t.Function.Name)
		case !object(t.Function.Parameters) || json.Unmarshal(t.Function.Parameters, &schema) != nil || schema.Type != "object":
			return bad("tools.%d.function.parameters is not a schema of an object", i)
		}
		seen[t.Function.Name] = true
	}
	return checkMessages(q.Messages)
}

// checkMessages checks that no message is empty and that each call is followed by
// its result.
func checkMessages(list []Message) *refusal {
	open := map[string]bool{} // calls of the last assistant message without a result
	for i, m := range list {
		if !whitelist[m.Role] {
			return bad("messages.%d.role is %q", i, m.Role)
		}
		if m.Role != "tool" && len(open) > 0 {
			return bad("messages.%d: an assistant message with 'tool_calls' must be followed by tool messages responding to each 'tool_call_id'", i)
		}
		if m.Content == nil && (m.Role != "assistant" || len(m.ToolCalls) == 0) || m.Content != nil && strings.TrimSpace(*m.Content) == "" {
			return bad("messages.%d.content is empty", i)
		}
		if m.Role != "assistant" && len(m.ToolCalls) > 0 || m.Role != "tool" && m.ToolCallID != "" {
			return bad("messages.%d: a member that belongs to another role", i)
		}
		if m.Role == "tool" {
			if !open[m.ToolCallID] {
				return bad("messages.%d: messages with role 'tool' must be a response to a preceding message with 'tool_calls'", i)
			}
			delete(open, m.ToolCallID)
		}
		for _, c := range m.ToolCalls {
			switch {
			case c.Type != "function" || !callID.MatchString(c.ID) || open[c.ID]:
				return bad("messages.%d: the call %q has a bad type or id", i, c.ID)
			case !name.MatchString(c.Function.Name):
				return bad("messages.%d: the call %q has the name %q", i, c.ID, c.Function.Name)
			case !object([]byte(c.Function.Arguments)):
				return bad("messages.%d: the arguments of the call %q are not a JSON object", i, c.ID)
			}
			open[c.ID] = true
		}
	}
	if len(open) > 0 {
		return bad("the last call has no result")
	}
	return nil
}

// object reports whether b is a JSON object.
func object(b []byte) bool {
	var o map[string]json.RawMessage
	return json.Unmarshal(b, &o) == nil && o != nil
}

// CheckMessages returns what is wrong with a list of messages, or an empty string.
func CheckMessages(list []Message) string {
	if no := checkMessages(list); no != nil {
		return no.message
	}
	return ""
}
