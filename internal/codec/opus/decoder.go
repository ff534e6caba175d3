package opus

import (
	"fmt"
	"math"

	"github.com/thesyncim/gopus"
)

// DecoderOptions set up a [Decoder].
type DecoderOptions struct {
	Rate int // of the sound, in hertz: 8000, 12000, 16000, 24000 or 48000; required
}

// Validate says what does not fit.
func (o DecoderOptions) Validate() error { return checkRate(o.Rate) }

func checkRate(rate int) error {
	switch rate {
	case 8000, 12000, 16000, 24000, 48000:
		return nil
	default:
		return fmt.Errorf("opus: rate is %d, expected 8000, 12000, 16000, 24000 or 48000", rate)
	}
}

// Decoder turns packets into sound. A stereo packet is mixed down. It belongs to
// one goroutine.
type Decoder struct {
	rate    int
	d       *gopus.Decoder
	scratch []float32
}

// NewDecoder makes a decoder.
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

// Decode fills pcm with the sound of a packet and returns how many samples it
// is. A packet of 120 ms must have room.
func (d *Decoder) Decode(pcm []int16, packet []byte) (int, error) {
	// An empty packet would be taken for a lost one.
	if _, err := Duration(packet); err != nil {
		return 0, err
	}
	n, err := d.d.DecodeInt16(packet, pcm)
	if err != nil {
		return 0, fmt.Errorf("%w: %w", ErrPacket, err)
	}
	return n, nil
}

// Recover fills pcm with what was lost, as far as next, the packet behind it,
// has a copy of it (forward error correction); else with what fits. The lost
// packet was as long as pcm: whole multiples of 2.5 ms, at most 120 ms.
func (d *Decoder) Recover(pcm []int16, next []byte) error {
	if len(next) == 0 {
		return d.Conceal(pcm)
	}
	return d.lost(pcm, next)
}

// Conceal fills pcm with what may have followed the last packet; it fades. The
// length is a whole multiple of 2.5 ms, at most 120 ms.
func (d *Decoder) Conceal(pcm []int16) error { return d.lost(pcm, nil) }

func (d *Decoder) lost(pcm []int16, next []byte) error {
	if len(pcm) == 0 || len(pcm) > len(d.scratch) || len(pcm)%(d.rate/400) != 0 {
		return fmt.Errorf("opus: %d samples are lost, expected a multiple of %d up to %d", len(pcm), d.rate/400, len(d.scratch))
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

// sample rounds to 16 bits. What is not a number is silence.
func sample(v float32) int16 {
	v = float32(math.RoundToEven(float64(v) * 32768))
	if v != v {
		return 0
	}
	return int16(max(math.MinInt16, min(math.MaxInt16, v)))
}

// HasCopy reports whether a packet carries a copy of the one before it, for
// [Decoder.Recover].
func HasCopy(packet []byte) bool { return gopus.PacketHasLBRR(packet) }

// Reset forgets the past, as at the start.
func (d *Decoder) Reset() { d.d.Reset() }
