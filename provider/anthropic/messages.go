package anthropic

import "encoding/json"

// What is used of the requests and events of the Messages API.

type request struct {
	Model      string    `json:"model"`
	MaxTokens  int       `json:"max_tokens"`
	System     []block   `json:"system,omitempty"`
	Messages   []message `json:"messages"`
	Tools      []tool    `json:"tools,omitempty"`
	ToolChoice *choice   `json:"tool_choice,omitempty"`
	Stream     bool      `json:"stream"`
}

type message struct {
	Role    string  `json:"role"`
	Content []block `json:"content"`
}

// block is a part of a message: a text, a call of a tool, or its result.
type block struct {
	Type    string          `json:"type"`
	Text    string          `json:"text,omitempty"`
	Cache   *cache          `json:"cache_control,omitempty"`
	ID      string          `json:"id,omitempty"` // of a call
	Name    string          `json:"name,omitempty"`
	Input   json.RawMessage `json:"input,omitempty"`
	Call    string          `json:"tool_use_id,omitempty"` // of a result
	Content []block         `json:"content,omitempty"`
}

func text(s string) block { return block{Type: "text", Text: s} }

// result returns the result of a call. An empty one has no content, since a text must not be empty.
func result(call, s string) block {
	b := block{Type: "tool_result", Call: call}
	if s != "" {
		b.Content = []block{text(s)}
	}
	return b
}

type cache struct {
	Type string `json:"type"`
}

type tool struct {
	Name        string          `json:"name"`
	Description string          `json:"description,omitempty"`
	Schema      json.RawMessage `json:"input_schema"`
	Strict      bool            `json:"strict,omitempty"`
}

type choice struct {
	Type string `json:"type"`
	Name string `json:"name,omitempty"`
}

// event is an event of a stream. Which members it has depends on its type.
type event struct {
	Type    string `json:"type"`
	Message struct {
		Model string `json:"model"`
		Usage usage  `json:"usage"`
	} `json:"message"`
	Index int `json:"index"`
	Block struct {
		Type string `json:"type"`
		Text string `json:"text"`
		ID   string `json:"id"`
		Name string `json:"name"`
	} `json:"content_block"`
	Delta struct {
		Type        string `json:"type"`
		Text        string `json:"text"`
		PartialJSON string `json:"partial_json"`
		StopReason  string `json:"stop_reason"`
	} `json:"delta"`
	Usage usage `json:"usage"`
}

type usage struct {
	Input   int `json:"input_tokens"`
	Read    int `json:"cache_read_input_tokens"`
	Created int `json:"cache_creation_input_tokens"`
	Output  int `json:"output_tokens"`
}
