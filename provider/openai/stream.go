package openai

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
)

// chunk is one event of a stream, or the whole answer of a server that does not
// stream: it has message in place of delta. Members that are not here
// (obfuscation, service_tier, Azure's annotations, the text of reasoning) are
// not looked at.
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
	Cached             int // of Prompt, those that the server had read before
	Reasoning          int // of Completion, those that nobody sees
}

// decoder follows one reply. It is used by one goroutine, and reads no clock.
type decoder struct {
	text    strings.Builder // all text so far
	refused bool            // the text is a refusal
	calls   assembler
	finish  string
	model   string
	usage   *usage
	done    bool // the server has said that there is no more
}

// errReported is a failure that the server tells within an answer that began
// well.
type errReported struct{ body []byte }

// Error says that there is one; see serverError for what it is.
func (*errReported) Error() string { return "the server reports an error" }

// take reads the data of one event and returns the text that it adds to the
// reply. An error ends the stream: it is an [errReported], or says what is wrong
// with the event.
func (d *decoder) take(kind string, data []byte) (text string, err error) {
	data = bytes.TrimSpace(data)
	if string(data) == "[DONE]" {
		d.done = true
		return "", nil
	}
	if d.done || len(data) == 0 {
		return "", nil // No op. Something behind the end, or a sign of life.
	}
	var c chunk
	if err := json.Unmarshal(data, &c); err != nil {
		if kind == "error" {
			return "", &errReported{bytes.Clone(data)}
		}
		return "", fmt.Errorf("an event of the stream is no piece of a reply: %w", err)
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
			continue // one answer was asked for
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

// begun says whether anything of the reply has come.
func (d *decoder) begun() bool { return d.text.Len() > 0 || len(d.calls.calls) > 0 }

// complete says whether the reply has come to its end: the server has said so,
// or given the reason.
func (d *decoder) complete() bool { return d.done || d.finish != "" }

// errTooLong is what reading ends with when an answer has more bytes than the
// options allow.
var errTooLong = errors.New("the answer of the server is too long")

// bounded reads at most left bytes, and then fails with errTooLong: io.LimitReader
// would end as if the stream had. It keeps what reading failed with, which a
// parser may take for an unexpected end.
type bounded struct {
	r    io.Reader
	left int
	err  error // nil, or why reading failed; never io.EOF
}

// Read reads.
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
