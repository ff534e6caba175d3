package audio

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"
)

// WAVEncoding is the encoding of the samples in a WAV file: the format tag of its
// fmt chunk.
type WAVEncoding uint16

// The encodings that [WAVReader] understands.
const (
	WAVPCM   WAVEncoding = 1 // integers: 8 bits unsigned, or 16, 24, 32 bits signed
	WAVFloat WAVEncoding = 3 // IEEE 754 of 32 or 64 bits, full scale at 1
	WAVALaw  WAVEncoding = 6 // G.711, 8 bits
	WAVMuLaw WAVEncoding = 7 // G.711, 8 bits

	wavExtensible WAVEncoding = 0xFFFE // the extension contains the actual tag
)

// String returns the name of the encoding.
func (e WAVEncoding) String() string {
	switch e {
	case WAVPCM:
		return "PCM"
	case WAVFloat:
		return "float"
	case WAVALaw:
		return "A-law"
	case WAVMuLaw:
		return "mu-law"
	default:
		return fmt.Sprintf("format tag %d", uint16(e))
	}
}

// WAVFormat describes the sound of a WAV file.
type WAVFormat struct {
	Encoding WAVEncoding
	Rate     int // samples per second and channel
	Channels int
	Bits     int // of one stored sample
}

// sampleSize returns the size of one sample in bytes.
func (f WAVFormat) sampleSize() int { return f.Bits / 8 }

// blockSize returns the size of one sample of every channel in bytes.
func (f WAVFormat) blockSize() int { return f.sampleSize() * f.Channels }

// WAVError reports an invalid WAV file and the place of the error. Err is
// [io.ErrUnexpectedEOF] if the file is truncated.
type WAVError struct {
	Offset   int64 // in bytes from the start of the file
	Found    string
	Expected string
	Err      error // may be nil
}

// Error returns the place, what was found, and what was expected.
func (e *WAVError) Error() string {
	return fmt.Sprintf("wav: byte %d: found %s: expected %s", e.Offset, e.Found, e.Expected)
}

// Unwrap returns Err.
func (e *WAVError) Unwrap() error { return e.Err }

const (
	wavMaxChannels = 32   // more than the microphone array of a meeting room has
	wavBufferBytes = 4096 // buffer size: 128 ms of 16 kHz mono
)

// WAVReaderOptions configures a [WAVReader]. The zero value selects the defaults.
type WAVReaderOptions struct {
	// MaxChannels is the largest number of channels that a file may have. The
	// default is 2, the maximum is 32.
	MaxChannels int
}

// Validate returns an error if an option is invalid.
func (o WAVReaderOptions) Validate() error {
	if o.MaxChannels < 0 || o.MaxChannels > wavMaxChannels {
		return fmt.Errorf("wav reader: MaxChannels is %d: expected 1 to %d, or 0 for 2", o.MaxChannels, wavMaxChannels)
	}
	return nil
}

// WAVReader reads a WAV file from a stream and converts its samples to 16-bit PCM.
// It buffers up to 4 KB and does not read past the sound.
//
// The length of the sound is taken from the data chunk; the size in the RIFF header
// is often wrong and is ignored. Programs that write a stream (ffmpeg, sox, espeak,
// speech synthesis services) use a size of 0, 0xFFFFFFFF or 0x7FFFFFFF, or up to 4
// KB less; the sound then lasts until the stream ends. A size of 0 is taken
// literally only if the RIFF size shows that more chunks follow. Bytes at the end
// that are not a whole sample of every channel are ignored.
//
// A WAVReader must be used by one goroutine at a time. It does not close the
// stream, and allocates nothing after [NewWAVReader].
//
// Source: Microsoft and IBM, "Multimedia Programming Interface and Data
// Specifications 1.0", 1991 (RIFF, WAVE); Microsoft, "Multiple Channel Audio Data
// and WAVE Files" (WAVE_FORMAT_EXTENSIBLE); the tags of RFC 2361.
type WAVReader struct {
	src    io.Reader
	format WAVFormat
	frames Pos  // length of the sound according to the header
	open   bool // the length is not known

	offset int64   // of the next byte of src
	left   int64   // bytes of sound not yet read, unless open
	err    error   // returned by every further read
	buf    []byte  // whole blocks
	mixed  []int16 // interleaved samples before conversion to mono; nil for mono files
}

// NewWAVReader reads the header, up to the first byte of sound. It returns a
// [*WAVError] if the header is invalid, truncated or not supported, and otherwise
// the error of r.
func NewWAVReader(r io.Reader, o WAVReaderOptions) (*WAVReader, error) {
	if err := o.Validate(); err != nil {
		return nil, err
	}
	if o.MaxChannels == 0 {
		o.MaxChannels = 2
	}
	h := wavHeader{src: r, maxChannels: o.MaxChannels}
	if err := h.parse(); err != nil {
		return nil, err
	}
	block := h.format.blockSize()
	w := &WAVReader{
		src:    r,
		format: h.format,
		open:   h.open,
		offset: h.offset,
		left:   int64(h.dataSize),
		frames: Pos(int64(h.dataSize) / int64(block)),
		buf:    make([]byte, wavBufferBytes/block*block),
	}
	if w.format.Channels > 1 {
		w.mixed = make([]int16, len(w.buf)/w.format.sampleSize())
	}
	return w, nil
}

// Format returns the format of the sound according to the header.
func (w *WAVReader) Format() WAVFormat { return w.format }

// Length returns the number of samples per channel according to the header. It
// returns false for a streamed file, whose header does not contain the length.
func (w *WAVReader) Length() (Pos, bool) { return w.frames, !w.open }

// Read fills dst with the next samples, with interleaved channels, and returns
// their number, a multiple of the number of channels. It blocks until dst is full
// or the sound ends. At the end it returns 0 and [io.EOF], or a [*WAVError] that
// wraps [io.ErrUnexpectedEOF] if the file ends before the length in its header.
func (w *WAVReader) Read(dst []int16) (int, error) {
	if len(dst) == 0 {
		return 0, nil
	}
	want := len(dst) / w.format.Channels * w.format.Channels
	if want == 0 {
		return 0, fmt.Errorf("wav: read %d channels into %d samples: %w", w.format.Channels, len(dst), io.ErrShortBuffer)
	}
	n := 0
	for n < want && w.err == nil {
		got := w.fill((want - n) * w.format.sampleSize())
		n += w.decode(dst[n:], w.buf[:got])
	}
	if n > 0 {
		return n, nil
	}
	return 0, w.err
}

// ReadMono reads like Read but mixes all channels to one: each sample is the mean
// of the channels.
func (w *WAVReader) ReadMono(dst []int16) (int, error) {
	channels := w.format.Channels
	if channels == 1 {
		return w.Read(dst)
	}
	n := 0
	for n < len(dst) {
		part := w.mixed[:min((len(dst)-n)*channels, len(w.mixed))]
		got, err := w.Read(part)
		if err != nil {
			if n > 0 {
				break // the next call returns the error again
			}
			return 0, err
		}
		for ; got > 0; got -= channels {
			sum := 0
			for _, s := range part[:channels] {
				sum += int(s)
			}
			dst[n] = int16(math.RoundToEven(float64(sum) / float64(channels)))
			part = part[channels:]
			n++
		}
	}
	return n, nil
}

// ReadAllMono reads what is left of the file like ReadMono, but not more than limit samples; a
// limit of 0 means all of it. The end of the file is not an error.
func (w *WAVReader) ReadAllMono(limit int) ([]int16, error) {
	var pcm []int16
	buf := make([]int16, 4096)
	for limit == 0 || len(pcm) < limit {
		part := buf
		if limit > 0 {
			part = buf[:min(len(buf), limit-len(pcm))]
		}
		n, err := w.ReadMono(part)
		pcm = append(pcm, part[:n]...)
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return pcm, err
		}
	}
	return pcm, nil
}

// fill reads up to size bytes, a whole number of blocks, into buf and returns the
// number read. It sets err after the last block.
func (w *WAVReader) fill(size int) int {
	block := w.format.blockSize()
	size = min(size, len(w.buf))
	if !w.open {
		size = int(min(int64(size), w.left/int64(block)*int64(block)))
		if size == 0 {
			w.err = io.EOF
			return 0
		}
	}
	got, err := io.ReadFull(w.src, w.buf[:size])
	w.offset += int64(got)
	w.left -= int64(got)
	switch {
	case err == nil:
	case !errors.Is(err, io.EOF) && !errors.Is(err, io.ErrUnexpectedEOF):
		w.err = fmt.Errorf("wav: read sound at byte %d: %w", w.offset, err)
	case w.open:
		w.err = io.EOF
	default:
		w.err = &WAVError{
			Offset:   w.offset,
			Found:    "the end of the file",
			Expected: fmt.Sprintf("%d more bytes of sound", w.left),
			Err:      io.ErrUnexpectedEOF,
		}
	}
	return got / block * block
}

// decode converts the samples in src to dst, which must be long enough, and returns
// their number.
func (w *WAVReader) decode(dst []int16, src []byte) int {
	size := w.format.sampleSize()
	n := len(src) / size
	dst = dst[:n]
	switch {
	case w.format.Encoding == WAVMuLaw:
		MuLaw.AppendDecode(dst[:0], src)
	case w.format.Encoding == WAVALaw:
		ALaw.AppendDecode(dst[:0], src)
	case w.format.Encoding == WAVFloat && size == 4:
		for i := range dst {
			dst[i] = fromFloat(float64(math.Float32frombits(binary.LittleEndian.Uint32(src[4*i:]))))
		}
	case w.format.Encoding == WAVFloat:
		for i := range dst {
			dst[i] = fromFloat(math.Float64frombits(binary.LittleEndian.Uint64(src[8*i:])))
		}
	case size == 1:
		for i, b := range src {
			dst[i] = (int16(b) - 128) << 8
		}
	case size == 2:
		for i := range dst {
			dst[i] = int16(binary.LittleEndian.Uint16(src[2*i:]))
		}
	case size == 3:
		for i := range dst {
			b := src[3*i : 3*i+3]
			v := int32(b[0])<<8 | int32(b[1])<<16 | int32(b[2])<<24
			dst[i] = from32(v)
		}
	default:
		for i := range dst {
			dst[i] = from32(int32(binary.LittleEndian.Uint32(src[4*i:])))
		}
	}
	return n
}

// from32 rounds a 32-bit sample to 16 bits.
func from32(v int32) int16 {
	return saturate(int32((int64(v) + 1<<15) >> 16))
}

// fromFloat rounds a sample from -1 to 1. NaN becomes silence.
func fromFloat(v float64) int16 {
	v = math.RoundToEven(v * fullScale)
	if math.IsNaN(v) {
		return 0
	}
	return int16(max(math.MinInt16, min(math.MaxInt16, v)))
}
