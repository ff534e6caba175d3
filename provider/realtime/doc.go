// Package realtime implements port.Upstream with the OpenAI Realtime protocol over a
// WebSocket: OpenAI, Azure OpenAI, hocket's own server and others.
//
// A [Service] opens sessions. It keeps the rules of the protocol for its caller: at most one
// answer within the conversation at a time, truncations within the sound that has come,
// results only for calls that were made. It switches off the service's own answers and
// interruptions, cancels an answer that nobody asked for, and drops what belongs to a request
// that was cancelled. It does not reconnect, renew sessions or decide about turns: the
// conversation does.
//
// Keys come from environment variables and go to the host that they belong to. Keys, tokens
// and words of the conversation do not appear in errors.
//
// The package does not use the official SDK, for the reasons that package openai names; the
// types of the protocol are those of hocket's own server.
//
// Source: seed 000, EXT-001; seed 001, sections 4 and 5. The protocol is described at
// https://platform.openai.com/docs/api-reference/realtime.
package realtime
