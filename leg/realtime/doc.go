// Package realtime is hocket as a server of the OpenAI Realtime protocol: a client
// that was written for OpenAI's connects over WebSocket and holds a conversation.
//
// Each connection is a conversation of its own. Its sound is a [port.Leg]; its
// session is stepped by the same machine as every other call. What the client is told
// follows from the machine's steps and from the client's own events, and package
// projection decides it: this package is the loop around it, with the sockets, the
// goroutines and the encoding of sound. The session has a language model that answers
// from the protocol's list of items, so that the client's instructions, tools and items
// count. Tools of the client's end a response, as the protocol has it; what comes of them
// is an item.
//
// It makes no sound, understands no speech and knows no agents: what a model's
// name stands for, keys and the running of sessions come from the program as
// functions, see [Options].
//
// A connection's goroutines (the reader, which is the handler's own, the writer,
// the clock, the session, the ear, answers beside the conversation) end before its
// handler returns.
package realtime
