package fake

import (
	"encoding/json"
	"fmt"
)

// The events of a stream as OpenAI sends them.

// Event is an event with one choice; finish may be empty.
func Event(delta map[string]any, finish string) string {
	var reason any
	if finish != "" {
		reason = finish
	}
	return text(map[string]any{
		"id": "chatcmpl-fake", "object": "chat.completion.chunk", "created": 1700000000, "model": "fake-1",
		"service_tier": "default", "obfuscation": "x",
		"choices": []any{map[string]any{"index": 0, "delta": delta, "logprobs": nil, "finish_reason": reason}},
	})
}

// Said is an event with text.
func Said(text string) string { return Event(map[string]any{"content": text}, "") }

// Begin is the first event.
func Begin() string {
	return Event(map[string]any{"role": "assistant", "content": "", "refusal": nil}, "")
}

// Finish is the event with the reason of the end.
func Finish(reason string) string { return Event(map[string]any{}, reason) }

// Call is an event with a piece of a call of a tool. index below 0 leaves it
// out, and so do empty id and name.
func Call(index int, id, name, arguments string) string {
	function := map[string]any{"arguments": arguments}
	call := map[string]any{"function": function}
	if index >= 0 {
		call["index"] = index
	}
	if id != "" {
		call["id"], call["type"] = id, "function"
	}
	if name != "" {
		function["name"] = name
	}
	return Event(map[string]any{"tool_calls": []any{call}}, "")
}

// Used is the last event, with the count of tokens.
func Used(prompt, completion int) string {
	return text(map[string]any{
		"id": "chatcmpl-fake", "object": "chat.completion.chunk", "created": 1700000000, "model": "fake-1",
		"choices": []any{},
		"usage": map[string]any{
			"prompt_tokens": prompt, "completion_tokens": completion, "total_tokens": prompt + completion,
			"prompt_tokens_details":     map[string]any{"cached_tokens": prompt / 2},
			"completion_tokens_details": map[string]any{"reasoning_tokens": 1},
		},
	})
}

// Text is an answer of text in pieces.
func Text(pieces ...string) Answer {
	events := []string{Begin()}
	for _, p := range pieces {
		events = append(events, Said(p))
	}
	return Answer{Events: append(events, Finish("stop"), Used(20, len(pieces)))}
}

// Stream is an answer of these events.
func Stream(events ...string) Answer { return Answer{Events: events} }

// Failure is an answer with a status and a message, as OpenAI words it.
func Failure(status int, code, message string) Answer {
	return Answer{
		Status: status, Header: map[string][]string{"Content-Type": {"application/json"}},
		Body: text(map[string]any{"error": map[string]any{"message": message, "type": code, "param": nil, "code": code}}),
	}
}

// text is a value as JSON.
func text(v any) string {
	b, err := json.Marshal(v)
	if err != nil {
		panic(fmt.Sprintf("fake: %v", err)) // maps, texts and numbers alone
	}
	return string(b)
}
