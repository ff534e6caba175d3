package google

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"sync"

	"github.com/hocketvoice/hocket/internal/llm"
)

// response is one event of a stream: what is new of the answer.
type response struct {
	Candidates []struct {
		Index        int     `json:"index"`
		Content      content `json:"content"`
		FinishReason string  `json:"finishReason"`
	} `json:"candidates"`
	Feedback struct {
		BlockReason string `json:"blockReason"`
	} `json:"promptFeedback"`
	Usage *struct {
		Prompt     int `json:"promptTokenCount"`
		Candidates int `json:"candidatesTokenCount"`
		Thoughts   int `json:"thoughtsTokenCount"`
		Cached     int `json:"cachedContentTokenCount"`
	} `json:"usageMetadata"`
	Model string          `json:"modelVersion"`
	Error json.RawMessage `json:"error"`
}

// Take decodes one event. The text of thoughts is ignored.
func (w *wire) Take(a *llm.Answer, _ string, data []byte) (text string, err error) {
	data = bytes.TrimSpace(data)
	if len(data) == 0 {
		return "", nil
	}
	var r response
	if err := json.Unmarshal(data, &r); err != nil {
		return "", fmt.Errorf("invalid event in the stream: %w", err)
	}
	if len(r.Error) > 0 && string(r.Error) != "null" {
		return "", &llm.ErrReported{Body: bytes.Clone(data)}
	}
	if r.Model != "" {
		a.Model = r.Model
	}
	if u := r.Usage; u != nil {
		a.Usage = &llm.Usage{Prompt: u.Prompt, Completion: u.Candidates + u.Thoughts, Cached: u.Cached, Reasoning: u.Thoughts}
	}
	if b := r.Feedback.BlockReason; b != "" {
		a.Finish, a.End = b, llm.Filtered
	}
	for _, c := range r.Candidates {
		if c.Index != 0 {
			continue // only one was requested
		}
		t, err := w.parts(a, c.Content.Parts)
		if err != nil {
			return "", err
		}
		text += t
		if f := c.FinishReason; f != "" {
			a.Finish, a.End = f, ends(f)
		}
	}
	return text, nil
}

// parts adds the parts of an event to the answer. Calls come whole.
func (w *wire) parts(a *llm.Answer, parts []part) (text string, err error) {
	for _, p := range parts {
		switch c := p.Call; {
		case c != nil:
			args := string(c.Args)
			if args == "null" {
				args = ""
			}
			if c.ID == "" {
				c.ID = llm.NewID()
			}
			if err := a.Calls.Add(llm.Piece(a.Calls.Len(), c.ID, c.Name, args)); err != nil {
				return "", err
			}
			w.note(c.ID, p.Signature)
		case !p.Thought:
			text += p.Text
		}
	}
	return text, nil
}

// ends returns what a finish reason means.
func ends(reason string) llm.End {
	switch reason {
	case "MAX_TOKENS":
		return llm.Length
	case "SAFETY", "RECITATION", "BLOCKLIST", "PROHIBITED_CONTENT", "SPII", "LANGUAGE", "IMAGE_SAFETY":
		return llm.Filtered
	case "MALFORMED_FUNCTION_CALL", "UNEXPECTED_TOOL_CALL", "OTHER", "FINISH_REASON_UNSPECIFIED",
		"TOO_MANY_TOOL_CALLS", "MISSING_THOUGHT_SIGNATURE":
		return llm.Aborted
	default:
		return llm.Regular
	}
}

// unsigned is the documented signature of a call that the model has not signed, such as one of
// a flow or of a conversation before a restart.
const unsigned = "skip_thought_signature_validator"

// maxSignatures is the number of calls whose signatures are kept. Older ones are sent unsigned.
const maxSignatures = 1024

// signatures are those of the calls that the model has made. It wants them back, to go on with
// its thoughts. It is safe for concurrent use.
type signatures struct {
	mu    sync.Mutex // guards the fields below
	calls map[string]string
	order []string // the oldest first
}

// note keeps the signature of a call.
func (s *signatures) note(id, signature string) {
	if signature == "" || strings.TrimSpace(id) == "" {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.calls == nil {
		s.calls = make(map[string]string)
	}
	if _, known := s.calls[id]; !known {
		if len(s.order) == maxSignatures {
			delete(s.calls, s.order[0])
			s.order = append(s.order[:0], s.order[1:]...)
		}
		s.order = append(s.order, id)
	}
	s.calls[id] = signature
}

// of returns the signature of a call, or "".
func (s *signatures) of(id string) string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.calls[id]
}

// signature returns what is sent with a call. Models before Gemini 3 want no signature of calls
// that they have not signed.
func (w *wire) signature(id string) string {
	own := w.of(id)
	if own == "" && !strings.HasPrefix(w.o.Model, "gemini-1") && !strings.HasPrefix(w.o.Model, "gemini-2") {
		return unsigned
	}
	return own
}
