package llm

import (
	"github.com/hocketvoice/hocket/port"
)

// answerTokens is kept free for an answer whose length is not limited.
const answerTokens = 1024

// Cut returns the request without its oldest messages, so that it and an answer of maxTokens
// (1024 if 0) fit into the window of a model. A window of 0 cuts nothing. The words of the system
// and everything from the last words of the user on are kept, even if they do not fit: the server
// then says so. Tokens are estimated: one for three bytes, which is more than common models need
// for English and about what they need for languages with other scripts.
func Cut(r port.Request, window, maxTokens int) port.Request {
	if window <= 0 {
		return r
	}
	if maxTokens <= 0 {
		maxTokens = answerTokens
	}
	left := window - maxTokens - tokens(r.Instructions)
	for _, t := range r.Tools {
		left -= tokens(t.Name) + tokens(t.Description) + tokens(string(t.Schema)) + perMessage
	}
	if r.Form != nil {
		left -= tokens(r.Form.Description) + tokens(string(r.Form.Schema)) + perMessage
	}
	last := len(r.Messages) // the last words of the user
	for last > 0 {
		if last--; r.Messages[last].Role == "user" {
			break
		}
	}
	for i := range r.Messages {
		if i >= last || r.Messages[i].Role == "system" {
			left -= size(&r.Messages[i])
		}
	}
	first := last
	for first > 0 {
		if m := &r.Messages[first-1]; m.Role != "system" {
			if left -= size(m); left < 0 {
				break
			}
		}
		first--
	}
	if first == 0 {
		return r
	}
	kept := make([]port.Message, 0, len(r.Messages))
	for i := range r.Messages {
		if i >= first || r.Messages[i].Role == "system" {
			kept = append(kept, r.Messages[i])
		}
	}
	r.Messages = kept
	return r
}

// perMessage is what the form of a message takes.
const perMessage = 6

func size(m *port.Message) int {
	return perMessage + tokens(m.Content) + tokens(m.Name) + tokens(m.Arguments) + tokens(m.CallID)
}

func tokens(s string) int { return (len(s) + 2) / 3 }
