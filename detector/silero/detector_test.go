package silero

import (
	"bytes"
	"errors"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"unsafe"
)

// anyModel returns the real model if it is installed, or else a random one. Tests that
// use it do not depend on the numbers.
func anyModel(t testing.TB) *Model {
	t.Helper()
	m, err := Load(weightsPath())
	if err == nil {
		return m
	}
	if m, err = Read(bytes.NewReader(randomArrays().file())); err != nil {
		t.Fatal(err)
	}
	return m
}

func newStream(t testing.TB) *Stream {
	t.Helper()
	d, err := New(Options{Model: anyModel(t)})
	if err != nil {
		t.Fatal(err)
	}
	s, err := d.Open()
	if err != nil {
		t.Fatal(err)
	}
	return s.(*Stream)
}

func TestNew(t *testing.T) {
	if _, built := Embedded(); !built {
		if _, err := New(Options{}); !errors.Is(err, ErrNoWeights) {
			t.Errorf("without weights the error is %v, expected ErrNoWeights", err)
		}
	}
	if _, err := New(Options{Path: filepath.Join("testdata", "none.onnx")}); err == nil || !strings.Contains(err.Error(), "none.onnx") {
		t.Errorf("for a missing file the error is %v, expected its name", err)
	}
	if _, err := New(Options{Path: filepath.Join("testdata", "golden.json")}); err == nil || !strings.Contains(err.Error(), "golden.json") {
		t.Errorf("for a file that is not a model the error is %v, expected its name", err)
	}
	m := anyModel(t)
	if _, err := New(Options{Path: "x", Model: m}); err == nil {
		t.Error("both a path and a model were accepted")
	}
	d, err := New(Options{Model: m})
	if err != nil {
		t.Fatal(err)
	}
	if d.Name() != "silero" || d.Rate() != 16000 || d.Model() != m {
		t.Errorf("detector is %q at %d Hz", d.Name(), d.Rate())
	}
}

// TestEmbedded only runs with the tag silero_embed.
func TestEmbedded(t *testing.T) {
	data, ok := Embedded()
	if !ok {
		t.Skip("no weights are built in: the tag silero_embed is not set")
	}
	d, err := New(Options{})
	if err != nil {
		t.Fatal(err)
	}
	if len(data) == 0 || len(d.Model().SHA256()) != 64 {
		t.Errorf("%d bytes with digest %q are built in", len(data), d.Model().SHA256())
	}
}

// TestWriteInPieces writes the same sound in pieces of different lengths: the
// probability after each window is the same and remains until the next.
func TestWriteInPieces(t *testing.T) {
	pcm := synthetic()[sampleRate : 2*sampleRate]
	whole := newStream(t)
	want := []float64{0}
	for at := 0; at+chunkSize <= len(pcm); at += chunkSize {
		want = append(want, whole.Write(pcm[at:at+chunkSize]))
	}
	for _, size := range []int{1, 7, 160, 320, 511, 512, 513, 1600, len(pcm)} {
		s := newStream(t)
		for at := 0; at < len(pcm); at += size {
			end := min(at+size, len(pcm))
			if got := s.Write(pcm[at:end]); got != want[end/chunkSize] {
				t.Fatalf("pieces of %d: after %d samples %v, expected %v", size, end, got, want[end/chunkSize])
			}
			if got := s.Write(nil); got != want[end/chunkSize] {
				t.Fatalf("writing nothing changed the probability to %v", got)
			}
		}
	}
}

func TestReset(t *testing.T) {
	pcm := synthetic()[sampleRate:]
	s := newStream(t)
	var first []float64
	for at := 0; at < 40*320; at += 320 {
		first = append(first, s.Write(pcm[at:at+320]))
	}
	s.Reset()
	for i, want := range first {
		if got := s.Write(pcm[i*320 : (i+1)*320]); got != want {
			t.Fatalf("frame %d after Reset: %v, at the start %v", i, got, want)
		}
	}
}

func TestStreamsShareTheModel(t *testing.T) {
	d, err := New(Options{Model: anyModel(t)})
	if err != nil {
		t.Fatal(err)
	}
	pcm := synthetic()[sampleRate : 2*sampleRate]
	var results [4]float64
	var wg sync.WaitGroup
	for i := range results {
		wg.Go(func() {
			s, err := d.Open()
			if err != nil {
				t.Error(err)
				return
			}
			results[i] = s.Write(pcm)
		})
	}
	wg.Wait()
	for i, r := range results {
		if r != results[0] {
			t.Errorf("stream %d has %v, stream 0 has %v", i, r, results[0])
		}
	}
}

func TestStreamIsSmall(t *testing.T) {
	const limit = 16 << 10
	if size := unsafe.Sizeof(Stream{}); size > limit {
		t.Errorf("a stream has %d bytes, expected at most %d", size, limit)
	}
}

func TestWriteAllocatesNothing(t *testing.T) {
	s := newStream(t)
	pcm := synthetic()[sampleRate : sampleRate+chunkSize]
	// No warm-up is needed: a stream allocates all its memory in Open.
	if n := testing.AllocsPerRun(20, func() { s.Write(pcm) }); n != 0 {
		t.Errorf("%v allocations a window, expected none", n)
	}
}

// BenchmarkSilero measures one window of 32 ms. Goal: less than 60 us on one core
// of a server (0.2 % of real time); it takes 31 us with AVX-512, and 118 us with
// the tag purego.
func BenchmarkSilero(b *testing.B) {
	s := newStream(b)
	pcm := synthetic()[sampleRate:]
	b.ReportAllocs()
	at := 0
	for b.Loop() {
		s.Write(pcm[at : at+chunkSize])
		if at += chunkSize; at+chunkSize > len(pcm) {
			at = 0
		}
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/32e6*100, "%core/stream")
}

// BenchmarkSileroManyStreams measures one window of 200 streams in turn, whose
// memory does not fit the near caches, as on a busy server.
func BenchmarkSileroManyStreams(b *testing.B) {
	d, err := New(Options{Model: anyModel(b)})
	if err != nil {
		b.Fatal(err)
	}
	streams := make([]*Stream, 200)
	for i := range streams {
		streams[i] = &Stream{model: d.Model()}
	}
	pcm := synthetic()[sampleRate : sampleRate+chunkSize]
	i := 0
	for b.Loop() {
		streams[i].Write(pcm)
		i = (i + 1) % len(streams)
	}
}

// BenchmarkSpectrum measures the Fourier transforms of one window.
func BenchmarkSpectrum(b *testing.B) {
	sp, s := newSpectrum(), &state{}
	for b.Loop() {
		for t := range frames {
			sp.magnitude(s.signal0[(t+1)*bins:], s.input[t*hop:], &s.work)
		}
	}
}

// BenchmarkLoad measures the reading of the weights at the start of a program.
func BenchmarkLoad(b *testing.B) {
	file := randomArrays().file()
	for b.Loop() {
		if _, err := Read(bytes.NewReader(file)); err != nil {
			b.Fatal(err)
		}
	}
}
