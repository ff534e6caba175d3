// Package realtime encodes and decodes the messages of the OpenAI Realtime protocol
// in its general form (GA): client events, server events, the session's
// configuration, items and errors. The older form (beta) is converted to and from
// it: see [FromBeta] and [MarshalBeta].
//
// The package validates names, kinds and ranges, but nothing that depends on the
// conversation. It has no state and keeps no references to its input.
//
// Source: OpenAI's published specification of the protocol.
package realtime
