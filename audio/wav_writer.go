package audio

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
)

const (
	wavHeaderSize = 44         // of the files written by WAVWriter: RIFF, fmt of 16 bytes, data
	wavUnknown    = 0xFFFFFFFF // a size that means: until the end of the stream
)

// WAVWriterOptions configures a [WAVWriter].
type WAVWriterOptions struct {
	Rate     int // in hertz; required
	Channels int // 1 or 2; 0 means 1
}

// Validate returns an error if an option is invalid.
func (o WAVWriterOptions) Validate() error {
	if err := checkRate("wav writer: Rate", o.Rate); err != nil {
		return err
	}
	if o.Channels < 0 || o.Channels > 2 {
		return fmt.Errorf("wav writer: Channels is %d: expected 1 or 2, or 0 for 1", o.Channels)
	}
	return nil
}

// WAVWriter writes a WAV file of 16-bit PCM to a stream.
//
// Until Close, the header says that the sound lasts until the end of the stream, so
// that a file remains readable after a crash. Close writes the sizes if the stream
// can seek and the sound fits the size fields of a WAV file (4 GiB). Otherwise (a
// pipe, a socket) the header remains unchanged.
//
// A WAVWriter must be used by one goroutine at a time. It does not close the
// stream. The stream must not be a file opened for appending, since writes to such
// a file ignore seeking. Writing allocates nothing after [NewWAVWriter].
type WAVWriter struct {
	dst      io.Writer
	seeker   io.Seeker // nil if dst cannot seek
	start    int64     // offset of the WAV file if dst can seek
	channels int
	written  int64 // bytes of sound
	buf      [wavBufferBytes]byte
	err      error // the first error, or errWAVClosed
	closed   bool
}

var errWAVClosed = errors.New("wav: write after Close")

// NewWAVWriter writes the header at the current position of w.
func NewWAVWriter(w io.Writer, o WAVWriterOptions) (*WAVWriter, error) {
	if err := o.Validate(); err != nil {
		return nil, err
	}
	ww := &WAVWriter{dst: w, channels: max(o.Channels, 1)}
	if s, ok := w.(io.WriteSeeker); ok {
		// An *os.File has a Seek method even if it is a pipe, where it fails.
		if at, err := s.Seek(0, io.SeekCurrent); err == nil {
			ww.seeker, ww.start = s, at
		}
	}
	header := wavHeaderBytes(o.Rate, ww.channels)
	if _, err := w.Write(header[:]); err != nil {
		return nil, fmt.Errorf("wav: write header: %w", err)
	}
	return ww, nil
}

// wavHeaderBytes returns a header with unknown sizes.
func wavHeaderBytes(rate, channels int) (h [wavHeaderSize]byte) {
	le := binary.LittleEndian
	copy(h[0:], "RIFF")
	le.PutUint32(h[4:], wavUnknown)
	copy(h[8:], "WAVEfmt ")
	le.PutUint32(h[16:], wavFmtSize)
	le.PutUint16(h[20:], uint16(WAVPCM))
	le.PutUint16(h[22:], uint16(channels))
	le.PutUint32(h[24:], uint32(rate))
	le.PutUint32(h[28:], uint32(rate*channels*2)) // bytes per second
	le.PutUint16(h[32:], uint16(channels*2))      // bytes per block
	le.PutUint16(h[34:], 16)                      // bits per sample
	copy(h[36:], "data")
	le.PutUint32(h[40:], wavUnknown)
	return h
}

// Write writes interleaved samples. Their number must be a multiple of the number
// of channels.
func (w *WAVWriter) Write(pcm []int16) error {
	if w.err == nil && len(pcm)%w.channels != 0 {
		return fmt.Errorf("wav: write %d samples: expected a multiple of %d channels", len(pcm), w.channels)
	}
	for len(pcm) > 0 && w.err == nil {
		n := min(len(pcm), len(w.buf)/2)
		for i, s := range pcm[:n] {
			binary.LittleEndian.PutUint16(w.buf[2*i:], uint16(s))
		}
		pcm = pcm[n:]
		w.flush(2 * n)
	}
	return w.err
}

// WriteStereo writes two channels of equal length.
func (w *WAVWriter) WriteStereo(left, right []int16) error {
	if w.err == nil && (w.channels != 2 || len(left) != len(right)) {
		return fmt.Errorf("wav: write %d samples left and %d right to %d channels: expected as many on either side of 2", len(left), len(right), w.channels)
	}
	for len(left) > 0 && w.err == nil {
		n := min(len(left), len(w.buf)/4)
		for i := range n {
			binary.LittleEndian.PutUint16(w.buf[4*i:], uint16(left[i]))
			binary.LittleEndian.PutUint16(w.buf[4*i+2:], uint16(right[i]))
		}
		left, right = left[n:], right[n:]
		w.flush(4 * n)
	}
	return w.err
}

// flush writes the first size bytes of buf.
func (w *WAVWriter) flush(size int) {
	n, err := w.dst.Write(w.buf[:size])
	w.written += int64(n)
	if err == nil && n < size {
		err = io.ErrShortWrite
	}
	if err != nil {
		w.err = fmt.Errorf("wav: write sound: %w", err)
	}
}

// Close completes the header and leaves the stream at the end of the file. It
// returns the first error of the writer. After a failed write it still tries to
// complete the header. A second Close does nothing.
func (w *WAVWriter) Close() error {
	if w.closed {
		return nil
	}
	w.closed = true
	err := w.err
	if patchErr := w.patch(); err == nil && patchErr != nil {
		err = fmt.Errorf("wav: complete header: %w", patchErr)
	}
	w.err = errWAVClosed
	return err
}

// patch writes the sizes into the header.
func (w *WAVWriter) patch() error {
	block := int64(2 * w.channels)
	size := w.written / block * block // a failed write may have left an incomplete block
	if w.seeker == nil || size+wavHeaderSize-8 >= wavUnknown-(1<<12) {
		return nil
	}
	for _, field := range [...]struct {
		offset int64
		value  uint32
	}{
		{4, uint32(size + wavHeaderSize - 8)},
		{40, uint32(size)},
	} {
		if _, err := w.seeker.Seek(w.start+field.offset, io.SeekStart); err != nil {
			return err
		}
		var b [4]byte
		binary.LittleEndian.PutUint32(b[:], field.value)
		if _, err := w.dst.Write(b[:]); err != nil {
			return err
		}
	}
	_, err := w.seeker.Seek(w.start+wavHeaderSize+w.written, io.SeekStart)
	return err
}
