// Package rtpjitter implements an adaptive jitter buffer for RTP voice streams.
//
// For each piece of sound it determines whether to decode a packet, recover it from
// its successor, conceal it, or play silence, and how long packets wait for slower
// ones. It does not decode, and uses only the duration of packets, not their
// content.
//
// The package does not use a clock: time is an argument, and the same calls yield
// the same steps. It allocates nothing after the largest packets have been seen.
//
// The delay of each packet relative to the fastest one of the last seconds is added
// to a histogram with exponential decay. The target delay is the delay that 97 % of
// the packets do not exceed, plus a margin. The playout adjusts to the target
// during pauses of the voice, and skips sound of a voice only if it is far behind.
// A packet that is missing at its time is lost if a later packet has arrived;
// otherwise the playout waits for it.
package rtpjitter
