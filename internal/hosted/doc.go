// Package hosted implements the ports of speech for services that are reached over a
// WebSocket. What is the same for all of them is here: connections and their loss, utterances
// and the results that belong to them, keepalives, limits, cancellation. What differs is the
// protocol of one connection, which an adapter implements as a [Hearing] or a [Speaking]:
// values that turn requests to messages and messages to results, without goroutines, clocks
// or I/O.
//
// The package does not choose among services. Failures have classes of seed 001, section 4.7.
package hosted
