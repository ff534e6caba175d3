package fake

import (
	"encoding/json"
	"fmt"
)

// This file contains the events of a stream as OpenAI sends them.

// Event returns an event with one choice. finish may be empty.
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

// Said returns an event with text.
func Said(text string) string { return Event(map[string]any{"content": text}, "") }

// Begin returns the first event.
func Begin() string {
	return Event(map[string]any{"role": "assistant", "content": "", "refusal": nil}, "")
}

// Finish returns the event with the finish reason.
func Finish(reason string) string { return Event(map[string]any{}, reason) }

// Call returns an event with a piece of a tool call. A negative index and an empty
// id or name are omitted.
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

// Used returns the last event, with the token counts.
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

// Text returns an answer with text in pieces.
func Text(pieces ...string) Answer {
	events := []string{Begin()}
	for _, p := range pieces {
		events = append(events, Said(p))
	}
	return Answer{Events: append(events, Finish("stop"), Used(20, len(pieces)))}
}

// Stream returns an answer with the given events.
func Stream(events ...string) Answer { return Answer{Events: events} }

// Failure returns an answer with a status and a message, in OpenAI's form.
func Failure(status int, code, message string) Answer {
	return Answer{
		Status: status, Header: map[string][]string{"Content-Type": {"application/json"}},
		Body: text(map[string]any{"error": map[string]any{"message": message, "type": code, "param": nil, "code": code}}),
	}
}

// text returns a value as JSON.
func text(v any) string {
	b, err := json.Marshal(v)
	if err != nil {
		panic(fmt.Sprintf("fake: %v", err)) // only maps, texts and numbers
	}
	return string(b)
}
