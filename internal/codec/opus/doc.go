// Package opus is the Opus codec (RFC 6716) behind the few calls that a call leg
// makes: encode, decode, recover a lost packet from the one behind it, conceal
// what is lost for good.
//
// The codec itself is a library in Go; nothing outside of this package knows
// which. It is young, so a test holds it against libopus where that is
// installed.
//
// Sound is mono. Encoder and decoder belong to one goroutine each and allocate
// nothing after construction.
package opus
