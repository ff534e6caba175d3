package opus

import (
	"errors"
	"fmt"
	"time"
)

const (
	// ClockRate is the rate of RTP timestamps, independent of the sampling rate
	// (RFC 7587, section 4.1).
	ClockRate = 48000
	// MaxPacket is the size in bytes of the largest packet that is decoded, which
	// fits into a datagram.
	MaxPacket = 1500
	// maxDuration is the duration of the longest packet (RFC 6716, section 3.2.5,
	// R5).
	maxDuration = 120 * time.Millisecond
)

// ErrPacket is wrapped by errors about invalid packets.
var ErrPacket = errors.New("opus: malformed packet")

// Duration returns the duration of a packet's sound, from its first two bytes (RFC
// 6716, section 3.1).
func Duration(packet []byte) (time.Duration, error) {
	if len(packet) == 0 {
		return 0, fmt.Errorf("%w: empty", ErrPacket)
	}
	frames := 1
	switch packet[0] & 3 {
	case 1, 2:
		frames = 2
	case 3:
		if len(packet) < 2 {
			return 0, fmt.Errorf("%w: code 3 without a count of frames", ErrPacket)
		}
		frames = int(packet[1] & 0x3f)
	}
	d := time.Duration(frames) * frameDuration(packet[0]>>3)
	if d == 0 || d > maxDuration {
		return 0, fmt.Errorf("%w: %d frames of %v", ErrPacket, frames, frameDuration(packet[0]>>3))
	}
	return d, nil
}

// frameDuration returns the frame duration of a configuration (RFC 6716, table 2).
func frameDuration(config byte) time.Duration {
	const ms = time.Millisecond
	switch {
	case config < 12: // SILK
		return [4]time.Duration{10 * ms, 20 * ms, 40 * ms, 60 * ms}[config%4]
	case config < 16: // hybrid
		return [2]time.Duration{10 * ms, 20 * ms}[config%2]
	default: // CELT
		return 2500 * time.Microsecond << (config % 4)
	}
}

// Silent reports whether a packet contains no sound, because the sender has paused
// (discontinuous transmission).
func Silent(packet []byte) bool { return len(packet) <= 2 }
