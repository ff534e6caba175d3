// Package openai implements port.Model with a chat-completions endpoint: OpenAI,
// Azure OpenAI, Ollama, vLLM, llama.cpp and other servers with this protocol.
//
// [llm.Model] is the model: the package has what is OpenAI's of requests and events, of chat
// completions and of the Responses API.
//
// The package does not use the official SDK: a program with openai-go v3.95.0 has
// 36.3 MB, the same one with net/http 9.0 MB (Go 1.26, linux/amd64), and the SDK's
// retries would have to be disabled.
//
// Source: seed 000, INT-005; seed 001, sections 4.3, 4.5 and 4.7. The protocols are
// described at https://platform.openai.com/docs/api-reference/chat and
// https://platform.openai.com/docs/api-reference/responses.
package openai
