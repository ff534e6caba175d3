package openai

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
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
	Content   string      `json:"content"`
	Refusal   string      `json:"refusal"`
	ToolCalls []callDelta `json:"tool_calls"`
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

// Usage counts tokens.
type Usage struct {
	Prompt, Completion int
	Cached             int // part of Prompt that was in the server's cache
	Reasoning          int // part of Completion that is not visible
}

// decoder decodes one reply. It must be used by one goroutine and does not use a
// clock.
type decoder struct {
	text    strings.Builder // all text so far
	refused bool            // the text is a refusal
	calls   assembler
	finish  string
	model   string
	usage   *usage
	done    bool // the server has sent the end marker
}

// errReported is an error reported by the server within a successful response.
type errReported struct{ body []byte }

// Error returns a fixed text. See serverError for the details.
func (*errReported) Error() string { return "the server reported an error" }

// take decodes the data of one event and returns the text that it adds to the
// reply. An error ends the stream: an [errReported], or a description of the
// invalid event.
func (d *decoder) take(kind string, data []byte) (text string, err error) {
	data = bytes.TrimSpace(data)
	if string(data) == "[DONE]" {
		d.done = true
		return "", nil
	}
	if d.done || len(data) == 0 {
		return "", nil // Ignore data after the end and keep-alives.
	}
	var c chunk
	if err := json.Unmarshal(data, &c); err != nil {
		if kind == "error" {
			return "", &errReported{bytes.Clone(data)}
		}
		return "", fmt.Errorf("invalid event in the stream: %w", err)
	}
	if kind == "error" || c.Object == "error" || len(c.Error) > 0 && string(c.Error) != "null" {
		return "", &errReported{bytes.Clone(data)}
	}
	if c.Model != "" {
		d.model = c.Model
	}
	if c.Usage != nil {
		d.usage = c.Usage
	}
	for i := range c.Choices {
		if c.Choices[i].Index != 0 {
			continue // only one choice was requested
		}
		t, err := d.choice(&c.Choices[i])
		if err != nil {
			return "", err
		}
		text += t
	}
	d.text.WriteString(text)
	return text, nil
}

func (d *decoder) choice(c *choice) (text string, err error) {
	p := &c.Delta
	if c.Message != nil {
		p = c.Message
	}
	text = p.Content
	if p.Refusal != "" {
		d.refused = true
		text += p.Refusal
	}
	for _, t := range p.ToolCalls {
		if err := d.calls.add(t); err != nil {
			return "", err
		}
	}
	if c.FinishReason != "" {
		d.finish = c.FinishReason
	}
	return text, nil
}

// begun reports whether a part of the reply has arrived.
func (d *decoder) begun() bool { return d.text.Len() > 0 || len(d.calls.calls) > 0 }

// complete reports whether the reply is complete: the server has sent the end
// marker or a finish reason.
func (d *decoder) complete() bool { return d.done || d.finish != "" }

// errTooLong reports a response that exceeds the size limit.
var errTooLong = errors.New("the answer of the server is too long")

// bounded reads at most left bytes, and then fails with errTooLong, whereas
// io.LimitReader would return io.EOF. It stores the read error, which a parser may
// report as an unexpected end.
type bounded struct {
	r    io.Reader
	left int
	err  error // nil or the read error; never io.EOF
}

// Read implements [io.Reader].
func (b *bounded) Read(p []byte) (n int, err error) {
	if b.left <= 0 {
		err = errTooLong
	} else {
		n, err = b.r.Read(p[:min(len(p), b.left)])
		b.left -= n
	}
	if err != nil && !errors.Is(err, io.EOF) {
		b.err = err
	}
	return n, err
}
