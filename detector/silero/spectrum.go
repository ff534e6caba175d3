package silero

import (
	"fmt"
	"math"
	"math/bits"
)

const (
	fftSize = 256
	bins    = fftSize/2 + 1 // of the magnitude spectrum
	half    = fftSize / 2   // points of the complex transform
)

// spectrum computes the magnitude of the short-time Fourier transform with a Hann
// window. The model's file contains the transform as a matrix of 258 x 256; a fast
// transform gives the same numbers except for rounding. It takes 3.5 us per window,
// whereas the matrix takes 9 us with vector instructions and a quarter of a
// megabyte of cache. It is immutable and shared.
type spectrum struct {
	window  [fftSize]float32
	reverse [half]uint8 // reversal of seven bits

	// Twiddle factors: cosine and minus sine of 2*pi*i/fftSize.
	cos, sin [half]float32
}

func newSpectrum() *spectrum {
	s := &spectrum{}
	for i := range s.window {
		s.window[i] = float32(hann(i))
	}
	for i := range half {
		s.reverse[i] = bits.Reverse8(uint8(i)) >> 1
		sin, cos := math.Sincos(2 * math.Pi * float64(i) / fftSize)
		s.cos[i], s.sin[i] = float32(cos), float32(-sin)
	}
	return s
}

// check compares the file's transform (rows of cosines, then rows of negated sines,
// each windowed) with the computed one.
func (s *spectrum) check(basis []float32) error {
	const tolerance = 1e-5
	for k := range bins {
		for n := range fftSize {
			sin, cos := math.Sincos(2 * math.Pi * float64(k*n%fftSize) / fftSize)
			w := hann(n)
			re := float64(basis[k*fftSize+n])
			im := float64(basis[(bins+k)*fftSize+n])
			if math.Abs(re-w*cos) > tolerance || math.Abs(im+w*sin) > tolerance {
				return fmt.Errorf("array %q is not a Fourier transform with a Hann window (row %d, column %d)", basisName, k, n)
			}
		}
	}
	return nil
}

// magnitude writes the magnitudes of fftSize samples to dst. work is scratch
// memory.
//
// The real samples are transformed as half as many complex ones (even samples real,
// odd samples imaginary) and separated afterwards.
func (s *spectrum) magnitude(dst []float32, samples []float32, work *[fftSize]float32) {
	re, im := (*[half]float32)(work[:half]), (*[half]float32)(work[half:])
	samples = samples[:fftSize]
	for i, r := range s.reverse {
		n := 2 * int(r)
		re[i] = samples[n] * s.window[n]
		im[i] = samples[n+1] * s.window[n+1]
	}
	s.transform(re, im)

	dst = dst[:bins]
	dst[0] = abs32(re[0] + im[0])
	dst[half] = abs32(re[0] - im[0])
	for k := 1; k <= half/2; k++ {
		j := half - k
		// The spectra of the even and odd samples at k.
		evenRe, evenIm := (re[k]+re[j])/2, (im[k]-im[j])/2
		oddRe, oddIm := (im[k]+im[j])/2, (re[j]-re[k])/2
		c, w := s.cos[k], s.sin[k]
		turnedRe := oddRe*c - oddIm*w
		turnedIm := oddRe*w + oddIm*c
		dst[k] = length(evenRe+turnedRe, evenIm+turnedIm)
		dst[j] = length(evenRe-turnedRe, evenIm-turnedIm)
	}
}

// transform computes a Fourier transform of half points in place, radix 2, with
// input in bit-reversed order.
func (s *spectrum) transform(re, im *[half]float32) {
	for size := 2; size <= half; size *= 2 {
		step := fftSize / size
		for j := 0; j < size/2; j++ {
			c, w := s.cos[j*step], s.sin[j*step]
			for a := j; a < half; a += size {
				b := (a + size/2) & (half - 1)
				tr := re[b]*c - im[b]*w
				ti := re[b]*w + im[b]*c
				re[b], im[b] = re[a]-tr, im[a]-ti
				re[a], im[a] = re[a]+tr, im[a]+ti
			}
		}
	}
}

func length(re, im float32) float32 { return float32(math.Sqrt(float64(re*re + im*im))) }

func abs32(v float32) float32 { return float32(math.Abs(float64(v))) }
