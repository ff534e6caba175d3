// Package fake provides an endpoint of the OpenAI Realtime protocol for tests. It keeps the
// rules that the vendor documents: the order of events, one answer at a time, truncation
// within the sound, results only for calls that were made, a voice that does not change, a
// session that ends, limits on requests, keys and client secrets. What it refuses is recorded,
// so that a test can see that its client asked for nothing invalid.
//
// It detects turns by the energy of the sound that is appended, on the clock of that sound.
// The test defines what is heard and what is answered. Only tests, and the command that
// serves fakes, may import the package.
package fake
