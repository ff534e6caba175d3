// Package realtime serves the OpenAI Realtime protocol: clients written for OpenAI's
// server connect over WebSocket or WebRTC and hold a conversation.
//
// Each conversation has its own session, run by the same machine as every other call;
// its sound is a [port.Leg]. Package projection decides what the client is told, from
// the steps of the machine and the client's events. This package is the loop around it:
// it has the sockets, the goroutines and the encoding of sound. The session's language
// model answers from the protocol's list of items, so the client's instructions, tools
// and items take effect. A call of one of the client's tools ends the response, as the
// protocol requires; the client adds the result as an item.
//
// The package does not synthesize or recognize speech and does not know any agents: the
// program supplies what a model name stands for, the check of keys and the running of
// sessions as functions, see [Options].
//
// All goroutines of a WebSocket connection end before its handler returns. A
// conversation may outlive its connection, see [Options].Linger; [Server.Close] waits
// for it.
package realtime
