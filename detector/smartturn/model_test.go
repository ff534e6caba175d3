package smartturn

import (
	"context"
	"encoding/json"
	"errors"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"testing"

	"github.com/hocketvoice/hocket/audio"
	"github.com/hocketvoice/hocket/internal/onnx"
)

// golden is what the reference computes: testdata/golden.py.
type golden struct {
	Step    int
	Signals map[string]struct {
		Samples  int
		Finished float64
		Features []float64
	}
}

func readGolden(t *testing.T) golden {
	t.Helper()
	data, err := os.ReadFile(filepath.Join("testdata", "golden.json"))
	if err != nil {
		t.Fatal(err)
	}
	var g golden
	if err := json.Unmarshal(data, &g); err != nil || len(g.Signals) < 5 {
		t.Fatalf("%d signals, %v", len(g.Signals), err)
	}
	return g
}

// signal returns the sound of a name in golden.json, or skips the test.
func signal(t *testing.T, name string, n int) []int16 {
	t.Helper()
	switch name {
	case "synthetic", "synthetic short":
		return synthetic(n)
	case "silence":
		return make([]int16, n)
	}
	f, err := os.Open(filepath.Join("..", "..", "..", "shared", "data", filepath.FromSlash(name)))
	if err != nil {
		t.Skipf("the recording is not here: %s lies in the folder shared/data beside the repository", name)
	}
	defer f.Close()
	r, err := audio.NewWAVReader(f, audio.WAVReaderOptions{})
	if err != nil {
		t.Fatal(err)
	}
	pcm, err := r.ReadAllMono(0)
	if err != nil || len(pcm) != n || r.Format().Rate != sampleRate {
		t.Fatalf("%s has %d samples at %d Hz, %v, expected %d", name, len(pcm), r.Format().Rate, err, n)
	}
	return pcm
}

// synthetic is a chirp and noise, in bursts.
func synthetic(n int) []int16 {
	out := make([]int16, n)
	seed := 1
	for i := range out {
		seed = (seed*1103515245 + 12345) % (1 << 31)
		phase := i * i / 4000 % 200
		tone := min(phase, 200-phase)*160 - 8000
		if i/4000%3 == 0 {
			tone = 0
		}
		out[i] = int16(tone + (seed>>16)%200 - 100)
	}
	return out
}

// TestFeatures compares the spectrogram with that of the reference.
func TestFeatures(t *testing.T) {
	g := readGolden(t)
	out := make([]float32, bands*columns)
	s := newSpectrum()
	for name, want := range g.Signals {
		t.Run(name, func(t *testing.T) {
			s.features(signal(t, name, want.Samples), out)
			if n := (len(out) + g.Step - 1) / g.Step; n != len(want.Features) {
				t.Fatalf("%d features, expected %d", len(want.Features), n)
			}
			worst := 0.0
			for i, w := range want.Features {
				worst = max(worst, math.Abs(float64(out[i*g.Step])-w))
			}
			t.Logf("largest difference %.1e", worst)
			if worst > 1e-3 {
				t.Errorf("a feature differs by %g, expected at most 0.001", worst)
			}
		})
	}
}

// model returns the model, or skips the test.
func model(t testing.TB) *Model {
	t.Helper()
	folder := filepath.Join("..", "..", "third_party", "models")
	m, err := New(Options{Library: filepath.Join(folder, onnx.Library()), Network: filepath.Join(folder, "smart-turn-v3.2-cpu.onnx")})
	switch {
	case errors.Is(err, onnx.ErrMissing) || errors.Is(err, fs.ErrNotExist):
		t.Skip(err)
	case err != nil:
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = m.Close() })
	return m
}

// TestFinished compares the probabilities with those of the reference.
func TestFinished(t *testing.T) {
	m := model(t)
	for name, want := range readGolden(t).Signals {
		t.Run(name, func(t *testing.T) {
			got, err := m.Finished(t.Context(), signal(t, name, want.Samples))
			if err != nil || math.Abs(got-want.Finished) > 0.01 {
				t.Errorf("%.4f, %v, expected %.4f", got, err, want.Finished)
			}
		})
	}
}

// TestFinishedWaitsForItsTurn: who waits gives up when its context ends.
func TestFinishedWaitsForItsTurn(t *testing.T) {
	m := model(t)
	turn <- struct{}{} // a computation is in progress
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := m.Finished(ctx, nil); !errors.Is(err, context.Canceled) {
		t.Errorf("%v, expected the context's error", err)
	}
	<-turn
	if _, err := m.Finished(t.Context(), nil); err != nil {
		t.Error(err)
	}
}

// TestNewRefuses: what is missing or something else is an error.
func TestNewRefuses(t *testing.T) {
	if _, err := New(Options{}); err == nil {
		t.Error("no files")
	}
	if _, err := New(Options{Library: "x", Network: "y"}); !errors.Is(err, onnx.ErrMissing) && !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("%v, expected what is missing", err)
	}
}

func BenchmarkFeatures(b *testing.B) {
	s, out, pcm := newSpectrum(), make([]float32, bands*columns), synthetic(samples)
	for b.Loop() {
		s.features(pcm, out)
	}
}

func BenchmarkFinished(b *testing.B) {
	m, pcm := model(b), synthetic(samples)
	for b.Loop() {
		if _, err := m.Finished(b.Context(), pcm); err != nil {
			b.Fatal(err)
		}
	}
}
