// Package rtpjitter puts the packets of a voice stream back into their order and
// beat: an adaptive jitter buffer.
//
// It decides for each piece of time that is played whether a packet is decoded,
// recovered from its successor, concealed, or whether the sender is silent, and
// how long packets wait for those that are slower. It decodes nothing, and does
// not care what is in a packet beyond its duration.
//
// Everything is pure: time is an argument, and the same calls give the same
// steps. After it has seen the largest packets, nothing allocates.
//
// How long packets wait: each packet's delay beyond the fastest of the last
// seconds goes into a histogram that forgets; the target is the delay that 97 %
// of the packets keep, and a margin. The playout comes to the target where it
// costs nothing, in pauses of the voice, and drops sound of a voice only when it
// is far behind. A packet that is missing when its time has come is lost if a
// later one is there; if none is, the playout waits for it.
package rtpjitter
