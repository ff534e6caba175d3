// Package fake is a server with the protocols of ElevenLabs' synthesizer: the one with several
// contexts, and the one with a single text. It enforces what their documents say: the key in
// the handshake, the parameters, settings in the first message of a context alone, at most five
// contexts, a message in time, and error messages before a close. The times of characters count
// from the beginning of each message.
//
// What is spoken comes from an engine behind it. ElevenLabs' own client, which wants TLS, and
// Pipecat's pass against it: see the tests of this package's parent.
package fake
