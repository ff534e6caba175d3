// Package fake provides a chat-completions endpoint for tests. It refuses what the
// vendors document as invalid, so that a client that works with it is accepted by
// the strictest vendor, and it simulates faults: pieces of any size, pauses,
// interrupted streams, failures within a stream, proxy pages.
//
// The test defines the answers. Only tests may import the package.
package fake
