package audio

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
)

// Limits of what may precede the sound. They leave room for images in tags and stop
// streams that contain no sound.
const (
	wavMaxHeader = 16 << 20 // bytes
	wavMaxChunks = 1000
)

// wavHeader reads a WAV file up to its first byte of sound. After parse returns,
// its fields contain the result.
type wavHeader struct {
	src         io.Reader
	maxChannels int
	offset      int64 // of the next byte of src

	riffSize uint32
	format   WAVFormat
	dataSize uint32 // 0 if open
	open     bool   // the size of the sound is not known
}

// parse reads the chunks up to and including the header of the data chunk. It skips
// unknown chunks before and after the fmt chunk.
func (h *wavHeader) parse() error {
	if err := h.riff(); err != nil {
		return err
	}
	haveFormat := false
	for range wavMaxChunks {
		at := h.offset
		var head [8]byte
		expected := "a fmt chunk"
		if haveFormat {
			expected = "a data chunk"
		}
		if err := h.read(head[:], expected); err != nil {
			return err
		}
		id, size := string(head[:4]), binary.LittleEndian.Uint32(head[4:])
		switch {
		case id == "data" && !haveFormat:
			return &WAVError{Offset: at, Found: "the data chunk", Expected: "a fmt chunk before it"}
		case id == "data":
			h.sound(size)
			return nil
		case id == "fmt " && haveFormat:
			return &WAVError{Offset: at, Found: "a second fmt chunk", Expected: "a data chunk"}
		case id == "fmt ":
			if err := h.fmtChunk(size); err != nil {
				return err
			}
			haveFormat = true
		default:
			if err := h.skip(id, int64(size)+int64(size&1)); err != nil {
				return err
			}
		}
	}
	return &WAVError{Offset: h.offset, Found: fmt.Sprintf("%d chunks without sound", wavMaxChunks), Expected: "a data chunk among them"}
}

// riff reads the first twelve bytes.
func (h *wavHeader) riff() error {
	var head [12]byte
	if err := h.read(head[:], "a RIFF header of 12 bytes"); err != nil {
		return err
	}
	switch id := string(head[:4]); id {
	case "RIFF":
	case "RIFX":
		return &WAVError{Found: "a big-endian RIFX file", Expected: `"RIFF" (little-endian)`}
	case "RF64", "BW64":
		return &WAVError{Found: fmt.Sprintf("a 64-bit %s file", id), Expected: `"RIFF" (less than 4 GiB)`}
	default:
		return &WAVError{Found: fmt.Sprintf("%q", id), Expected: `"RIFF"`}
	}
	if form := head[8:]; !bytes.Equal(form, []byte("WAVE")) {
		return &WAVError{Offset: 8, Found: fmt.Sprintf("a RIFF file of form %q", form), Expected: `"WAVE"`}
	}
	h.riffSize = binary.LittleEndian.Uint32(head[4:])
	return nil
}

// The size of a fmt chunk, without and with the extension.
const (
	wavFmtSize        = 16
	wavExtensibleSize = 40
)

// wavGUIDTail is the last 14 bytes of the subformats that contain an ordinary
// format tag.
var wavGUIDTail = [14]byte{0x00, 0x00, 0x00, 0x00, 0x10, 0x00, 0x80, 0x00, 0x00, 0xAA, 0x00, 0x38, 0x9B, 0x71}

// fmtChunk reads the body of a fmt chunk of the given size.
func (h *wavHeader) fmtChunk(size uint32) error {
	if size < wavFmtSize {
		return &WAVError{Offset: h.offset - 4, Found: fmt.Sprintf("a fmt chunk of %d bytes", size), Expected: "at least 16"}
	}
	at := h.offset
	var body [wavExtensibleSize]byte
	known := min(int(size), len(body))
	if err := h.read(body[:known], "the fmt chunk's body"); err != nil {
		return err
	}
	if err := h.skip("fmt ", int64(size)+int64(size&1)-int64(known)); err != nil {
		return err
	}
	tag := WAVEncoding(binary.LittleEndian.Uint16(body[0:]))
	tagAt := at
	if tag == wavExtensible {
		if size < wavExtensibleSize {
			return &WAVError{Offset: at - 4, Found: fmt.Sprintf("an extensible fmt chunk of %d bytes", size), Expected: "at least 40"}
		}
		tagAt = at + 24
		if !bytes.Equal(body[26:40], wavGUIDTail[:]) {
			return &WAVError{Offset: tagAt, Found: fmt.Sprintf("subformat %x", body[24:40]), Expected: "one that holds a format tag"}
		}
		tag = WAVEncoding(binary.LittleEndian.Uint16(body[24:]))
	}
	h.format = WAVFormat{
		Encoding: tag,
		Channels: int(binary.LittleEndian.Uint16(body[2:])),
		Rate:     int(min(binary.LittleEndian.Uint32(body[4:]), 1<<31-1)),
		Bits:     int(binary.LittleEndian.Uint16(body[14:])),
	}
	return h.checkFormat(at, tagAt, int(binary.LittleEndian.Uint16(body[12:])))
}

// checkFormat validates the format in the fmt chunk whose body starts at the given
// offset.
func (h *wavHeader) checkFormat(at, tagAt int64, blockSize int) error {
	f := h.format
	fail := func(offset int64, expected, found string, args ...any) error {
		return &WAVError{Offset: offset, Found: fmt.Sprintf(found, args...), Expected: expected}
	}
	switch f.Encoding {
	case WAVPCM:
		if f.Bits != 8 && f.Bits != 16 && f.Bits != 24 && f.Bits != 32 {
			return fail(at+14, "8, 16, 24 or 32", "PCM of %d bits", f.Bits)
		}
	case WAVFloat:
		if f.Bits != 32 && f.Bits != 64 {
			return fail(at+14, "32 or 64", "floating point of %d bits", f.Bits)
		}
	case WAVALaw, WAVMuLaw:
		if f.Bits != 8 {
			return fail(at+14, "8", "%v of %d bits", f.Encoding, f.Bits)
		}
	default:
		return fail(tagAt, "1 (PCM), 3 (float), 6 (A-law) or 7 (mu-law)", "%v", f.Encoding)
	}
	switch {
	case f.Channels < 1 || f.Channels > h.maxChannels:
		return fail(at+2, fmt.Sprintf("1 to %d", h.maxChannels), "%d channels", f.Channels)
	case f.Rate < MinRate || f.Rate > MaxRate:
		return fail(at+4, fmt.Sprintf("%d to %d Hz", MinRate, MaxRate), "a rate of %d Hz", f.Rate)
	case blockSize != f.blockSize():
		return fail(at+12, fmt.Sprintf("%d for %d channels of %d bits", f.blockSize(), f.Channels, f.Bits), "blocks of %d bytes", blockSize)
	}
	return nil
}

// sound interprets the size of the data chunk, whose body comes next.
func (h *wavHeader) sound(size uint32) {
	const slack = 1 << 12 // some programs subtract the header's size, others round down
	switch {
	case size > 1<<32-1-slack, size >= 1<<31-slack && size < 1<<31:
		h.open = true
	case size == 0:
		// The RIFF size excludes the first 8 bytes. If it extends past this point
		// and is not a placeholder itself, more chunks follow.
		followed := int64(h.riffSize)+8 > h.offset && h.riffSize < 1<<31-slack
		h.open = !followed
	default:
		h.dataSize = size
	}
}

// read fills p. The error names what was expected.
func (h *wavHeader) read(p []byte, expected string) error {
	n, err := io.ReadFull(h.src, p)
	h.offset += int64(n)
	return h.readError(err, expected)
}

// skip skips n bytes of the chunk with the given id.
func (h *wavHeader) skip(id string, n int64) error {
	if h.offset+n > wavMaxHeader {
		return &WAVError{
			Offset:   h.offset,
			Found:    fmt.Sprintf("%d more bytes of chunk %q", n, id),
			Expected: fmt.Sprintf("the sound within the first %d bytes", wavMaxHeader),
		}
	}
	skipped, err := io.CopyN(io.Discard, h.src, n)
	h.offset += skipped
	return h.readError(err, fmt.Sprintf("%d more bytes of chunk %q", n-skipped, id))
}

func (h *wavHeader) readError(err error, expected string) error {
	switch {
	case err == nil:
		return nil
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
		return &WAVError{Offset: h.offset, Found: "the end of the file", Expected: expected, Err: io.ErrUnexpectedEOF}
	default:
		return fmt.Errorf("wav: read header at byte %d: %w", h.offset, err)
	}
}
