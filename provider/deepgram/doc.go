// Package deepgram implements port.Recognizer and port.Synthesizer with the streaming services
// of Deepgram: Nova and Flux, which hear, and Aura, which speaks.
//
// The package converts between the ports and the messages of the service. Connections, their
// loss and what belongs to which utterance are the matter of internal/hosted. Keys do not
// appear in logs or errors.
//
// Source: the protocols are described at
// https://developers.deepgram.com/reference/speech-to-text/listen-streaming,
// https://developers.deepgram.com/reference/speech-to-text/listen-flux and
// https://developers.deepgram.com/reference/text-to-speech/speak-streaming.
package deepgram
