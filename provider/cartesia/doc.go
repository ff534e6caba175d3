// Package cartesia implements port.Synthesizer with the streaming service of Cartesia.
//
// The package converts between the port and the messages of the service. Connections, their
// loss and what belongs to which text are the matter of internal/hosted. Keys do not appear in
// logs or errors.
//
// Source: the protocol is described at https://docs.cartesia.ai/api-reference/tts/websocket.
package cartesia
