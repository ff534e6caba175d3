package opus

import (
	"fmt"
	"math"

	"github.com/thesyncim/gopus"
)

// DecoderOptions configures a [Decoder].
type DecoderOptions struct {
	Rate int // of the sound, in hertz: 8000, 12000, 16000, 24000 or 48000; required
}

// Validate returns an error if the rate is not supported.
func (o DecoderOptions) Validate() error { return checkRate(o.Rate) }

func checkRate(rate int) error {
	switch rate {
	case 8000, 12000, 16000, 24000, 48000:
		return nil
	default:
		return fmt.Errorf("opus: rate is %d: expected 8000, 12000, 16000, 24000 or 48000", rate)
	}
}

// Decoder decodes packets to mono sound. Stereo packets are mixed down. It must be
// used by one goroutine at a time.
type Decoder struct {
	rate    int
	d       *gopus.Decoder
	scratch []float32
}

// NewDecoder returns a decoder.
func NewDecoder(o DecoderOptions) (*Decoder, error) {
	if err := o.Validate(); err != nil {
		return nil, err
	}
	longest := o.Rate / 1000 * int(maxDuration.Milliseconds())
	d, err := gopus.NewDecoder(gopus.DecoderConfig{
		SampleRate: o.Rate, Channels: 1, MaxPacketSamples: longest, MaxPacketBytes: MaxPacket,
	})
	if err != nil {
		return nil, fmt.Errorf("opus: %w", err)
	}
	return &Decoder{rate: o.Rate, d: d, scratch: make([]float32, longest)}, nil
}

// Decode decodes a packet into pcm and returns the number of samples. pcm must have
// room for a packet of 120 ms.
func (d *Decoder) Decode(pcm []int16, packet []byte) (int, error) {
	// The library would take an empty packet for a lost one.
	if _, err := Duration(packet); err != nil {
		return 0, err
	}
	n, err := d.d.DecodeInt16(packet, pcm)
	if err != nil {
		return 0, fmt.Errorf("%w: %w", ErrPacket, err)
	}
	return n, nil
}

// Recover fills pcm with the lost packet before next: from the copy in next if
// there is one (forward error correction), or else by concealment. pcm must be as
// long as the lost packet: a multiple of 2.5 ms, at most 120 ms.
func (d *Decoder) Recover(pcm []int16, next []byte) error {
	if len(next) == 0 {
		return d.Conceal(pcm)
	}
	return d.lost(pcm, next)
}

// Conceal fills pcm with a fading continuation of the last packet. The length must
// be a multiple of 2.5 ms, at most 120 ms.
func (d *Decoder) Conceal(pcm []int16) error { return d.lost(pcm, nil) }

func (d *Decoder) lost(pcm []int16, next []byte) error {
	if len(pcm) == 0 || len(pcm) > len(d.scratch) || len(pcm)%(d.rate/400) != 0 {
		return fmt.Errorf("opus: %d lost samples: expected a multiple of %d up to %d", len(pcm), d.rate/400, len(d.scratch))
	}
	out := d.scratch[:len(pcm)]
	n, err := d.d.DecodeWithFEC(next, out, true)
	if err != nil {
		return fmt.Errorf("%w: %w", ErrPacket, err)
	}
	for i, v := range out[:n] {
		pcm[i] = sample(v)
	}
	clear(pcm[n:])
	return nil
}

// sample rounds to 16 bits. NaN becomes silence.
func sample(v float32) int16 {
	v = float32(math.RoundToEven(float64(v) * 32768))
	if v != v {
		return 0
	}
	return int16(max(math.MinInt16, min(math.MaxInt16, v)))
}

// HasCopy reports whether a packet contains a copy of the previous one, for
// [Decoder.Recover].
func HasCopy(packet []byte) bool { return gopus.PacketHasLBRR(packet) }

// Reset restores the initial state.
func (d *Decoder) Reset() { d.d.Reset() }
