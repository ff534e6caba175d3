package mediastream

import (
	"fmt"
	"slices"
)

// Encoding is how the bytes of sound are to be read.
type Encoding string

// The encodings of sound. All are mono.
const (
	MuLaw    Encoding = "mulaw"    // G.711, 8000 Hz
	ALaw     Encoding = "alaw"     // G.711, 8000 Hz
	G722     Encoding = "g722"     // 64 kbit/s, 16,000 samples a second
	LinearLE Encoding = "linearle" // 16 bits, the low byte first
	LinearBE Encoding = "linearbe" // 16 bits, the high byte first (L16 of RFC 3551)
)

// Format is the form of a stream's sound.
type Format struct {
	Encoding Encoding
	Rate     int // samples a second
}

// String returns the encoding and the rate.
func (f Format) String() string { return fmt.Sprintf("%s/%d", f.Encoding, f.Rate) }

// FrameBytes returns the size of 20 ms.
func (f Format) FrameBytes() int {
	switch f.Encoding {
	case LinearLE, LinearBE:
		return f.Rate / 25
	case G722:
		return f.Rate / 100
	default:
		return f.Rate / 50
	}
}

// check returns an error if the format is none that a carrier streams.
func (f Format) check() error {
	var rates []int
	switch f.Encoding {
	case MuLaw, ALaw:
		rates = []int{8000}
	case G722:
		rates = []int{16000}
	case LinearLE, LinearBE:
		rates = []int{8000, 16000, 24000}
	}
	if !slices.Contains(rates, f.Rate) {
		return fmt.Errorf("the sound is %s: expected mulaw/8000, alaw/8000, g722/16000, or linear sound of 8000, 16000 or 24000 Hz", f)
	}
	return nil
}

// Dialect is a carrier's form of the frames. The zero value is not valid.
type Dialect struct {
	// Name is the carrier's.
	Name string
	// Binary reports that sound travels in binary messages and not in text.
	Binary bool

	stream string   // the member of a sent frame that names the stream; empty if there is none
	played string   // the name of the frame that returns a mark
	format Format   // of a stream that does not name it
	linear Encoding // which bytes of linear sound come first
}

// The dialects. SignalWire streams as Twilio does.
var (
	Twilio = &Dialect{Name: "twilio", stream: "streamSid", played: "mark", format: Format{MuLaw, 8000}, linear: LinearLE}
	Telnyx = &Dialect{Name: "telnyx", played: "mark", format: Format{MuLaw, 8000}, linear: LinearBE}
	Exotel = &Dialect{Name: "exotel", stream: "stream_sid", played: "mark", format: Format{LinearLE, 8000}, linear: LinearLE}
	Plivo  = &Dialect{Name: "plivo", stream: "streamId", played: "playedStream", format: Format{MuLaw, 8000}, linear: LinearLE}
	Vonage = &Dialect{Name: "vonage", Binary: true, played: "websocket:notify", format: Format{LinearLE, 16000}, linear: LinearLE}
)
