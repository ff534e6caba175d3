package audio

import (
	"bytes"
	"encoding/binary"
	"errors"
	"io"
	"math"
	"slices"
	"strings"
	"testing"
	"testing/iotest"
)

// chunk returns a RIFF chunk with its padding.
func chunk(id string, body []byte) []byte {
	out := binary.LittleEndian.AppendUint32([]byte(id), uint32(len(body)))
	out = append(out, body...)
	if len(body)%2 == 1 {
		out = append(out, 0)
	}
	return out
}

// fmtBody makes the first 16 bytes of a fmt chunk.
func fmtBody(tag WAVEncoding, channels, rate, bits int) []byte {
	le := binary.LittleEndian
	b := le.AppendUint16(nil, uint16(tag))
	b = le.AppendUint16(b, uint16(channels))
	b = le.AppendUint32(b, uint32(rate))
	b = le.AppendUint32(b, uint32(rate*channels*bits/8))
	b = le.AppendUint16(b, uint16(channels*bits/8))
	return le.AppendUint16(b, uint16(bits))
}

// extensibleBody makes a WAVE_FORMAT_EXTENSIBLE fmt chunk for a format tag.
func extensibleBody(tag WAVEncoding, channels, rate, bits int) []byte {
	le := binary.LittleEndian
	b := fmtBody(wavExtensible, channels, rate, bits)
	b = le.AppendUint16(b, 22)
	b = le.AppendUint16(b, uint16(bits))
	b = le.AppendUint32(b, 0) // no loudspeaker in particular
	b = le.AppendUint16(b, uint16(tag))
	return append(b, wavGUIDTail[:]...)
}

// riff makes a file of chunks, with the right size.
func riff(chunks ...[]byte) []byte {
	body := append([]byte("WAVE"), bytes.Join(chunks, nil)...)
	return append(binary.LittleEndian.AppendUint32([]byte("RIFF"), uint32(len(body))), body...)
}

// patched is a copy of b with 32 bits at the offset replaced.
func patched(b []byte, offset int, value uint32) []byte {
	b = slices.Clone(b)
	binary.LittleEndian.PutUint32(b[offset:], value)
	return b
}

// pcmBytes is 16-bit PCM as it is stored.
func pcmBytes(pcm ...int16) []byte {
	var b []byte
	for _, s := range pcm {
		b = binary.LittleEndian.AppendUint16(b, uint16(s))
	}
	return b
}

// readAll reads in pieces of the given size until an error, which it returns
// unless it is io.EOF.
func readAll(read func([]int16) (int, error), piece int) ([]int16, error) {
	var all []int16
	buf := make([]int16, piece)
	for {
		n, err := read(buf)
		all = append(all, buf[:n]...)
		if errors.Is(err, io.EOF) {
			return all, nil
		} else if err != nil {
			return all, err
		} else if n == 0 {
			return all, errors.New("neither samples nor an error")
		}
	}
}

// A WAV file of each kind and its content. The values include roundings and both
// ends of the range.
func wavKinds() []struct {
	name   string
	file   []byte
	format WAVFormat
	want   []int16
} {
	le := binary.LittleEndian
	var float32s, float64s []byte
	for _, v := range []float64{0, 0.5, -1, 1, 3, -3, math.NaN(), math.Inf(1), math.Inf(-1), 1.6 / 32768} {
		float32s = le.AppendUint32(float32s, math.Float32bits(float32(v)))
		float64s = le.AppendUint64(float64s, math.Float64bits(v))
	}
	floats := []int16{0, 16384, -32768, 32767, 32767, -32768, 0, 32767, -32768, 2}
	samples := pcmBytes(1, -2, 32767, -32768)
	pcm := []int16{1, -2, 32767, -32768}
	return []struct {
		name   string
		file   []byte
		format WAVFormat
		want   []int16
	}{
		{"PCM 16", riff(chunk("fmt ", fmtBody(WAVPCM, 1, 16000, 16)), chunk("data", samples)), WAVFormat{WAVPCM, 16000, 1, 16}, pcm},
		{"PCM 16 stereo", riff(chunk("fmt ", fmtBody(WAVPCM, 2, 48000, 16)), chunk("data", samples)), WAVFormat{WAVPCM, 48000, 2, 16}, pcm},
		{
			"PCM 8",
			riff(chunk("fmt ", fmtBody(WAVPCM, 1, 8000, 8)), chunk("data", []byte{0, 127, 128, 129, 255})),
			WAVFormat{WAVPCM, 8000, 1, 8},
			[]int16{-32768, -256, 0, 256, 32512},
		},
		{
			"PCM 24",
			riff(chunk("fmt ", fmtBody(WAVPCM, 1, 44100, 24)), chunk("data", []byte{0x7F, 1, 0, 0x80, 1, 0, 0, 0, 0x80, 0xFF, 0xFF, 0x7F, 0xFF, 0xFF, 0xFF})),
			WAVFormat{WAVPCM, 44100, 1, 24},
			[]int16{1, 2, -32768, 32767, 0},
		},
		{
			"PCM 32",
			riff(chunk("fmt ", fmtBody(WAVPCM, 1, 24000, 32)), chunk("data", []byte{0xFF, 0x7F, 1, 0, 0, 0x80, 1, 0, 0, 0, 0, 0x80, 0xFF, 0xFF, 0xFF, 0x7F})),
			WAVFormat{WAVPCM, 24000, 1, 32},
			[]int16{1, 2, -32768, 32767},
		},
		{"float 32", riff(chunk("fmt ", fmtBody(WAVFloat, 1, 16000, 32)), chunk("data", float32s)), WAVFormat{WAVFloat, 16000, 1, 32}, floats},
		{"float 64", riff(chunk("fmt ", fmtBody(WAVFloat, 1, 16000, 64)), chunk("data", float64s)), WAVFormat{WAVFloat, 16000, 1, 64}, floats},
		{
			"mu-law",
			riff(chunk("fmt ", append(fmtBody(WAVMuLaw, 1, 8000, 8), 0, 0)), chunk("fact", []byte{3, 0, 0, 0}), chunk("data", []byte{0xFF, 0x80, 0x00})),
			WAVFormat{WAVMuLaw, 8000, 1, 8},
			[]int16{0, 32124, -32124},
		},
		{
			"A-law",
			riff(chunk("fmt ", append(fmtBody(WAVALaw, 1, 8000, 8), 0, 0)), chunk("data", []byte{0xD5, 0xAA, 0x2A})),
			WAVFormat{WAVALaw, 8000, 1, 8},
			[]int16{8, 32256, -32256},
		},
		{"extensible PCM", riff(chunk("fmt ", extensibleBody(WAVPCM, 2, 16000, 16)), chunk("data", samples)), WAVFormat{WAVPCM, 16000, 2, 16}, pcm},
		{"extensible float", riff(chunk("fmt ", extensibleBody(WAVFloat, 1, 16000, 32)), chunk("data", float32s)), WAVFormat{WAVFloat, 16000, 1, 32}, floats},
		{
			"chunks before and between, with odd sizes",
			riff(chunk("LIST", []byte("INFOx")), chunk("fmt ", append(fmtBody(WAVPCM, 1, 16000, 16), 0)), chunk("junk", []byte{1}), chunk("fact", nil), chunk("data", samples), chunk("LIST", []byte("data behind"))),
			WAVFormat{WAVPCM, 16000, 1, 16},
			pcm,
		},
		{
			"half a sample at the end",
			riff(chunk("fmt ", fmtBody(WAVPCM, 1, 16000, 16)), chunk("data", append(slices.Clone(samples), 9))),
			WAVFormat{WAVPCM, 16000, 1, 16},
			pcm,
		},
	}
}

func TestWAVReaderKinds(t *testing.T) {
	for _, c := range wavKinds() {
		for _, piece := range []int{2, 4, 1000} {
			w, err := NewWAVReader(iotest.OneByteReader(bytes.NewReader(c.file)), WAVReaderOptions{})
			if err != nil {
				t.Errorf("%s: %v", c.name, err)
				break
			}
			if w.Format() != c.format {
				t.Errorf("%s: the format is %+v, want %+v", c.name, w.Format(), c.format)
			}
			if n, known := w.Length(); !known || int(n) != len(c.want)/c.format.Channels {
				t.Errorf("%s: the length is %d (known: %v), want %d", c.name, n, known, len(c.want)/c.format.Channels)
			}
			got, err := readAll(w.Read, piece)
			if err != nil || !slices.Equal(got, c.want) {
				t.Errorf("%s in pieces of %d: %v, %v, want %v", c.name, piece, got, err, c.want)
			}
		}
	}
}

func TestWAVReaderStreamed(t *testing.T) {
	samples := pcmBytes(1, 2, 3)
	file := riff(chunk("fmt ", fmtBody(WAVPCM, 1, 16000, 16)), chunk("data", samples))
	const sizeAt = 40
	for _, c := range []struct {
		name       string
		riff, data uint32
		open       bool
	}{
		{"ffmpeg and speech services", 0xFFFFFFFF, 0xFFFFFFFF, true},
		{"less what lies before", 0xFFFFFFFF, 0xFFFFFFFF - 36, true},
		{"sox and espeak", 0x7FFFF024, 0x7FFFF000, true},
		{"zeros", 0, 0, true},
		{"a header for no sound", 36, 0, true},
		{"zero data in an endless file", 0xFFFFFFFF, 0, true},
		{"an empty data chunk, followed by others", 42, 0, false},
		{"the right sizes", 42, 6, false},
		{"a wrong RIFF size", 7, 6, false},
	} {
		w, err := NewWAVReader(bytes.NewReader(patched(patched(file, 4, c.riff), sizeAt, c.data)), WAVReaderOptions{})
		if err != nil {
			t.Errorf("%s: %v", c.name, err)
			continue
		}
		if _, known := w.Length(); known == c.open {
			t.Errorf("%s: the length is known: %v", c.name, known)
		}
		want := []int16{1, 2, 3}
		if c.data == 0 && !c.open {
			want = nil
		}
		if got, err := readAll(w.Read, 2); err != nil || !slices.Equal(got, want) {
			t.Errorf("%s: %v, %v, want %v", c.name, got, err, want)
		}
	}

	// Without a size, half a sample at the end is not an error.
	open := patched(file, sizeAt, 0xFFFFFFFF)
	w, err := NewWAVReader(bytes.NewReader(open[:len(open)-1]), WAVReaderOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if got, err := readAll(w.Read, 100); err != nil || !slices.Equal(got, []int16{1, 2}) {
		t.Errorf("cut in a sample: %v, %v, want 1 and 2", got, err)
	}
}

func TestWAVReaderMono(t *testing.T) {
	stereo := riff(chunk("fmt ", fmtBody(WAVPCM, 2, 16000, 16)), chunk("data", pcmBytes(100, 200, -1, -2, 32767, 32767, -32768, 32767, 7, 8)))
	w, err := NewWAVReader(bytes.NewReader(stereo), WAVReaderOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if got, err := readAll(w.ReadMono, 3); err != nil || !slices.Equal(got, []int16{150, -2, 32767, 0, 8}) {
		t.Errorf("stereo to mono: %v, %v", got, err)
	}

	// More channels are accepted only if the options allow them.
	var sound []int16
	for i := range int16(6 * 3000) {
		sound = append(sound, i/6)
	}
	six := riff(chunk("fmt ", extensibleBody(WAVPCM, 6, 16000, 16)), chunk("data", pcmBytes(sound...)))
	if _, err := NewWAVReader(bytes.NewReader(six), WAVReaderOptions{}); err == nil {
		t.Error("six channels were accepted without MaxChannels")
	}
	w, err = NewWAVReader(bytes.NewReader(six), WAVReaderOptions{MaxChannels: 6})
	if err != nil {
		t.Fatal(err)
	}
	got, err := readAll(w.ReadMono, 2999)
	if err != nil || !slices.Equal(got, samplesAt(0, 3000)) {
		t.Errorf("six channels to mono: %d samples, %v", len(got), err)
	}
}

func TestWAVReaderShortBuffer(t *testing.T) {
	stereo := riff(chunk("fmt ", fmtBody(WAVPCM, 2, 16000, 16)), chunk("data", pcmBytes(1, 2, 3, 4)))
	w, err := NewWAVReader(bytes.NewReader(stereo), WAVReaderOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := w.Read(make([]int16, 1)); !errors.Is(err, io.ErrShortBuffer) {
		t.Errorf("half a stereo sample: %v, want a short buffer", err)
	}
	if n, err := w.Read(nil); n != 0 || err != nil {
		t.Errorf("no room: %d, %v, want 0 and no error", n, err)
	}
	if n, err := w.Read(make([]int16, 3)); n != 2 || err != nil {
		t.Errorf("room for 1.5 stereo samples: %d, %v, want 2", n, err)
	}
}

func TestWAVReaderTruncatedSound(t *testing.T) {
	file := riff(chunk("fmt ", fmtBody(WAVPCM, 2, 16000, 16)), chunk("data", pcmBytes(1, 2, 3, 4, 5, 6)))
	w, err := NewWAVReader(bytes.NewReader(file[:len(file)-5]), WAVReaderOptions{})
	if err != nil {
		t.Fatal(err)
	}
	got, err := readAll(w.Read, 100)
	if !slices.Equal(got, []int16{1, 2}) {
		t.Errorf("the sound before the cut is %v, want 1 and 2", got)
	}
	var wavError *WAVError
	if !errors.As(err, &wavError) || !errors.Is(err, io.ErrUnexpectedEOF) {
		t.Fatalf("the error is %v, want a WAVError of an unexpected EOF", err)
	}
	if want := "wav: byte 51: found the end of the file: expected 5 more bytes of sound"; err.Error() != want {
		t.Errorf("the error says %q, want %q", err, want)
	}
	if _, again := w.Read(make([]int16, 2)); !errors.Is(again, err) {
		t.Errorf("a further read says %v, want the same again", again)
	}
}

func TestWAVReaderBrokenHeaders(t *testing.T) {
	format := func(tag WAVEncoding, channels, rate, bits int) []byte {
		return riff(chunk("fmt ", fmtBody(tag, channels, rate, bits)), chunk("data", make([]byte, 64)))
	}
	good := format(WAVPCM, 1, 16000, 16)
	extensible := riff(chunk("fmt ", extensibleBody(WAVPCM, 1, 16000, 16)), chunk("data", nil))
	for _, c := range []struct {
		name   string
		file   []byte
		offset int64
		found  string // a part of it
	}{
		{"nothing", nil, 0, "the end of the file"},
		{"half a RIFF header", good[:7], 7, "the end of the file"},
		{"no format", good[:12], 12, "the end of the file"},
		{"half a fmt chunk", good[:30], 30, "the end of the file"},
		{"no data", good[:36], 36, "the end of the file"},
		{"half a data header", good[:43], 43, "the end of the file"},
		{"an Ogg file", []byte("OggS\x00\x02\x00\x00\x00\x00\x00\x00\x00"), 0, `"OggS"`},
		{"bytes that are not text", []byte("\x00\xff\n\"RIFFRIFFRIFF"), 0, `"\x00\xff\n\""`},
		{"big endian", append([]byte("RIFX"), good[4:]...), 0, "RIFX"},
		{"64 bits", append([]byte("RF64"), good[4:]...), 0, "RF64"},
		{"a picture", append([]byte("RIFF\x00\x00\x00\x00WEBP"), good[12:]...), 8, `"WEBP"`},
		{"data first", riff(chunk("data", nil), chunk("fmt ", fmtBody(WAVPCM, 1, 16000, 16))), 12, "data chunk"},
		{"two formats", riff(chunk("fmt ", fmtBody(WAVPCM, 1, 16000, 16)), chunk("fmt ", fmtBody(WAVPCM, 1, 16000, 16))), 36, "second fmt"},
		{"a short fmt", riff(chunk("fmt ", make([]byte, 14)), chunk("data", nil)), 16, "14 bytes"},
		{"MP3", format(85, 1, 16000, 16), 20, "format tag 85"},
		{"no channel", format(WAVPCM, 0, 16000, 16), 22, "0 channels"},
		{"three channels", format(WAVPCM, 3, 16000, 16), 22, "3 channels"},
		{"65535 channels", format(WAVPCM, 65535, 16000, 16), 22, "65535 channels"},
		{"rate 0", format(WAVPCM, 1, 0, 16), 24, "0 Hz"},
		{"a low rate", format(WAVPCM, 1, 7999, 16), 24, "7999 Hz"},
		{"a high rate", format(WAVPCM, 1, 96000, 16), 24, "96000 Hz"},
		{"an absurd rate", patched(good, 24, 0xFFFFFFFF), 24, "2147483647 Hz"},
		{"wrong blocks", patched(good, 32, 16<<16|3), 32, "3 bytes"},
		{"no bits", format(WAVPCM, 1, 16000, 0), 34, "0 bits"},
		{"12 bits", format(WAVPCM, 1, 16000, 12), 34, "12 bits"},
		{"half floats", format(WAVFloat, 1, 16000, 16), 34, "16 bits"},
		{"16-bit mu-law", format(WAVMuLaw, 1, 8000, 16), 34, "16 bits"},
		{"a short extension", riff(chunk("fmt ", extensibleBody(WAVPCM, 1, 16000, 16)[:24]), chunk("data", nil)), 16, "24 bytes"},
		{"a strange subformat", patched(extensible, 50, 1), 44, "subformat"},
		{"an extensible MP3", patched(extensible, 44, 85), 44, "format tag 85"},
		{"a tag that never ends", patched(riff(chunk("LIST", make([]byte, 100))), 16, 0xFFFFFFF0), 20, "4294967280 more bytes"},
		{"a tag that is cut off", patched(riff(chunk("LIST", make([]byte, 100))), 16, 1000), 120, "the end of the file"},
		{"a fmt that never ends", patched(good, 16, 0xFFFFFFFF), 60, "4294967256 more bytes"},
	} {
		_, err := NewWAVReader(bytes.NewReader(c.file), WAVReaderOptions{})
		var wavError *WAVError
		if !errors.As(err, &wavError) {
			t.Errorf("%s: %v, want a WAVError", c.name, err)
			continue
		}
		if wavError.Offset != c.offset || !strings.Contains(wavError.Found, c.found) || wavError.Expected == "" {
			t.Errorf("%s: %v; want it at byte %d with %s", c.name, err, c.offset, c.found)
		}
		if strings.ContainsAny(err.Error(), "\n\r\x00") {
			t.Errorf("%s: the error is not one line of text: %q", c.name, err)
		}
		if cut := strings.Contains(c.found, "end of the file"); cut != errors.Is(err, io.ErrUnexpectedEOF) {
			t.Errorf("%s: errors.Is(io.ErrUnexpectedEOF) is %v, want %v", c.name, !cut, cut)
		}
	}
}

// Reading an endless sequence of empty chunks must end.
func TestWAVReaderEndlessHeader(t *testing.T) {
	empty := chunk("junk", nil)
	endless := io.MultiReader(strings.NewReader("RIFF\xff\xff\xff\xffWAVE"), readerFunc(func(p []byte) (int, error) {
		return copy(p, empty), nil
	}))
	_, err := NewWAVReader(endless, WAVReaderOptions{})
	var wavError *WAVError
	if !errors.As(err, &wavError) || wavError.Offset != 12+8*wavMaxChunks {
		t.Errorf("an endless header: %v, want a WAVError behind %d chunks", err, wavMaxChunks)
	}
}

type readerFunc func([]byte) (int, error)

func (f readerFunc) Read(p []byte) (int, error) { return f(p) }

func TestWAVReaderPassesErrorsOn(t *testing.T) {
	broken := errors.New("the line broke")
	file := riff(chunk("fmt ", fmtBody(WAVPCM, 1, 16000, 16)), chunk("data", pcmBytes(1, 2, 3, 4)))
	for _, good := range []int{0, 20, 40} {
		_, err := NewWAVReader(io.MultiReader(bytes.NewReader(file[:good]), iotest.ErrReader(broken)), WAVReaderOptions{})
		if !errors.Is(err, broken) {
			t.Errorf("broken after %d bytes: %v", good, err)
		}
	}
	w, err := NewWAVReader(io.MultiReader(bytes.NewReader(file[:47]), iotest.ErrReader(broken)), WAVReaderOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if got, err := readAll(w.Read, 10); !errors.Is(err, broken) || !slices.Equal(got, []int16{1}) {
		t.Errorf("broken in the second sample: %v, %v", got, err)
	}
}

func TestWAVReaderOptions(t *testing.T) {
	for _, n := range []int{-1, 33} {
		if _, err := NewWAVReader(bytes.NewReader(nil), WAVReaderOptions{MaxChannels: n}); err == nil || !strings.Contains(err.Error(), "MaxChannels") {
			t.Errorf("MaxChannels %d: %v", n, err)
		}
	}
}

// TestReadAllMono reads what is left of a file, all of it or up to a limit, and reports a file
// that is cut off.
func TestReadAllMono(t *testing.T) {
	pcm := make([]int16, 10_000)
	for i := range pcm {
		pcm[i] = int16(i)
	}
	data := riff(chunk("fmt ", fmtBody(WAVPCM, 1, 8000, 16)), chunk("data", pcmBytes(pcm...)))
	for _, c := range []struct{ skip, limit, want int }{
		{0, 0, 10_000}, {0, 10_000, 10_000}, {0, 10_001, 10_000}, {0, 9_999, 9_999}, {0, 1, 1}, {4_000, 0, 6_000}, {10_000, 0, 0}, {10_000, 5, 0},
	} {
		r, err := NewWAVReader(bytes.NewReader(data), WAVReaderOptions{})
		if err != nil {
			t.Fatal(err)
		}
		if c.skip > 0 {
			if _, err := r.ReadAllMono(c.skip); err != nil {
				t.Fatal(err)
			}
		}
		got, err := r.ReadAllMono(c.limit)
		if err != nil || !slices.Equal(got, pcm[c.skip:c.skip+c.want]) {
			t.Errorf("after %d samples, at most %d: %d samples, error %v", c.skip, c.limit, len(got), err)
		}
	}
	r, err := NewWAVReader(bytes.NewReader(data[:len(data)-1]), WAVReaderOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if got, err := r.ReadAllMono(0); !errors.Is(err, io.ErrUnexpectedEOF) || len(got) != 9_999 {
		t.Errorf("a file without its last byte: %d samples, error %v", len(got), err)
	}
}
