package rtpsound

import (
	"fmt"
	"time"

	"github.com/hocketvoice/hocket/audio"
	"github.com/hocketvoice/hocket/internal/codec/g722"
	"github.com/hocketvoice/hocket/internal/codec/opus"
	"github.com/hocketvoice/hocket/internal/codec/plc"
)

// Decoder decodes the payloads of a stream to mono sound. Decode, Recover, Conceal and Reset are called
// by one goroutine; the others may be called by others meanwhile.
type Decoder interface {
	// Rate and Clock return the rates of the sound and of the timestamps in hertz.
	Rate() int
	Clock() int
	// Duration returns how long the sound of a payload is: above 0 and at most 120 ms. It returns
	// an error for a payload that cannot be decoded.
	Duration(payload []byte) (time.Duration, error)
	// Silent reports whether the sender pauses after a payload.
	Silent(payload []byte) bool
	// HasCopy reports whether a payload contains a copy of the one before it.
	HasCopy(payload []byte) bool
	// Decode decodes a payload into pcm, which has room for 120 ms.
	Decode(pcm []int16, payload []byte) (int, error)
	// Recover fills pcm with the lost payload before next.
	Recover(pcm []int16, next []byte) error
	// Conceal fills pcm with a continuation of the sound so far.
	Conceal(pcm []int16) error
	Reset()
}

// Opus returns a decoder of Opus.
func Opus(rate int) (Decoder, error) {
	d, err := opus.NewDecoder(opus.DecoderOptions{Rate: rate})
	if err != nil {
		return nil, err
	}
	return &opusDecoder{d, rate}, nil
}

type opusDecoder struct {
	*opus.Decoder
	rate int
}

func (d *opusDecoder) Rate() int { return d.rate }

func (*opusDecoder) Clock() int { return opus.ClockRate }

func (*opusDecoder) Duration(payload []byte) (time.Duration, error) { return opus.Duration(payload) }

func (*opusDecoder) Silent(payload []byte) bool { return opus.Silent(payload) }

func (*opusDecoder) HasCopy(payload []byte) bool { return opus.HasCopy(payload) }

// G711 returns a decoder of G.711.
func G711(law audio.G711) (Decoder, error) {
	return newWave(audio.G711Rate, func() func([]int16, []byte) []int16 { return law.AppendDecode })
}

// G722 returns a decoder of G.722.
func G722() (Decoder, error) {
	return newWave(g722.Rate, func() func([]int16, []byte) []int16 { return g722.NewDecoder().AppendDecode })
}

// wave decodes a codec whose payloads have 8000 bytes a second.
type wave struct {
	rate    int
	open    func() func(dst []int16, payload []byte) []int16
	decode  func(dst []int16, payload []byte) []int16
	missing *plc.Concealer
}

// waveClock is the clock of such codecs, also of G.722 (RFC 3551, section 4.5.2), and how many bytes a
// second of sound has.
const waveClock = 8000

func newWave(rate int, open func() func([]int16, []byte) []int16) (Decoder, error) {
	missing, err := plc.New(rate)
	if err != nil {
		return nil, err
	}
	return &wave{rate: rate, open: open, decode: open(), missing: missing}, nil
}

func (w *wave) Rate() int { return w.rate }

func (*wave) Clock() int { return waveClock }

func (*wave) Duration(payload []byte) (time.Duration, error) {
	const most = waveClock * 120 / 1000
	if len(payload) == 0 || len(payload) > most {
		return 0, fmt.Errorf("a payload of %d bytes: expected 1 to %d", len(payload), most)
	}
	return time.Duration(len(payload)) * time.Second / waveClock, nil
}

func (*wave) Silent([]byte) bool { return false }

func (*wave) HasCopy([]byte) bool { return false }

func (w *wave) Decode(pcm []int16, payload []byte) (int, error) {
	n := len(w.decode(pcm[:0], payload))
	w.missing.Arrived(pcm[:n])
	return n, nil
}

func (w *wave) Recover(pcm []int16, _ []byte) error { return w.Conceal(pcm) }

func (w *wave) Conceal(pcm []int16) error {
	w.missing.Conceal(pcm)
	return nil
}

func (w *wave) Reset() {
	w.decode = w.open()
	w.missing.Reset()
}
