package energy

import "math"

// biquad is a filter of second order in transposed direct form II.
type biquad struct {
	b0, b1, b2, a1, a2 float64
	s1, s2             float64
}

// butterworth returns a second-order low-pass or high-pass with the given cutoff in
// hertz, designed with the bilinear transform.
func butterworth(rate, cutoff float64, highPass bool) biquad {
	w := math.Tan(math.Pi * cutoff / rate)
	norm := 1 / (1 + math.Sqrt2*w + w*w)
	f := biquad{a1: 2 * (w*w - 1) * norm, a2: (1 - math.Sqrt2*w + w*w) * norm}
	if highPass {
		f.b0, f.b1, f.b2 = norm, -2*norm, norm
	} else {
		f.b0, f.b1, f.b2 = w*w*norm, 2*w*w*norm, w*w*norm
	}
	return f
}

func (f *biquad) next(x float64) float64 {
	y := f.b0*x + f.s1
	f.s1 = f.b1*x - f.a1*y + f.s2
	f.s2 = f.b2*x - f.a2*y
	return y
}

func (f *biquad) reset() { f.s1, f.s2 = 0, 0 }
