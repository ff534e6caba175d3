package smartturn

import (
	"math"
	"math/cmplx"
)

// The spectrogram: that of Whisper, for eight seconds.
const (
	sampleRate = 16000
	samples    = 8 * sampleRate
	window     = 400 // samples of a column's window
	hop        = 160 // samples from column to column
	columns    = samples / hop
	bands      = 80
	bins       = window/2 + 1
)

// spectrum computes spectrograms. It must be used by one goroutine at a time.
type spectrum struct {
	hann    [window]float64
	filters [bands]filter
	fft     *fft

	sound  [samples]float64
	frame  [window]float64
	power  [bins]float64
	column [bands]float64
}

// filter is a band's weights of the bins from the first on.
type filter struct {
	first   int
	weights []float64
}

// Frequencies on the mel scale of Slaney: linear below 1 kHz, logarithmic above.
const (
	linearHertz = 1000.0
	linearMel   = 15.0
)

func toMel(hertz float64) float64 {
	if hertz < linearHertz {
		return hertz * 3 / 200
	}
	return linearMel + math.Log(hertz/linearHertz)*27/math.Log(6.4)
}

func toHertz(mel float64) float64 {
	if mel < linearMel {
		return mel * 200 / 3
	}
	return linearHertz * math.Exp(math.Log(6.4)/27*(mel-linearMel))
}

func newSpectrum() *spectrum {
	s := &spectrum{fft: newFFT(window / 2)}
	for i := range s.hann {
		s.hann[i] = 0.5 - 0.5*math.Cos(2*math.Pi*float64(i)/window)
	}
	var edges [bands + 2]float64
	for i := range edges {
		edges[i] = toHertz(toMel(sampleRate/2) * float64(i) / (bands + 1))
	}
	for b := range s.filters {
		f := &s.filters[b]
		low, mid, high := edges[b], edges[b+1], edges[b+2]
		for k := range bins {
			hertz := float64(k) * sampleRate / window
			w := min((hertz-low)/(mid-low), (high-hertz)/(high-mid))
			if w <= 0 {
				continue
			}
			if f.weights == nil {
				f.first = k
			}
			f.weights = append(f.weights, w*2/(high-low))
		}
	}
	return s
}

// features writes the spectrogram of the last eight seconds of a sound to out, band by band.
// Silence goes before a shorter sound.
func (s *spectrum) features(pcm []int16, out []float32) {
	pad := s.load(pcm)
	loudest := math.Inf(-1)
	for c := range columns {
		// The columns of the silence before the sound are the same, but for the first two.
		if c < 3 || c*hop+window/2 > pad {
			s.columnAt(c * hop)
		}
		for b, v := range &s.column {
			loudest = max(loudest, v)
			out[b*columns+c] = float32(v)
		}
	}
	least := float32(loudest - 8)
	for i, v := range out[:bands*columns] {
		out[i] = (max(v, least) + 4) / 4
	}
}

// load takes the sound with mean zero and variance one, and returns the number of samples of
// silence before it.
func (s *spectrum) load(pcm []int16) (pad int) {
	pcm = pcm[max(len(pcm)-samples, 0):]
	pad = samples - len(pcm)
	sum, squares := 0.0, 0.0
	for _, v := range pcm {
		x := float64(v) / 32768
		sum += x
		squares += x * x
	}
	mean := sum / samples
	scale := 1 / math.Sqrt(max(squares/samples-mean*mean, 0)+1e-7)
	for i := range pad {
		s.sound[i] = -mean * scale
	}
	for i, v := range pcm {
		s.sound[pad+i] = (float64(v)/32768 - mean) * scale
	}
	return pad
}

// columnAt computes the column whose window's middle is at a sample. The sound is mirrored at
// its ends.
func (s *spectrum) columnAt(middle int) {
	for i := range s.frame {
		at := middle - window/2 + i
		if at < 0 {
			at = -at
		}
		if at >= samples {
			at = 2*(samples-1) - at
		}
		s.frame[i] = s.sound[at] * s.hann[i]
	}
	s.fft.power(s.frame[:], s.power[:])
	for b := range s.filters {
		f := &s.filters[b]
		sum := 0.0
		for i, w := range f.weights {
			sum += w * s.power[f.first+i]
		}
		s.column[b] = math.Log10(max(sum, 1e-10))
	}
}

// fft transforms n complex numbers, for an n whose prime factors are at most 5.
type fft struct {
	n       int
	factors []int
	turns   []complex128 // exp(-2 pi i k / n)
	halves  []complex128 // exp(-pi i k / n)
	a, b    []complex128
}

func newFFT(n int) *fft {
	f := &fft{n: n, turns: make([]complex128, n), halves: make([]complex128, n+1), a: make([]complex128, n), b: make([]complex128, n)}
	for k := range f.turns {
		f.turns[k] = cmplx.Rect(1, -2*math.Pi*float64(k)/float64(n))
	}
	for k := range f.halves {
		f.halves[k] = cmplx.Rect(1, -math.Pi*float64(k)/float64(n))
	}
	for _, p := range []int{5, 4, 3, 2} {
		for n%p == 0 {
			f.factors = append(f.factors, p)
			n /= p
		}
	}
	return f
}

// transform replaces a by its transform, with b as scratch (Stockham's algorithm).
func (f *fft) transform() {
	before, left := 1, f.n // the product of the factors that are done, and of the others
	for _, p := range f.factors {
		left /= p
		for k := range before {
			for q := range p {
				out := f.b[(k+before*q)*left:][:left]
				clear(out)
				for r := range p {
					w := f.turns[r*(k+before*q)*left%f.n]
					for j, v := range f.a[(k*p+r)*left:][:left] {
						out[j] += v * w
					}
				}
			}
		}
		f.a, f.b = f.b, f.a
		before *= p
	}
}

// power writes the power of the n+1 frequencies of 2n real samples.
func (f *fft) power(in, out []float64) {
	for i := range f.n {
		f.a[i] = complex(in[2*i], in[2*i+1])
	}
	f.transform()
	for k := range f.n + 1 {
		x, y := f.a[k%f.n], cmplx.Conj(f.a[(f.n-k)%f.n])
		even, odd := (x+y)/2, (x-y)*complex(0, -0.5)
		z := even + odd*f.halves[k]
		out[k] = real(z)*real(z) + imag(z)*imag(z)
	}
}
