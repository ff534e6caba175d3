// Package anthropic implements port.Model with Anthropic's Messages API.
//
// Source: https://docs.anthropic.com/en/api/messages-streaming.
package anthropic
