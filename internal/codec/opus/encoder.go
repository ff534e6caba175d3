package opus

import (
	"fmt"

	"github.com/thesyncim/gopus"
)

// EncoderOptions configures an [Encoder]. Rate is required; other zero fields
// select the defaults.
type EncoderOptions struct {
	Rate    int // in hertz: 8000, 12000, 16000, 24000 or 48000; required
	Bitrate int // bits per second; default 32000
	// Complexity is the encoding effort from 1 to 10. The default 5 takes half the
	// time of 10 and sounds the same for speech.
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

// Validate returns an error if an option is invalid.
func (o EncoderOptions) Validate() error {
	o.setDefaults()
	switch {
	case o.Bitrate < 6000 || o.Bitrate > 510000:
		return fmt.Errorf("opus: bitrate is %d: expected 6000 to 510000", o.Bitrate)
	case o.Complexity < 1 || o.Complexity > 10:
		return fmt.Errorf("opus: complexity is %d: expected 1 to 10", o.Complexity)
	}
	return checkRate(o.Rate)
}

// The first frames of silence are encoded, so that the decoder's output can fade.
// After that only one packet without sound is sent per period (discontinuous
// transmission, RFC 7587, section 3.1.3).
const (
	silentFrames = 10 // encoded frames of silence: 200 ms
	restFrames   = 20 // between packets without sound: 400 ms, as in libopus
)

// Encoder encodes frames of 20 ms. It must be used by one goroutine at a time.
type Encoder struct {
	frame  int
	loss   int
	silent int  // consecutive frames of digital silence
	toc    byte // of the last encoded packet
	e      *gopus.Encoder
}

// NewEncoder returns an encoder for speech.
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

// Encode encodes 20 ms of sound into packet, which must have room for [MaxPacket]
// bytes, and returns the packet's length. It returns 0 if nothing is to be sent
// because of silence.
func (e *Encoder) Encode(packet []byte, pcm []int16) (int, error) {
	if len(pcm) != e.frame {
		return 0, fmt.Errorf("opus: %d samples: expected the %d of 20 ms", len(pcm), e.frame)
	}
	if len(packet) == 0 {
		return 0, fmt.Errorf("opus: encode into 0 bytes: expected up to %d", MaxPacket)
	}
	switch {
	case !isSilent(pcm):
		if e.silent > silentFrames {
			// After a pause the decoder's state differs from the encoder's.
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
		e.toc = packet[0] &^ 3 // one frame without content
	}
	return n, nil
}

// isSilent reports whether a frame is silent except for dither.
func isSilent(pcm []int16) bool {
	for _, v := range pcm {
		if v > 1 || v < -1 {
			return false
		}
	}
	return true
}

// SetLoss sets the expected packet loss in percent. If it is not zero, each packet
// contains a coarse copy of the previous one.
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

// Reset restores the initial state.
func (e *Encoder) Reset() {
	e.silent = 0
	e.e.Reset()
}
