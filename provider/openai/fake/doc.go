// Package fake is a chat-completions endpoint for tests. It refuses what the
// vendors document as wrong, so that a client that passes it is understood by
// the strictest of them, and it misbehaves on demand: pieces of any size, pauses,
// streams that break off, failures in the middle, pages of a proxy.
//
// It holds no model: the test says what is answered. It is imported by tests
// alone.
package fake
