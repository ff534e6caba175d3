// Package openai is the mind that lives behind a chat-completions endpoint:
// OpenAI, Azure OpenAI, Ollama, vLLM, llama.cpp and whatever speaks their
// protocol. It implements port.Model.
//
// The package decides how a history becomes messages that all these servers
// accept, how a stream of pieces becomes text and whole calls of tools, which
// class of failure (package conv, seed 001, 4.7) an error belongs to, and when a
// server has been silent for too long. It never asks twice (the conversation
// retries), never runs a tool, never judges arguments (who runs the tool does),
// never follows a redirect, and puts no key into a log, an error or a report.
//
// Ownership: a [Model] owns its connections until Close. A call of Reply owns
// its request: when it returns, the request is over and nothing more of it is
// delivered.
//
// Why no SDK: a program with the official openai-go v3.95.0 in it is 36.3 MB, the
// same one over net/http 9.0 MB (Go 1.26, linux/amd64); its retries and its types
// for everything else would be switched off. The bytes of the event stream are
// read by github.com/tmaxmax/go-sse, which follows the standard (line ends, byte
// order mark, comments, data of several lines) under a bound; what the events
// say is decoded here.
//
// Source: seed 000, INT-005; seed 001, 4.3, 4.5 and 4.7. The protocol is that of
// https://platform.openai.com/docs/api-reference/chat.
package openai
