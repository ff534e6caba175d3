// Package fake is a server with the protocol of Cartesia's synthesizer. It enforces what its
// documents say: the key and the version in the handshake, the fields of a request and their
// ranges, which stay the same within a context, contexts that end, expire and are cancelled,
// error messages, and five minutes without use.
//
// What is spoken comes from an engine behind it. Cartesia's own client passes against it: see
// the tests of this package's parent.
package fake
