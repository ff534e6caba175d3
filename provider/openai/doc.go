// Package openai implements port.Model with a chat-completions endpoint: OpenAI,
// Azure OpenAI, Ollama, vLLM, llama.cpp and other servers with this protocol.
//
// The package converts a history to messages that all these servers accept,
// assembles a stream into text and whole tool calls, maps errors to classes of
// failure (seed 001, section 4.7), and detects when a server has been silent for
// too long. It does not retry (the conversation does), run tools, validate
// arguments (whoever runs the tool does) or follow redirects. Keys do not appear in
// logs, errors or reports.
//
// A [Model] owns its connections until Close. When Reply returns, its request has
// ended and emit is not called again.
//
// The package does not use the official SDK: a program with openai-go v3.95.0 has
// 36.3 MB, the same one with net/http 9.0 MB (Go 1.26, linux/amd64), and the SDK's
// retries would have to be disabled. The event stream is parsed by
// github.com/tmaxmax/go-sse, which follows the standard (line ends, byte order
// mark, comments, multi-line data) and limits sizes.
//
// Source: seed 000, INT-005; seed 001, sections 4.3, 4.5 and 4.7. The protocol is
// described at https://platform.openai.com/docs/api-reference/chat.
package openai
