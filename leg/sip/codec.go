package sip

import (
	"slices"
	"strings"

	"github.com/hocketvoice/hocket/audio"
	"github.com/hocketvoice/hocket/internal/codec/g722"
	"github.com/hocketvoice/hocket/internal/codec/opus"
	"github.com/hocketvoice/hocket/internal/rtpsound"
	"github.com/hocketvoice/hocket/internal/wire/sdp"
)

// encode appends the payload of 20 ms. It may append nothing: there is then nothing to send.
type encode func(dst []byte, pcm []int16) ([]byte, error)

// codec is a form of sound.
type codec struct {
	name     string // in SDP
	kind     int    // payload type in our offers
	clock    int    // of RTP
	channels int    // in SDP
	params   string // in SDP
	rate     int    // of the sound
	decoder  func() (rtpsound.Decoder, error)
	encoder  func() (encode, error)
}

// keyEvents is the name of keys in SDP (RFC 4733), and keyKind their payload type in our offers.
const (
	keyEvents = "telephone-event"
	keyKind   = 101
	keyParams = "0-15"
)

// codecs are all codecs, by the names of Options.Codecs.
var codecs = map[string]*codec{
	"pcmu": g711(audio.MuLaw, 0),
	"pcma": g711(audio.ALaw, 8),
	"g722": {
		name: "G722", kind: 9, clock: 8000, channels: 1, rate: g722.Rate, decoder: rtpsound.G722,
		encoder: func() (encode, error) { return plain(g722.NewEncoder().AppendEncode), nil },
	},
	"opus": {
		name: "opus", kind: 96, clock: opus.ClockRate, channels: 2, params: "useinbandfec=1", rate: opusRate,
		decoder: func() (rtpsound.Decoder, error) { return rtpsound.Opus(opusRate) }, encoder: opusEncoder,
	},
}

// CodecNames returns the names of Options.Codecs.
func CodecNames() []string { return []string{"opus", "g722", "pcma", "pcmu"} }

func g711(law audio.G711, kind int) *codec {
	return &codec{
		name: law.String(), kind: kind, clock: audio.G711Rate, channels: 1, rate: audio.G711Rate,
		decoder: func() (rtpsound.Decoder, error) { return rtpsound.G711(law) },
		encoder: func() (encode, error) { return plain(law.AppendEncode), nil },
	}
}

func plain(f func(dst []byte, pcm []int16) []byte) encode {
	return func(dst []byte, pcm []int16) ([]byte, error) { return f(dst, pcm), nil }
}

// opusRate is the rate of Opus's sound here, that of speech engines.
const opusRate = 16000

func opusEncoder() (encode, error) {
	e, err := opus.NewEncoder(opus.EncoderOptions{Rate: opusRate})
	if err != nil {
		return nil, err
	}
	packet := make([]byte, opus.MaxPacket)
	return func(dst []byte, pcm []int16) ([]byte, error) {
		n, err := e.Encode(packet, pcm)
		return append(dst, packet[:n]...), err
	}, nil
}

// format returns the codec in an offer.
func (c *codec) format() sdp.Format {
	return sdp.Format{Type: c.kind, Name: c.name, Clock: c.clock, Channels: c.channels, Params: c.params}
}

// is reports whether a format is of the codec. The types below 96 have a meaning without a name
// (RFC 3551, section 6).
func (c *codec) is(f sdp.Format) bool {
	if f.Name == "" {
		return f.Type == c.kind && c.kind < 96
	}
	return strings.EqualFold(f.Name, c.name) && f.Clock == c.clock && max(f.Channels, 1) == c.channels
}

// codecOf returns the codec of a format among those that are allowed, or nil.
func codecOf(allowed []*codec, f sdp.Format) *codec {
	if i := slices.IndexFunc(allowed, func(c *codec) bool { return c.is(f) }); i >= 0 {
		return allowed[i]
	}
	return nil
}
