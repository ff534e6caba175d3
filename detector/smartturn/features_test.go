package smartturn

import (
	"math"
	"math/cmplx"
	"testing"
)

// TestPower compares the transform with its definition.
func TestPower(t *testing.T) {
	in := make([]float64, window)
	for i := range in {
		in[i] = math.Sin(float64(i*i%97)) + 0.3*float64(i%7)
	}
	got := make([]float64, bins)
	newFFT(window/2).power(in, got)
	for k := range bins {
		var sum complex128
		for i, v := range in {
			sum += complex(v, 0) * cmplx.Rect(1, -2*math.Pi*float64(k*i%window)/window)
		}
		if want := real(sum)*real(sum) + imag(sum)*imag(sum); math.Abs(got[k]-want) > 1e-6*max(want, 1) {
			t.Fatalf("frequency %d: %g, expected %g", k, got[k], want)
		}
	}
}
