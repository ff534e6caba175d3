// Package fake provides Google's Gemini API for tests. It refuses requests that the documents call
// invalid, and calls without the signature of the model's thoughts. The test defines the answers; see
// fakes.Mind, whose ServeHTTP serves them.
package fake
