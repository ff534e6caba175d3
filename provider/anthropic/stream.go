package anthropic

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/hocketvoice/hocket/internal/llm"
)

// Take decodes one event. Thoughts, signatures and events of kinds that are not known are
// ignored, as the API asks its clients to.
func (*wire) Take(a *llm.Answer, kind string, data []byte) (text string, err error) {
	data = bytes.TrimSpace(data)
	if a.Done || len(data) == 0 {
		return "", nil
	}
	if kind == "error" {
		return "", &llm.ErrReported{Body: bytes.Clone(data)}
	}
	if !json.Valid(data) {
		return "", errors.New("invalid event in the stream: not JSON")
	}
	var e event
	if err := json.Unmarshal(data, &e); err != nil {
		return "", fmt.Errorf("invalid event in the stream: %w", err)
	}
	switch e.Type {
	case "error":
		return "", &llm.ErrReported{Body: bytes.Clone(data)}
	case "message_start":
		a.Model = e.Message.Model
		u := e.Message.Usage
		count(a, u.Input, u.Read, u.Created, u.Output)
	case "content_block_start":
		b := e.Block
		switch b.Type {
		case "text":
			return b.Text, nil
		case "tool_use":
			if a.Form {
				return "", nil // its input is the answer
			}
			return "", a.Calls.Add(llm.Piece(e.Index, b.ID, b.Name, ""))
		}
	case "content_block_delta":
		switch e.Delta.Type {
		case "text_delta":
			if a.Form {
				return "", nil // said beside the form
			}
			return e.Delta.Text, nil
		case "input_json_delta":
			if a.Form {
				return e.Delta.PartialJSON, nil
			}
			return "", a.Calls.Add(llm.Piece(e.Index, "", "", e.Delta.PartialJSON))
		}
	case "message_delta":
		u := e.Usage
		count(a, u.Input, u.Read, u.Created, u.Output)
		if r := e.Delta.StopReason; r != "" {
			a.Finish = r
			switch r {
			case "max_tokens", "model_context_window_exceeded":
				a.End = llm.Length
			case "refusal":
				a.End = llm.Filtered
			default:
			}
		}
	case "message_stop":
		a.Done = true
	}
	return "", nil
}

// count notes the tokens. The counts of an event are those of the whole answer so far; an event
// may leave out what has not changed.
func count(a *llm.Answer, input, read, created, output int) {
	if input+read+created+output == 0 {
		return
	}
	if a.Usage == nil {
		a.Usage = &llm.Usage{}
	}
	if prompt := input + read + created; prompt > 0 {
		a.Usage.Prompt, a.Usage.Cached = prompt, read
	}
	a.Usage.Completion = max(a.Usage.Completion, output)
}
