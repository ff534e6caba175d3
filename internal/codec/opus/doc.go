// Package opus provides the Opus codec (RFC 6716) for call legs: encoding,
// decoding, recovery of a lost packet from the following one, and concealment.
//
// The codec is a library in Go that only this package imports. Since it is young, a
// test compares it with libopus if that is installed.
//
// Sound is mono. An encoder or decoder must be used by one goroutine at a time and
// allocates nothing after construction.
package opus
