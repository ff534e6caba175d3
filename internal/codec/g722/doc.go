// Package g722 provides the codec of ITU-T Recommendation G.722 (09/2012) at 64 kbit/s, which
// telephones call wideband or HD voice: mono sound at 16 kHz, one byte for two samples.
//
// RTP numbers its packets with a clock of 8000 Hz (RFC 3551, section 4.5.2), although the sound
// has 16,000 samples a second.
package g722
