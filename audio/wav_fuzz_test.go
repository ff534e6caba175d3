package audio

import (
	"bytes"
	"errors"
	"slices"
	"testing"
)

// FuzzWAV checks that the reader does not panic, read too much, or depend on the
// size of reads, and that its output can be written and read again.
func FuzzWAV(f *testing.F) {
	for _, c := range wavKinds() {
		f.Add(c.file)
		f.Add(c.file[:len(c.file)*2/3])
		f.Add(patched(patched(c.file, 4, 0xFFFFFFFF), len(c.file)-4, 0))
	}
	f.Add(riff(chunk("fmt ", extensibleBody(WAVPCM, 32, 16000, 32)), chunk("data", make([]byte, 256))))
	f.Add([]byte("RIFF\xff\xff\xff\xffWAVE"))
	f.Fuzz(func(t *testing.T, file []byte) {
		open := func() (*WAVReader, error) {
			return NewWAVReader(bytes.NewReader(file), WAVReaderOptions{MaxChannels: wavMaxChannels})
		}
		w, err := open()
		if err != nil {
			var wavError *WAVError
			if !errors.As(err, &wavError) || wavError.Offset < 0 || wavError.Offset > int64(len(file)) || wavError.Found == "" || wavError.Expected == "" {
				t.Fatalf("an unclear error: %#v", err)
			}
			return
		}
		format := w.Format()
		if err := (WAVWriterOptions{Rate: format.Rate}).Validate(); err != nil || format.Channels < 1 || format.Bits < 8 {
			t.Fatalf("the format is %+v", format)
		}
		large, largeErr := readAll(w.Read, 64*format.Channels)
		if len(large)*format.sampleSize() > len(file) || len(large)%format.Channels != 0 {
			t.Fatalf("%d samples out of a file of %d bytes", len(large), len(file))
		}
		if n, known := w.Length(); known && (largeErr == nil) != (int(n)*format.Channels == len(large)) {
			t.Fatalf("%d samples of an announced %d, and the error is %v", len(large), n, largeErr)
		}
		w, _ = open()
		small, smallErr := readAll(w.Read, format.Channels)
		if !slices.Equal(large, small) || (largeErr == nil) != (smallErr == nil) {
			t.Fatalf("%d samples (%v) in large reads, %d (%v) in small ones", len(large), largeErr, len(small), smallErr)
		}
		w, _ = open()
		if mono, _ := readAll(w.ReadMono, 7); len(mono) != len(large)/format.Channels {
			t.Fatalf("%d samples of mono, want %d", len(mono), len(large)/format.Channels)
		}

		var out bytes.Buffer
		ww, err := NewWAVWriter(&out, WAVWriterOptions{Rate: format.Rate})
		if err != nil {
			t.Fatal(err)
		}
		if err := errors.Join(ww.Write(large), ww.Close()); err != nil {
			t.Fatal(err)
		}
		w, err = NewWAVReader(&out, WAVReaderOptions{})
		if err != nil {
			t.Fatal(err)
		}
		if again, err := readAll(w.Read, 1000); err != nil || !slices.Equal(again, large) {
			t.Fatalf("written and read again: %d samples (%v), want %d", len(again), err, len(large))
		}
	})
}
