package audio

import (
	"bytes"
	"errors"
	"io"
	"os"
	"path/filepath"
	"slices"
	"testing"
)

// reread reads a whole file and its announced length.
func reread(t *testing.T, file []byte) (format WAVFormat, pcm []int16, length Pos, known bool) {
	t.Helper()
	r, err := NewWAVReader(bytes.NewReader(file), WAVReaderOptions{})
	if err != nil {
		t.Fatal(err)
	}
	pcm, err = readAll(r.Read, 1000)
	if err != nil {
		t.Fatal(err)
	}
	length, known = r.Length()
	return r.Format(), pcm, length, known
}

func TestWAVWriterStream(t *testing.T) {
	var out bytes.Buffer
	w, err := NewWAVWriter(&out, WAVWriterOptions{Rate: 16000})
	if err != nil {
		t.Fatal(err)
	}
	want := samplesAt(-5000, 10000)
	for rest := want; len(rest) > 0; {
		n := min(len(rest), 321)
		if err := w.Write(rest[:n]); err != nil {
			t.Fatal(err)
		}
		rest = rest[n:]
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	format, pcm, _, known := reread(t, out.Bytes())
	if format != (WAVFormat{WAVPCM, 16000, 1, 16}) || known || !slices.Equal(pcm, want) {
		t.Errorf("read %+v, %d samples (length known: %v)", format, len(pcm), known)
	}
}

// A file that does not start at the beginning of its stream.
func TestWAVWriterSeek(t *testing.T) {
	for _, n := range []int{0, 1, 5000} {
		path := filepath.Join(t.TempDir(), "out.wav")
		f, err := os.Create(path)
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		if _, err := f.WriteString("before"); err != nil {
			t.Fatal(err)
		}
		w, err := NewWAVWriter(f, WAVWriterOptions{Rate: 48000, Channels: 2})
		if err != nil {
			t.Fatal(err)
		}
		left, right := samplesAt(0, n), samplesAt(1000, n)
		if err := w.WriteStereo(left, right); err != nil {
			t.Fatal(err)
		}

		// The file is readable before Close.
		file, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if _, pcm, _, known := reread(t, file[len("before"):]); known || len(pcm) != 2*n {
			t.Errorf("before Close: %d samples (length known: %v), want %d", len(pcm), known, 2*n)
		}

		if err := errors.Join(w.Close(), w.Close()); err != nil {
			t.Fatal(err)
		}
		if _, err := f.WriteString("behind"); err != nil {
			t.Fatal(err)
		}
		if file, err = os.ReadFile(path); err != nil {
			t.Fatal(err)
		}
		if !bytes.HasPrefix(file, []byte("before")) || !bytes.HasSuffix(file, []byte("behind")) {
			t.Fatal("the writer left its place in the stream")
		}
		file = file[len("before") : len(file)-len("behind")]
		if !bytes.Equal(file[:40], riff(chunk("fmt ", fmtBody(WAVPCM, 2, 48000, 16)), chunk("data", make([]byte, 4*n)))[:40]) {
			t.Errorf("the header is %x", file[:40])
		}
		format, pcm, length, known := reread(t, file)
		if format != (WAVFormat{WAVPCM, 48000, 2, 16}) || int(length) != n || known != (n > 0) || len(pcm) != 2*n {
			t.Errorf("read %+v, %d samples of %d each (known: %v), want %d", format, len(pcm), length, known, n)
		}
		for i := range n {
			if pcm[2*i] != left[i] || pcm[2*i+1] != right[i] {
				t.Fatalf("sample %d is %d, %d, want %d, %d", i, pcm[2*i], pcm[2*i+1], left[i], right[i])
			}
		}
	}
}

// memoryFile is a file of fixed size; writes beyond it are truncated and return an
// error.
type memoryFile struct {
	data []byte
	at   int
}

var errDiskFull = errors.New("disk full")

func (m *memoryFile) Write(p []byte) (int, error) {
	n := copy(m.data[m.at:], p)
	m.at += n
	if n < len(p) {
		return n, errDiskFull
	}
	return n, nil
}

func (m *memoryFile) Seek(offset int64, whence int) (int64, error) {
	switch whence {
	case io.SeekStart:
		m.at = int(offset)
	case io.SeekCurrent:
		m.at += int(offset)
	}
	return int64(m.at), nil
}

// A full disk: the file contains whole samples up to the limit, and the error is
// reported.
func TestWAVWriterDiskFull(t *testing.T) {
	f := &memoryFile{data: make([]byte, wavHeaderSize+4*10+3)}
	w, err := NewWAVWriter(f, WAVWriterOptions{Rate: 8000, Channels: 2})
	if err != nil {
		t.Fatal(err)
	}
	if err := w.Write(samplesAt(1, 40)); !errors.Is(err, errDiskFull) {
		t.Fatalf("a write beyond the end: %v", err)
	}
	if err := w.Write(samplesAt(1, 2)); !errors.Is(err, errDiskFull) {
		t.Errorf("a write after the failure: %v, want the same again", err)
	}
	if err := w.Close(); !errors.Is(err, errDiskFull) {
		t.Errorf("Close: %v, want the failure", err)
	}
	_, pcm, length, known := reread(t, f.data)
	if !slices.Equal(pcm, samplesAt(1, 20)) || length != 10 || !known {
		t.Errorf("the file holds %v, %d a channel (known: %v), want 1 to 20", pcm, length, known)
	}

	if _, err := NewWAVWriter(&memoryFile{data: make([]byte, 20)}, WAVWriterOptions{Rate: 8000}); !errors.Is(err, errDiskFull) {
		t.Errorf("no room for the header: %v", err)
	}
}

// A pipe has the method Seek, which fails.
func TestWAVWriterPipe(t *testing.T) {
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	ww, err := NewWAVWriter(w, WAVWriterOptions{Rate: 8000})
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(ww.Write(samplesAt(0, 160)), ww.Close(), w.Close()); err != nil {
		t.Fatal(err)
	}
	file, err := io.ReadAll(r)
	if err != nil {
		t.Fatal(err)
	}
	if _, pcm, _, known := reread(t, file); known || !slices.Equal(pcm, samplesAt(0, 160)) {
		t.Errorf("%d samples came through the pipe (length known: %v), want 160", len(pcm), known)
	}
}

func TestWAVWriterMisuse(t *testing.T) {
	for _, o := range []WAVWriterOptions{{}, {Rate: 96000}, {Rate: 8000, Channels: 3}, {Rate: 8000, Channels: -1}} {
		if _, err := NewWAVWriter(io.Discard, o); err == nil {
			t.Errorf("%+v was accepted", o)
		}
	}
	var out bytes.Buffer
	stereo, err := NewWAVWriter(&out, WAVWriterOptions{Rate: 8000, Channels: 2})
	if err != nil {
		t.Fatal(err)
	}
	if stereo.Write(make([]int16, 3)) == nil || stereo.WriteStereo(make([]int16, 3), make([]int16, 2)) == nil {
		t.Error("unequal channels were accepted")
	}
	mono, err := NewWAVWriter(io.Discard, WAVWriterOptions{Rate: 8000})
	if err != nil {
		t.Fatal(err)
	}
	if mono.WriteStereo(make([]int16, 2), make([]int16, 2)) == nil {
		t.Error("two channels were written to a mono file")
	}
	if out.Len() != wavHeaderSize {
		t.Errorf("refused samples left %d bytes behind", out.Len()-wavHeaderSize)
	}
	if err := stereo.Write(make([]int16, 2)); err != nil {
		t.Errorf("a refused write must not stop the following: %v", err)
	}
	if err := stereo.Close(); err != nil {
		t.Fatal(err)
	}
	if stereo.Write(make([]int16, 2)) == nil || stereo.WriteStereo(nil, nil) == nil {
		t.Error("a write after Close was accepted")
	}
}
