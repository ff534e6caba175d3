// Package projection is what a client of the OpenAI Realtime protocol sees of a
// conversation. It turns the steps of the conversation's machine and the events of the
// client into the events that the client is told, and into work for the loop around it.
//
// [Projection.Step] takes one input and returns the events and the effects that follow
// from it. Both are data, in the order in which they are to be sent and carried out. The
// package holds no goroutine, no channel, no clock and no randomness: the time comes with
// each input, ids come from a counter behind a prefix of the caller's. The same inputs
// always give the same outputs.
//
// It never touches a socket, a sample of sound or a language model. It counts the samples
// that pass through it, and leaves their encoding to the loop.
package projection
