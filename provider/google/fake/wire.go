package fake

import (
	"encoding/json"
	"net/http"
	"regexp"
	"strings"

	"github.com/hocketvoice/hocket/internal/fakes"
)

// New returns the API as a server, at /v1beta and /v1.
func New(key string) *fakes.Mind { return &fakes.Mind{Wire: wire{}, Key: key} }

type wire struct{}

// Models returns the list of models.
func (wire) Models() (path, body string) {
	return "/v1beta/models", `{"models":[{"name":"models/fake-1","supportedGenerationMethods":["generateContent"]}]}`
}

type request struct {
	Contents   []content   `json:"contents"`
	System     *content    `json:"systemInstruction"`
	Tools      []tools     `json:"tools"`
	ToolConfig *toolConfig `json:"toolConfig"`
	Generation struct {
		MaxTokens   *int            `json:"maxOutputTokens"`
		Temperature *float64        `json:"temperature"`
		TopP        *float64        `json:"topP"`
		MIMEType    string          `json:"responseMimeType"`
		Schema      json.RawMessage `json:"responseJsonSchema"`
		OldSchema   json.RawMessage `json:"responseSchema"`
		Thinking    json.RawMessage `json:"thinkingConfig"`
	} `json:"generationConfig"`
	Safety json.RawMessage `json:"safetySettings"`
}

type content struct {
	Role  string `json:"role"`
	Parts []part `json:"parts"`
}

type part struct {
	Text      *string         `json:"text"`
	Thought   bool            `json:"thought"`
	Signature string          `json:"thoughtSignature"`
	Call      *call           `json:"functionCall"`
	Result    *functionResult `json:"functionResponse"`
}

type call struct {
	ID   string          `json:"id"`
	Name string          `json:"name"`
	Args json.RawMessage `json:"args"`
}

type functionResult struct {
	ID       string          `json:"id"`
	Name     string          `json:"name"`
	Response json.RawMessage `json:"response"`
}

type tools struct {
	Functions []struct {
		Name        string          `json:"name"`
		Description string          `json:"description"`
		Parameters  json.RawMessage `json:"parametersJsonSchema"`
		SameInSnake json.RawMessage `json:"parameters_json_schema"` // both spellings are read
		OldSchema   json.RawMessage `json:"parameters"`
	} `json:"functionDeclarations"`
}

type toolConfig struct {
	Calling struct {
		Mode    string   `json:"mode"`
		Allowed []string `json:"allowedFunctionNames"`
	} `json:"functionCallingConfig"`
}

var (
	toolName = regexp.MustCompile(`^[a-zA-Z_][a-zA-Z0-9_.:-]{0,127}$`)
	path     = regexp.MustCompile(`^/v1(?:beta)?/models/([^/:]+):(streamGenerateContent|generateContent)$`)
)

// Signature is that of the calls of an answer.
const Signature = "c2lnbmVkIGJ5IHRoZSBmYWtl"

// skip is the documented signature of calls that come from elsewhere.
const skip = "skip_thought_signature_validator"

// Check reads a request.
func (wire) Check(r *http.Request, key string, body []byte) (q fakes.MindRequest, no *fakes.Refusal) {
	switch {
	case r.URL.Query().Has("key"):
		return q, fakes.Refuse("the key is in the URL, which is logged")
	case r.Header.Get("X-Goog-Api-Key") != key:
		return q, fakes.Refuse("API key not valid. Please pass a valid API key.")
	case body == nil:
		return q, nil
	}
	at := path.FindStringSubmatch(r.URL.Path)
	if at == nil {
		return q, &fakes.Refusal{Status: http.StatusNotFound, Message: "models/x is not found for API version v1beta"}
	}
	if at[2] != "streamGenerateContent" || r.URL.Query().Get("alt") != "sse" {
		return q, fakes.Refuse("the fake streams with alt=sse")
	}
	var in request
	if no := fakes.Members(body, &in); no != nil {
		return q, no
	}
	g := in.Generation
	switch {
	case len(in.Contents) == 0:
		return q, fakes.Refuse("* GenerateContentRequest.contents: contents is not specified")
	case g.Temperature != nil && (*g.Temperature < 0 || *g.Temperature > 2):
		return q, fakes.Refuse("temperature: must be in the range [0.0, 2.0]")
	case g.MaxTokens != nil && *g.MaxTokens < 1:
		return q, fakes.Refuse("max_output_tokens must be positive")
	case g.Schema != nil && g.MIMEType != "application/json":
		return q, fakes.Refuse("a response schema requires the type application/json")
	case g.MIMEType != "" && len(in.Tools) > 0:
		return q, fakes.Refuse("Function calling with a response mime type: 'application/json' is unsupported")
	}
	q = fakes.MindRequest{Model: at[1], JSON: g.MIMEType == "application/json"}
	if g.MaxTokens != nil {
		q.MaxTokens = *g.MaxTokens
	}
	if no := in.tools(&q); no != nil {
		return q, no
	}
	if s := in.System; s != nil {
		text, no := s.text()
		if no != nil {
			return q, no
		}
		q.Said = append(q.Said, fakes.MindSaid{Role: "system", Text: text})
	}
	no = in.contents(&q)
	return q, no
}

// text returns the words of a message of words alone.
func (c *content) text() (string, *fakes.Refusal) {
	var b strings.Builder
	for _, p := range c.Parts {
		if p.Text == nil || *p.Text == "" {
			return "", fakes.Refuse("systemInstruction: expected text")
		}
		b.WriteString(*p.Text)
	}
	return b.String(), nil
}

// tools checks the tools.
func (in *request) tools(q *fakes.MindRequest) *fakes.Refusal {
	seen := map[string]bool{}
	for _, t := range in.Tools {
		for i, f := range t.Functions {
			var schema struct{ Type string }
			raw := f.Parameters
			if raw == nil {
				raw = f.SameInSnake
			}
			if raw == nil {
				raw = f.OldSchema
			}
			switch {
			case !toolName.MatchString(f.Name):
				return fakes.Refuse("tools[0].function_declarations[%d].name: Invalid function name", i)
			case seen[f.Name]:
				return fakes.Refuse("Duplicate function declaration found: %s", f.Name)
			case raw != nil && (json.Unmarshal(raw, &schema) != nil || !strings.EqualFold(schema.Type, "object")):
				return fakes.Refuse("tools[0].function_declarations[%d].parameters: only allowed for OBJECT type", i)
			}
			seen[f.Name] = true
			q.Tools = append(q.Tools, f.Name)
		}
	}
	if c := in.ToolConfig; c != nil {
		mode := c.Calling.Mode
		if mode != "AUTO" && mode != "ANY" && mode != "NONE" || mode != "ANY" && c.Calling.Allowed != nil {
			return fakes.Refuse("toolConfig: the mode %q with %v", mode, c.Calling.Allowed)
		}
		for _, name := range c.Calling.Allowed {
			if !seen[name] {
				return fakes.Refuse("toolConfig: the function %q is not declared", name)
			}
			q.Form = name
		}
	}
	return nil
}

// contents checks the order of the messages and the results of calls.
func (in *request) contents(q *fakes.MindRequest) *fakes.Refusal {
	open := map[string]string{} // names of calls by id
	role := "model"
	for i, c := range in.Contents {
		if c.Role != "user" && c.Role != "model" || c.Role == role {
			return fakes.Refuse("contents[%d]: please ensure that multiturn requests alternate between user and model", i)
		}
		role = c.Role
		if len(c.Parts) == 0 {
			return fakes.Refuse("contents[%d].parts: must not be empty", i)
		}
		if role == "model" && len(open) > 0 {
			return fakes.Refuse("contents[%d]: the number of function response parts is not that of the function call parts", i)
		}
		first := true // of calls made at once only the first is signed
		for j, p := range c.Parts {
			switch {
			case p.Call != nil && role == "model":
				id := p.Call.ID
				if _, twice := open[id]; twice || !toolName.MatchString(p.Call.Name) || len(p.Call.Args) > 0 && !fakes.IsObject(p.Call.Args) {
					return fakes.Refuse("contents[%d].parts[%d]: a call with a bad name or arguments", i, j)
				}
				if first && p.Signature != Signature && p.Signature != skip {
					return fakes.Refuse("Function call `%s` is missing a thought_signature in functionCall parts", p.Call.Name)
				}
				open[id], first = p.Call.Name, false
				q.Said = append(q.Said, fakes.MindSaid{Role: "call", CallID: id, Name: p.Call.Name, Arguments: string(p.Call.Args), Text: p.Signature})
			case p.Result != nil && role == "user":
				if name, ok := open[p.Result.ID]; !ok || name != p.Result.Name || !fakes.IsObject(p.Result.Response) {
					return fakes.Refuse("contents[%d].parts[%d]: a function response must follow its call", i, j)
				}
				delete(open, p.Result.ID)
				var said struct{ Output, Result string }
				if json.Unmarshal(p.Result.Response, &said) != nil {
					return fakes.Refuse("contents[%d].parts[%d]: the fake expects output or result", i, j)
				}
				q.Said = append(q.Said, fakes.MindSaid{Role: "tool", Text: said.Output + said.Result, CallID: p.Result.ID})
			case p.Text != nil && *p.Text != "":
				q.Said = append(q.Said, fakes.MindSaid{Role: map[string]string{"user": "user", "model": "assistant"}[role], Text: *p.Text})
			default:
				return fakes.Refuse("contents[%d].parts[%d].data: required oneof field 'data' must have one initialized field", i, j)
			}
		}
	}
	if role != "user" || len(open) > 0 {
		return fakes.Refuse("please ensure that a request ends with a user role, with the responses of all calls")
	}
	return nil
}

// words are the status words of errors, by status.
var words = map[int]string{
	400: "INVALID_ARGUMENT", 401: "UNAUTHENTICATED", 403: "PERMISSION_DENIED", 404: "NOT_FOUND", 429: "RESOURCE_EXHAUSTED",
	500: "INTERNAL", 503: "UNAVAILABLE", 504: "DEADLINE_EXCEEDED", 529: "UNAVAILABLE",
}

// Failure returns the body of an error.
func (wire) Failure(status int, message string) string {
	e := map[string]any{"code": status, "message": message, "status": words[status]}
	switch {
	case strings.HasPrefix(message, "API key "):
		e["details"] = []any{map[string]any{"@type": "type.googleapis.com/google.rpc.ErrorInfo", "reason": "API_KEY_INVALID", "domain": "googleapis.com"}}
	case status == http.StatusTooManyRequests:
		e["details"] = []any{map[string]any{"@type": "type.googleapis.com/google.rpc.RetryInfo", "retryDelay": "7s"}}
	}
	return fakes.JSON(map[string]any{"error": e})
}

type object = map[string]any

// Events returns the events of an answer. The API has no end marker and sends no calls in pieces.
func (w wire) Events(q fakes.MindRequest, a fakes.MindAnswer) (list []fakes.MindEvent) {
	event := func(reason string, parts ...any) {
		c := object{"index": 0}
		if len(parts) > 0 {
			c["content"] = object{"role": "model", "parts": parts}
		}
		e := object{"candidates": []any{c}, "modelVersion": q.Model, "responseId": "fake", "usageMetadata": object{"promptTokenCount": fakes.UsedPrompt}}
		if reason != "" {
			c["finishReason"] = reason
			e["usageMetadata"] = object{
				"promptTokenCount": fakes.UsedPrompt, "cachedContentTokenCount": fakes.UsedCached,
				"candidatesTokenCount": fakes.UsedCompletion - 2, "thoughtsTokenCount": 2, "totalTokenCount": fakes.UsedPrompt + fakes.UsedCompletion,
			}
		}
		list = append(list, fakes.MindEvent{Data: fakes.JSON(e)})
	}
	for _, said := range a.Said {
		event("", object{"text": said})
	}
	if a.Broken != 0 {
		return append(list, fakes.MindEvent{Data: w.Failure(a.Broken, a.Message)})
	}
	var calls []any
	for i, c := range a.Calls {
		p := object{"functionCall": object{"id": c.ID, "name": c.Name, "args": json.RawMessage(c.Arguments)}}
		if i == 0 {
			p["thoughtSignature"] = Signature
		}
		calls = append(calls, p)
	}
	if len(calls) > 0 && a.Whole {
		event("", calls...)
	} else {
		for _, c := range calls {
			event("", c)
		}
	}
	switch {
	case a.Length:
		event("MAX_TOKENS")
	case a.Filtered:
		event("SAFETY")
	default:
		event("STOP", object{"text": ""})
	}
	return list
}
