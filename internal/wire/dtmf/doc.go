// Package dtmf reads and writes the keys of a telephone as SIP carries them: as events in the RTP
// stream (RFC 4733), and as bodies of INFO requests.
//
// A press is counted once, however many of its packets arrive: all of them have the timestamp of
// its beginning. It counts with the first packet that arrives, whatever that packet's duration and
// marker say, so that the agent stops at once and a lost first or last packet changes nothing.
package dtmf
