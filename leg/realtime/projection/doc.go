// Package projection computes what a client of the OpenAI Realtime protocol sees of a
// conversation. It turns the steps of the conversation's machine and the client's
// events into events for the client and into effects, which the loop around it
// performs.
//
// [Projection.Step] takes one input and returns the resulting events and effects as
// data, in the order in which they must be sent and performed. The package has no
// goroutines, channels, clock or randomness: each input comes with the time, and ids
// consist of the caller's prefix and a counter. The same inputs always produce the same
// outputs.
//
// The package uses no sockets and no language model. It counts samples of sound but
// does not process them; the loop encodes them.
package projection
