package dtmf

import (
	"encoding/binary"
	"slices"
)

// keys are the keys by the numbers of their events (RFC 4733, section 3.2).
const keys = "0123456789*#ABCD"

// longest is the longest duration of an event or of a segment of one, in units of the clock.
const longest = 0xFFFF

// recent is how many presses are remembered: packets that were overtaken belong to one of them.
const recent = 8

// Decoder reads the events of one RTP stream. The zero value is ready. It must be used by one
// goroutine at a time.
type Decoder struct {
	source uint32 // of the last packet
	known  int    // number of the presses in starts
	next   int    // place of the next press in starts
	starts [recent]uint32
	start  uint32 // timestamp of the last event or segment
	key    byte
	over   bool // a packet with the end bit has arrived
}

// Push takes the payload of an event packet with its source and timestamp, and returns the key of a
// press that is new. ok is false for repeated packets of a press, for events that are no keys, and
// for payloads that are too short.
func (d *Decoder) Push(source, timestamp uint32, payload []byte) (key byte, ok bool) {
	if len(payload) < 4 || int(payload[0]) >= len(keys) {
		return 0, false
	}
	key, end := keys[payload[0]], payload[1]&0x80 != 0
	if source != d.source {
		*d = Decoder{source: source}
	}
	if slices.Contains(d.starts[:d.known], timestamp) {
		d.over = d.over || end && timestamp == d.start
		return 0, false
	}
	// An event that is longer than the field of the duration can say is sent in segments (RFC 4733,
	// section 2.5.1.3).
	segment := d.known > 0 && key == d.key && !d.over && timestamp-d.start == longest
	d.starts[d.next] = timestamp
	d.known, d.next = min(d.known+1, recent), (d.next+1)%recent
	d.start, d.key, d.over = timestamp, key, end
	return key, !segment
}

// Event returns the number of the event of a key. ok is false if it is not a key.
func Event(key byte) (event byte, ok bool) {
	for i := range len(keys) {
		if keys[i] == key {
			return byte(i), true
		}
	}
	return 0, false
}

// AppendPayload appends the payload of an event packet: the number of the event, whether the packet
// ends it, and its duration so far in units of the clock.
func AppendPayload(dst []byte, event byte, end bool, duration uint16) []byte {
	const volume = 10 // dBm0 below zero, as telephones have it
	flags := byte(volume)
	if end {
		flags |= 0x80
	}
	return binary.BigEndian.AppendUint16(append(dst, event, flags), duration)
}
