// Package realtime turns the messages of the OpenAI Realtime protocol into bytes
// and back: client events, server events, the session's configuration, items and
// errors, in the protocol's general form (GA). The older form (beta) is a
// translation at the edge: see [FromBeta] and [MarshalBeta].
//
// It checks what can be checked without knowing the conversation: names, kinds,
// ranges. It decides nothing, holds no state, and keeps nothing of its input.
//
// The shapes are those of OpenAI's published specification of the protocol.
package realtime
