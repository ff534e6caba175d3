package carrier

import (
	"encoding/binary"

	"github.com/hocketvoice/hocket/audio"
	"github.com/hocketvoice/hocket/internal/codec/g722"
	"github.com/hocketvoice/hocket/internal/wire/mediastream"
)

// Decoder returns a function that appends the samples of a payload.
func Decoder(f mediastream.Format) func(dst []int16, payload []byte) []int16 {
	switch f.Encoding {
	case mediastream.MuLaw:
		return audio.MuLaw.AppendDecode
	case mediastream.ALaw:
		return audio.ALaw.AppendDecode
	case mediastream.G722:
		return g722.NewDecoder().AppendDecode
	default:
		order := byteOrder(f)
		return func(dst []int16, payload []byte) []int16 {
			for ; len(payload) >= 2; payload = payload[2:] {
				dst = append(dst, int16(order.Uint16(payload)))
			}
			return dst
		}
	}
}

// Encoder returns a function that appends the payload of samples.
func Encoder(f mediastream.Format) func(dst []byte, pcm []int16) []byte {
	switch f.Encoding {
	case mediastream.MuLaw:
		return audio.MuLaw.AppendEncode
	case mediastream.ALaw:
		return audio.ALaw.AppendEncode
	case mediastream.G722:
		return g722.NewEncoder().AppendEncode
	default:
		order := byteOrder(f)
		return func(dst []byte, pcm []int16) []byte {
			for _, s := range pcm {
				dst = order.AppendUint16(dst, uint16(s))
			}
			return dst
		}
	}
}

func byteOrder(f mediastream.Format) interface {
	binary.ByteOrder
	binary.AppendByteOrder
} {
	if f.Encoding == mediastream.LinearBE {
		return binary.BigEndian
	}
	return binary.LittleEndian
}

// resampler returns a function that converts sound from one rate to another. What it returns is
// valid until its next call.
func resampler(from, to int) (func([]int16) []int16, error) {
	if from == to {
		return func(pcm []int16) []int16 { return pcm }, nil
	}
	r, err := audio.NewResampler(audio.ResamplerOptions{From: from, To: to})
	if err != nil {
		return nil, err
	}
	var out []int16
	return func(pcm []int16) []int16 {
		out = r.Append(out[:0], pcm)
		return out
	}, nil
}
