package dtmf

import "encoding/binary"

// keys are the keys by the numbers of their events (RFC 4733, section 3.2).
const keys = "0123456789*#ABCD"

const (
	// longest is the longest duration of an event or of a segment of one, in units of the clock.
	longest = 0xFFFF
	// stale is how much earlier a press may begin whose packet was overtaken. One that begins even
	// earlier is of a sender that has begun anew.
	stale = 2 * longest
)

// Decoder reads the events of one RTP stream. The zero value is ready. It must be used by one
// goroutine at a time.
type Decoder struct {
	begun    bool
	source   uint32 // of the last packet
	start    uint32 // timestamp of the last event or segment
	key      byte
	duration uint16 // the longest that the event's packets have had
	over     bool   // a packet with the end bit has arrived
}

// Push takes the payload of an event packet with its source and timestamp, and returns the key of a
// press that is new. ok is false for repeated packets of a press, for events that are no keys, and
// for payloads that are too short.
func (d *Decoder) Push(source, timestamp uint32, payload []byte) (key byte, ok bool) {
	if len(payload) < 4 || int(payload[0]) >= len(keys) {
		return 0, false
	}
	key, end, duration := keys[payload[0]], payload[1]&0x80 != 0, binary.BigEndian.Uint16(payload[2:])
	if d.begun && source == d.source {
		if timestamp == d.start {
			d.duration = max(d.duration, duration)
			d.over = d.over || end
			return 0, false
		}
		if d.start-timestamp <= stale {
			return 0, false // of an earlier press: it was overtaken
		}
		if d.continues(key, timestamp) {
			d.start, d.duration, d.over = timestamp, duration, end
			return 0, false
		}
	}
	*d = Decoder{begun: true, source: source, start: timestamp, key: key, duration: duration, over: end}
	return key, true
}

// continues reports whether an event is the next segment of one that is longer than the field of the
// duration can say (RFC 4733, section 2.5.1.3).
func (d *Decoder) continues(key byte, timestamp uint32) bool {
	return key == d.key && !d.over && timestamp-d.start == longest
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
