// Package anthropic implements port.Model with Anthropic's Messages API.
//
// The requests and events are the types of Anthropic's own SDK,
// github.com/anthropics/anthropic-sdk-go/v2. They are sent and read by package llm, as those of all
// models are, and not by the client of the SDK, which would read the environment, try again by
// itself and wait for a server that has fallen silent.
//
// Source: https://docs.anthropic.com/en/api/messages-streaming.
package anthropic
