// Package fake provides Anthropic's Messages API for tests. It refuses requests that the documents
// call invalid, and sends events in the documented order. The test defines the answers; see
// fakes.Mind, whose ServeHTTP serves them.
package fake
