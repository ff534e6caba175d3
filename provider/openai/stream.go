package openai

import (
	"bytes"
	"encoding/json"
	"fmt"

	"github.com/hocketvoice/hocket/internal/llm"
)

// chunk is one event of a stream, or the whole response of a server that does not
// stream, which has message in place of delta. Other members (obfuscation,
// service_tier, Azure's annotations, reasoning text) are ignored.
type chunk struct {
	Model   string          `json:"model"`
	Choices []choice        `json:"choices"`
	Usage   *usage          `json:"usage"`
	Error   json.RawMessage `json:"error"`
	Object  string          `json:"object"`
}

type choice struct {
	Index        int    `json:"index"`
	Delta        piece  `json:"delta"`
	Message      *piece `json:"message"`
	FinishReason string `json:"finish_reason"`
}

type piece struct {
	Content   string          `json:"content"`
	Refusal   string          `json:"refusal"`
	ToolCalls []llm.CallDelta `json:"tool_calls"`
}

type usage struct {
	PromptTokens     int `json:"prompt_tokens"`
	CompletionTokens int `json:"completion_tokens"`
	PromptDetails    struct {
		CachedTokens int `json:"cached_tokens"`
	} `json:"prompt_tokens_details"`
	CompletionDetails struct {
		ReasoningTokens int `json:"reasoning_tokens"`
	} `json:"completion_tokens_details"`
}

// Take decodes the data of one event.
func (*chat) Take(d *llm.Answer, kind string, data []byte) (text string, err error) {
	data = bytes.TrimSpace(data)
	if string(data) == "[DONE]" {
		d.Done = true
		return "", nil
	}
	if d.Done || len(data) == 0 {
		return "", nil // Ignore data after the end and keep-alives.
	}
	var c chunk
	if err := json.Unmarshal(data, &c); err != nil {
		if kind == "error" {
			return "", &llm.ErrReported{Body: bytes.Clone(data)}
		}
		return "", fmt.Errorf("invalid event in the stream: %w", err)
	}
	if kind == "error" || c.Object == "error" || len(c.Error) > 0 && string(c.Error) != "null" {
		return "", &llm.ErrReported{Body: bytes.Clone(data)}
	}
	if c.Model != "" {
		d.Model = c.Model
	}
	if c.Usage != nil {
		d.Usage = c.Usage.counts()
	}
	for i := range c.Choices {
		if c.Choices[i].Index != 0 {
			continue // only one choice was requested
		}
		t, err := c.Choices[i].take(d)
		if err != nil {
			return "", err
		}
		text += t
	}
	return text, nil
}

// take adds a choice to the answer.
func (c *choice) take(d *llm.Answer) (text string, err error) {
	p := &c.Delta
	if c.Message != nil {
		p = c.Message
	}
	text = p.Content
	if p.Refusal != "" {
		d.Refused = true
		text += p.Refusal
	}
	for _, t := range p.ToolCalls {
		if err := d.Calls.Add(t); err != nil {
			return "", err
		}
	}
	if c.FinishReason != "" {
		d.Finish, d.End = c.FinishReason, ends(c.FinishReason)
	}
	return text, nil
}

// ends returns what a finish reason means.
func ends(reason string) llm.End {
	switch reason {
	case "content_filter":
		return llm.Filtered
	case "error", "abort", "insufficient_system_resource":
		return llm.Aborted
	case "length":
		return llm.Length
	default:
		return llm.Regular
	}
}

// counts returns the tokens in the engine's form.
func (u *usage) counts() *llm.Usage {
	return &llm.Usage{
		Prompt: u.PromptTokens, Completion: u.CompletionTokens,
		Cached: u.PromptDetails.CachedTokens, Reasoning: u.CompletionDetails.ReasoningTokens,
	}
}
