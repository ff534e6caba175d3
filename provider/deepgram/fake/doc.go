// Package fake is a server with the protocols of Deepgram's recognizers, Nova and Flux, and of
// its synthesizer, Aura. It enforces what their documents say: the key in the handshake, the
// parameters and their ranges, a sign of life in time, the order of Flux's events, the limits
// of texts and of requests for sound, error messages and close codes.
//
// What is understood and spoken comes from engines behind it. Deepgram's own clients pass
// against it: see the tests of this package's parent.
package fake
