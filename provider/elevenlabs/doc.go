// Package elevenlabs implements port.Synthesizer with the streaming service of ElevenLabs, whose
// connections have several contexts.
//
// The package converts between the port and the messages of the service. Connections, their
// loss and what belongs to which text are the matter of internal/hosted. Keys do not appear in
// logs or errors.
//
// Source: the protocol is described at
// https://elevenlabs.io/docs/api-reference/text-to-speech/v-1-text-to-speech-voice-id-multi-stream-input.
package elevenlabs
