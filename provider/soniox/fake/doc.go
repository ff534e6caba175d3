// Package fake is a server with the protocols of Soniox's recognizer and synthesizer. It
// enforces what their documents say: the key in the handshake or, until the date on which that
// ends, in the first message; the first message and its fields; a keepalive within 20 s;
// sound at the pace of real time; finalize and endpoints; error messages before a close.
//
// What is understood and spoken comes from engines behind it. Soniox's own clients pass
// against it: see the tests of this package's parent.
package fake
