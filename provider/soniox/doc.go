// Package soniox implements port.Recognizer and port.Synthesizer with the streaming services
// of Soniox.
//
// The package converts between the ports and the messages of the service. Connections, their
// loss and what belongs to which utterance are the matter of internal/hosted. Keys do not
// appear in logs or errors.
//
// Source: seed 004. The protocols are described at
// https://soniox.com/docs/api-reference/stt/websocket-api and
// https://soniox.com/docs/api-reference/tts/websocket-api.
package soniox
