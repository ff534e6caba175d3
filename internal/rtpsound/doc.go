// Package rtpsound makes frames of the packets of an RTP voice stream: it decodes them in their order,
// at the times that the jitter buffer decides, and conceals those that are missing. It reads no socket; the
// legs do, and own what they pass.
package rtpsound
