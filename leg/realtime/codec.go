package realtime

import (
	"encoding/binary"

	"github.com/hocketvoice/hocket/audio"
	wire "github.com/hocketvoice/hocket/internal/wire/realtime"
)

// decoder decodes sound from the client to samples at the leg's rate. It must be used
// by one goroutine.
type decoder struct {
	format wire.Format
	odd    []byte // the first byte of an incomplete sample
	up     *audio.Resampler
	pcm    []int16
}

// decode returns the samples in b. The caller owns the result.
func (d *decoder) decode(f wire.Format, b []byte) ([]int16, error) {
	if f != d.format {
		*d = decoder{format: f}
		if rate := f.SampleRate(); rate != legRate {
			up, err := audio.NewResampler(audio.ResamplerOptions{From: rate, To: legRate})
			if err != nil {
				return nil, err
			}
			d.up = up
		}
	}
	d.pcm = d.pcm[:0]
	switch f.Type {
	case wire.PCMU:
		d.pcm = audio.MuLaw.AppendDecode(d.pcm, b)
	case wire.PCMA:
		d.pcm = audio.ALaw.AppendDecode(d.pcm, b)
	default:
		if len(d.odd) > 0 {
			b = append(d.odd, b...)
		}
		for ; len(b) > 1; b = b[2:] {
			d.pcm = append(d.pcm, int16(binary.LittleEndian.Uint16(b)))
		}
		d.odd = append([]byte(nil), b...)
	}
	if d.up != nil {
		return d.up.Append(nil, d.pcm), nil
	}
	return append([]int16(nil), d.pcm...), nil
}

// encoder encodes the agent's samples in a format. It must be used by one goroutine at
// a time.
type encoder struct {
	format wire.Format
	down   *audio.Resampler
	pcm    []int16
	bytes  []byte
}

func newEncoder(f wire.Format) (*encoder, error) {
	e := &encoder{format: f}
	if rate := f.SampleRate(); rate != legRate {
		down, err := audio.NewResampler(audio.ResamplerOptions{From: legRate, To: rate})
		if err != nil {
			return nil, err
		}
		e.down = down
	}
	return e, nil
}

// encode returns the encoded samples, which are valid until the next call.
func (e *encoder) encode(pcm []int16) []byte {
	if e.down != nil {
		e.pcm = e.down.Append(e.pcm[:0], pcm)
		pcm = e.pcm
	}
	return e.write(pcm)
}

// rest returns the encoded samples that the resampler still holds.
func (e *encoder) rest() []byte {
	if e.down == nil {
		return nil
	}
	e.pcm = e.down.Flush(e.pcm[:0])
	return e.write(e.pcm)
}

func (e *encoder) write(pcm []int16) []byte {
	e.bytes = e.bytes[:0]
	switch e.format.Type {
	case wire.PCMU:
		e.bytes = audio.MuLaw.AppendEncode(e.bytes, pcm)
	case wire.PCMA:
		e.bytes = audio.ALaw.AppendEncode(e.bytes, pcm)
	default:
		for _, s := range pcm {
			e.bytes = binary.LittleEndian.AppendUint16(e.bytes, uint16(s))
		}
	}
	return e.bytes
}
