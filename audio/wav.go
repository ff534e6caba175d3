package audio

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"
)

// WAVEncoding is how a WAV file codes its samples: the format tag of its fmt
// chunk.
type WAVEncoding uint16

// The encodings that [WAVReader] understands.
const (
	WAVPCM   WAVEncoding = 1 // integers: 8 bits unsigned, or 16, 24, 32 bits signed
	WAVFloat WAVEncoding = 3 // IEEE 754 of 32 or 64 bits, full scale at 1
	WAVALaw  WAVEncoding = 6 // G.711, 8 bits
	WAVMuLaw WAVEncoding = 7 // G.711, 8 bits

	wavExtensible WAVEncoding = 0xFFFE // the true tag is in the extension
)

// String names the encoding.
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
	Bits     int // of one sample as stored
}

// sampleSize is in bytes.
func (f WAVFormat) sampleSize() int { return f.Bits / 8 }

// blockSize is the bytes of one sample of every channel.
func (f WAVFormat) blockSize() int { return f.sampleSize() * f.Channels }

// WAVError says what is wrong with a WAV file, and where. Err is
// [io.ErrUnexpectedEOF] when the file ends early.
type WAVError struct {
	Offset   int64 // in bytes from the start of the file
	Found    string
	Expected string
	Err      error // may be nil
}

// Error is one line: place, finding, expectation.
func (e *WAVError) Error() string {
	return fmt.Sprintf("wav: byte %d: found %s, expected %s", e.Offset, e.Found, e.Expected)
}

// Unwrap returns Err.
func (e *WAVError) Unwrap() error { return e.Err }

const (
	wavMaxChannels = 32   // more than any microphone array of a meeting room
	wavBufferBytes = 4096 // read at a time: 128 ms of 16 kHz mono
)

// WAVReaderOptions sets up a [WAVReader]; the zero value is the default.
type WAVReaderOptions struct {
	// MaxChannels is how many channels a file may have; files with more are
	// refused. The default is 2, the most is 32.
	MaxChannels int
}

// Validate says what does not fit.
func (o WAVReaderOptions) Validate() error {
	if o.MaxChannels < 0 || o.MaxChannels > wavMaxChannels {
		return fmt.Errorf("wav reader: MaxChannels is %d, expected 1 to %d, or 0 for 2", o.MaxChannels, wavMaxChannels)
	}
	return nil
}

// WAVReader reads a WAV file from a stream and converts its samples to 16-bit
// PCM. It holds 4 KB of the file at a time and reads no further than the sound.
//
// The number of bytes that the header announces for the sound is what counts;
// what the RIFF header says of the whole file is mostly wrong in practice and
// ignored. A size of 0, of 0xFFFFFFFF or of 0x7FFFFFFF, each less up to 4 KB,
// is what programs write that stream (ffmpeg, sox, espeak, speech synthesis
// services): the sound then lasts until the stream ends. A size of 0 is taken
// literally only when the RIFF size says that more chunks follow. Bytes at the
// end that make no whole sample of every channel are ignored.
//
// A WAVReader belongs to one goroutine; it does not close the stream. Reading
// allocates nothing after [NewWAVReader].
//
// Source: Microsoft and IBM, "Multimedia Programming Interface and Data
// Specifications 1.0", 1991 (RIFF, WAVE); Microsoft, "Multiple Channel Audio
// Data and WAVE Files" (WAVE_FORMAT_EXTENSIBLE); the tags of RFC 2361.
type WAVReader struct {
	src    io.Reader
	format WAVFormat
	frames Pos  // of the sound, as announced
	open   bool // nobody knows how many there are

	offset int64   // of the next byte of src
	left   int64   // bytes of sound not yet read, unless open
	err    error   // what every further read returns
	buf    []byte  // whole blocks
	mixed  []int16 // interleaved samples on the way to mono; nil for mono files
}

// NewWAVReader reads the header, up to the first byte of sound. The error is a
// [*WAVError] if the header is broken, truncated, absurd or of a kind that is
// not supported, and otherwise what r returned.
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

// Format is what the header says of the sound.
func (w *WAVReader) Format() WAVFormat { return w.format }

// Length is how many samples each channel has, by the header. It is false for
// a streamed file, whose header does not know.
func (w *WAVReader) Length() (Pos, bool) { return w.frames, !w.open }

// Read fills dst with the next samples, the channels interleaved, and returns
// how many these are, always a multiple of the number of channels. It waits
// until dst is full or the sound ends. At the end it returns [io.EOF], and for
// a file that ends before the sound that its header announces a [*WAVError]
// that wraps [io.ErrUnexpectedEOF], each with 0 samples and after all there
// were.
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

// ReadMono is Read for who wants one channel: each sample is the mean of all
// channels.
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
				break // the next call returns it again
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

// fill reads up to size bytes, a number of whole blocks, into buf and returns
// how many there are. It sets err behind the last block.
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

// decode converts the samples in src, which dst has room for, and returns how
// many there are.
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

// fromFloat rounds a sample of -1 to 1. What is not a number is silence.
func fromFloat(v float64) int16 {
	v = math.RoundToEven(v * fullScale)
	if math.IsNaN(v) {
		return 0
	}
	return int16(max(math.MinInt16, min(math.MaxInt16, v)))
}
