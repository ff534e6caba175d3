package audio

import (
	"math"
	"testing"
)

// near fails the test unless got is within tolerance of want.
func near(t *testing.T, what string, got, want, tolerance float64) {
	t.Helper()
	if !(math.Abs(got-want) <= tolerance) {
		t.Errorf("%s is %v, want %v within %v", what, got, want, tolerance)
	}
}

// sine returns n samples of a tone of the given frequency and amplitude (1 is full
// scale), starting offset samples after phase 0.
func sine(frequency float64, rate int, amplitude float64, n int, offset float64) []int16 {
	pcm := make([]int16, n)
	for i := range pcm {
		v := amplitude * fullScale * math.Sin(2*math.Pi*frequency*(float64(i)+offset)/float64(rate))
		pcm[i] = int16(max(math.MinInt16, min(math.MaxInt16, math.Round(v))))
	}
	return pcm
}

func TestLevels(t *testing.T) {
	square := make([]int16, 320)
	for i := range square {
		square[i] = math.MinInt16
	}
	for _, c := range []struct {
		name      string
		pcm       []int16
		rms, peak float64
	}{
		{"nothing", nil, 0, 0},
		{"silence", make([]int16, 320), 0, 0},
		{"full scale", square, 1, 1},
		{"sine", sine(500, 16000, 0.5, 320, 0), 0.5 / math.Sqrt2, 0.5},
		{"one step", []int16{1, -1}, 1.0 / 32768, 1.0 / 32768},
		{"negative peak", []int16{100, -16384}, math.Sqrt((100*100+16384*16384)/2.0) / 32768, 0.5},
	} {
		near(t, "RMS of "+c.name, RMS(c.pcm), c.rms, 1e-5)
		near(t, "Peak of "+c.name, Peak(c.pcm), c.peak, 1e-9)
	}
}

func TestDBFS(t *testing.T) {
	for level, want := range map[float64]float64{
		1: 0, 0.5: -6.0206, 0.001: -60, 0: SilenceDBFS, -1: SilenceDBFS, 1e-9: SilenceDBFS, 2: 6.0206,
	} {
		near(t, "DBFS", DBFS(level), want, 1e-4)
	}
	near(t, "DBFS of NaN", DBFS(math.NaN()), SilenceDBFS, 0)
	for _, db := range []float64{-90, -46, -3, 0, 6} {
		near(t, "there and back", DBFS(FromDBFS(db)), db, 1e-9)
	}
	near(t, "FromDBFS of silence", FromDBFS(SilenceDBFS), 0, 0)
	near(t, "FromDBFS of NaN", FromDBFS(math.NaN()), 0, 0)
}
