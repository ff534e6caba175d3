package opus

import (
	"fmt"

	"github.com/thesyncim/gopus"
)

// EncoderOptions set up an [Encoder]. Zero fields take the defaults named.
type EncoderOptions struct {
	Rate    int // of the sound, in hertz: 8000, 12000, 16000, 24000 or 48000; required
	Bitrate int // bits a second: 32000
	// Complexity is the effort, 1 to 10: 5, which takes half the time of 10 and
	// sounds the same for speech.
	Complexity int
}

func (o *EncoderOptions) setDefaults() {
	if o.Bitrate == 0 {
		o.Bitrate = 32000
	}
	if o.Complexity == 0 {
		o.Complexity = 5
	}
}

// Validate says what does not fit.
func (o EncoderOptions) Validate() error {
	o.setDefaults()
	switch {
	case o.Bitrate < 6000 || o.Bitrate > 510000:
		return fmt.Errorf("opus: bitrate is %d, expected 6000 to 510000", o.Bitrate)
	case o.Complexity < 1 || o.Complexity > 10:
		return fmt.Errorf("opus: complexity is %d, expected 1 to 10", o.Complexity)
	}
	return checkRate(o.Rate)
}

// Silence is encoded for a while, so that what the decoder holds has faded; then
// one packet without sound is sent every so often, and the sender rests
// (discontinuous transmission, RFC 7587, section 3.1.3).
const (
	silentFrames = 10 // that are encoded: 200 ms
	restFrames   = 20 // between the packets of a rest: 400 ms, as libopus has it
)

// Encoder turns frames of 20 ms into packets. It belongs to one goroutine.
type Encoder struct {
	frame  int
	loss   int
	silent int  // frames of digital silence in a row
	toc    byte // of the last packet that was encoded
	e      *gopus.Encoder
}

// NewEncoder makes an encoder for speech.
func NewEncoder(o EncoderOptions) (*Encoder, error) {
	if err := o.Validate(); err != nil {
		return nil, err
	}
	o.setDefaults()
	e, err := gopus.NewEncoder(gopus.EncoderConfig{SampleRate: o.Rate, Channels: 1, Application: gopus.ApplicationVoIP})
	if err != nil {
		return nil, fmt.Errorf("opus: %w", err)
	}
	for _, err := range []error{
		e.SetBitrate(o.Bitrate), e.SetComplexity(o.Complexity), e.SetSignal(gopus.SignalVoice), e.SetFrameSize(o.Rate / 50),
	} {
		if err != nil {
			return nil, fmt.Errorf("opus: %w", err)
		}
	}
	return &Encoder{frame: o.Rate / 50, e: e}, nil
}

// Encode puts 20 ms of sound into packet, which has room for [MaxPacket] bytes,
// and returns how many it took; 0 where nothing is to be sent, because all has
// been silent for a while.
func (e *Encoder) Encode(packet []byte, pcm []int16) (int, error) {
	if len(pcm) != e.frame {
		return 0, fmt.Errorf("opus: %d samples, expected the %d of 20 ms", len(pcm), e.frame)
	}
	if len(packet) == 0 {
		return 0, fmt.Errorf("opus: encode into 0 bytes, expected up to %d", MaxPacket)
	}
	switch {
	case !isSilent(pcm):
		if e.silent > silentFrames {
			// What the decoder has made of the rest is not what the encoder would
			// build upon.
			e.e.Reset()
		}
		e.silent = 0
	case e.silent >= silentFrames:
		e.silent++
		if (e.silent-silentFrames-1)%restFrames != 0 {
			return 0, nil
		}
		packet[0] = e.toc
		return 1, nil
	default:
		e.silent++
	}
	n, err := e.e.EncodeInt16(pcm, packet)
	if err != nil {
		return 0, fmt.Errorf("opus: encode: %w", err)
	}
	if n > 0 {
		e.toc = packet[0] &^ 3 // one frame, and nothing in it
	}
	return n, nil
}

// isSilent reports whether there is nothing in a frame, dither aside.
func isSilent(pcm []int16) bool {
	for _, v := range pcm {
		if v > 1 || v < -1 {
			return false
		}
	}
	return true
}

// SetLoss says how many of a hundred packets get lost on the way. When any do,
// each packet carries a coarse copy of the one before.
func (e *Encoder) SetLoss(percent int) error {
	percent = max(0, min(percent, 100))
	if percent == e.loss {
		return nil
	}
	e.loss = percent
	e.e.SetFEC(percent > 0)
	if err := e.e.SetPacketLoss(percent); err != nil {
		return fmt.Errorf("opus: %w", err)
	}
	return nil
}

// Reset forgets the past, as at the start.
func (e *Encoder) Reset() {
	e.silent = 0
	e.e.Reset()
}
