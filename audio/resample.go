package audio

import (
	"fmt"
	"math"
	"slices"
)

// The prototype filter: a sinc under a Kaiser window, 24 periods of the lower
// rate long.
const (
	resampleReach  = 12   // periods of the lower rate on either side: 24 taps per phase
	resampleCutoff = 0.47 // frequency of the -6 dB point, as a fraction of the lower rate
	resampleBeta   = 6.0  // of the Kaiser window: at least 60 dB from 0.55 of the lower rate

	resampleShift   = 22   // number of binary places of the fixed-point coefficients
	resampleChunk   = 960  // input samples added to the history at a time
	resampleMaxTerm = 1280 // of the reduced ratio: 11025 to 32000 Hz is 441:1280
)

// ResamplerOptions configures a [Resampler]. Both rates are required.
type ResamplerOptions struct {
	From, To int // in hertz
}

// Validate returns an error if an option is invalid.
func (o ResamplerOptions) Validate() error {
	if err := checkRate("resampler: From", o.From); err != nil {
		return err
	}
	if err := checkRate("resampler: To", o.To); err != nil {
		return err
	}
	if up, down := o.ratio(); max(up, down) > resampleMaxTerm {
		return fmt.Errorf("resampler: %d to %d Hz is a ratio of %d:%d: expected terms of at most %d", o.From, o.To, down, up, resampleMaxTerm)
	}
	return nil
}

// ratio returns To over From in lowest terms.
func (o ResamplerOptions) ratio() (up, down int) {
	a, b := o.From, o.To
	for b != 0 {
		a, b = b, a%b
	}
	return o.To / a, o.From / a
}

// Resampler converts a mono stream from one sampling rate to another with a
// polyphase FIR filter.
//
// The output is exact in length: n input samples yield ceil(n*To/From) output
// samples in total, however the input is divided. A 20 ms frame yields a 20 ms
// frame at every rate for which 20 ms are a whole number of samples. The ratio is
// stored as two integers, so the output does not drift.
//
// The output is delayed by [Resampler.Latency] samples, 12 periods of the lower
// rate: 1.5 ms at 8 kHz, 0.75 ms at 16 kHz. The response is flat to 0.1 dB up to
// 0.4 of the lower rate (3.2 kHz for 8 kHz), -0.7 dB at 0.425 (3.4 kHz, the end of
// the telephone band) and below -60 dB from 0.55; aliases and images lie above
// 0.45. A constant input is reproduced exactly.
//
// Samples are computed with integers, so that every machine gives the same result.
// A Resampler must be used by one goroutine at a time. It allocates nothing after
// [NewResampler] if the caller's slices have the capacity.
//
// Source: R. E. Crochiere and L. R. Rabiner, "Multirate Digital Signal Processing",
// 1983, chapter 4 (polyphase structures); J. F. Kaiser, "Nonrecursive digital
// filter design using the I0-sinh window function", 1974.
type Resampler struct {
	// Constant after construction. An input sample lasts up ticks of the common
	// rate, an output sample down ticks.
	up, down int
	taps     int     // per phase, a multiple of eight
	coef     []int32 // up phases of taps each, for samples in ascending order
	latency  int     // output samples
	history  int     // input samples kept before the current chunk
	delay    int     // ticks by which the latency exceeds the filter's own delay

	buf    []int16 // the history, then the chunk
	newest int     // index in buf of the newest sample under the filter
	phase  int     // ticks from there to the filter's end, 1 to up
	due    int     // ticks of input not yet covered by output, at most 0 between calls
}

// NewResampler computes the filter and returns a resampler with an empty history.
func NewResampler(o ResamplerOptions) (*Resampler, error) {
	if err := o.Validate(); err != nil {
		return nil, err
	}
	up, down := o.ratio()
	r := &Resampler{up: up, down: down}
	if up == down {
		return r, nil
	}
	reach := resampleReach * max(up, down)
	r.taps = (2*reach + up - 1) / up
	r.taps = (r.taps + 7) / 8 * 8
	r.coef = resampleFilter(up, r.taps, reach)
	r.latency = (reach + down - 1) / down
	r.delay = r.latency*down - reach
	r.history = r.taps + down/up + 2
	r.buf = make([]int16, r.history+resampleChunk)
	r.Reset()
	return r, nil
}

// resampleFilter divides the prototype, which extends reach ticks to either side,
// into its phases. Each phase is scaled to a sum of one, so that the gain at 0 Hz
// is exact and the same in all phases.
func resampleFilter(up, taps, reach int) []int32 {
	coef := make([]int32, up*taps)
	values := make([]float64, taps)
	for phase := 1; phase <= up; phase++ {
		sum := 0.0
		for j := range values {
			// Tap j is j input samples before the newest one.
			values[j] = prototype(float64(phase+j*up-reach) / float64(reach))
			sum += values[j]
		}
		row := coef[(phase-1)*taps : phase*taps]
		var total int32
		largest := 0
		for j, v := range values {
			k := taps - 1 - j
			row[k] = int32(math.RoundToEven(v / sum * (1 << resampleShift)))
			total += row[k]
			if row[k] > row[largest] {
				largest = k
			}
		}
		row[largest] += 1<<resampleShift - total
	}
	return coef
}

// prototype returns the windowed sinc at x, from -1 to 1.
func prototype(x float64) float64 {
	if x <= -1 || x >= 1 {
		return 0
	}
	window := bessel0(resampleBeta * math.Sqrt(1-x*x))
	arg := 2 * math.Pi * resampleCutoff * resampleReach * x
	if arg == 0 {
		return window
	}
	return window * math.Sin(arg) / arg
}

// bessel0 returns the modified Bessel function of the first kind and order zero,
// computed from its power series.
func bessel0(x float64) float64 {
	sum, term := 1.0, 1.0
	for k := 1.0; term > sum*1e-16; k++ {
		term *= (x / 2 / k) * (x / 2 / k)
		sum += term
	}
	return sum
}

// Latency returns the delay of the output in output samples. To align a whole
// recording with its input, drop that many samples at the start and call
// [Resampler.Flush] at the end.
func (r *Resampler) Latency() int { return r.latency }

// MaxOutput returns the largest number of samples that Append produces from n
// samples.
func (r *Resampler) MaxOutput(n int) int { return (n*r.up + r.down - 1) / r.down }

// Reset clears the history, as for a new stream.
func (r *Resampler) Reset() {
	clear(r.buf)
	r.due = 0
	// For the first output sample the filter ends delay ticks before the first
	// input sample.
	r.newest, r.phase = r.history, -r.delay
	for r.phase < 1 && r.taps > 0 {
		r.newest--
		r.phase += r.up
	}
}

// Append resamples the next samples, in any number, appends the result to dst and
// returns the extended slice. It allocates only if dst lacks a capacity of
// [Resampler.MaxOutput] more samples. dst and src must not overlap.
func (r *Resampler) Append(dst, src []int16) []int16 {
	if r.up == r.down {
		return append(dst, src...)
	}
	dst = slices.Grow(dst, r.MaxOutput(len(src)))
	for len(src) > 0 {
		n := copy(r.buf[r.history:], src)
		src = src[n:]
		r.due += n * r.up
		dst = r.drain(dst)
		copy(r.buf, r.buf[n:n+r.history])
		r.newest -= n
	}
	return dst
}

// drain appends the output that is due.
func (r *Resampler) drain(dst []int16) []int16 {
	hop, turn := r.down/r.up, r.down%r.up
	for r.due > 0 {
		coef := r.coef[(r.phase-1)*r.taps : r.phase*r.taps]
		sum := dot(coef, r.buf[r.newest-r.taps+1:r.newest+1])
		sum = (sum + 1<<(resampleShift-1)) >> resampleShift
		dst = append(dst, int16(max(math.MinInt16, min(math.MaxInt16, sum))))

		r.due -= r.down
		r.newest += hop
		r.phase += turn
		if r.phase > r.up {
			r.phase -= r.up
			r.newest++
		}
	}
	return dst
}

// dot returns the inner product of coef and pcm, whose length must be a multiple of
// eight. Eight products at a time and two sums let the processor overlap the work.
func dot(coef []int32, pcm []int16) int64 {
	var even, odd int64
	for len(coef) >= 8 && len(pcm) >= 8 {
		c, x := (*[8]int32)(coef), (*[8]int16)(pcm)
		even += int64(c[0])*int64(x[0]) + int64(c[2])*int64(x[2]) + int64(c[4])*int64(x[4]) + int64(c[6])*int64(x[6])
		odd += int64(c[1])*int64(x[1]) + int64(c[3])*int64(x[3]) + int64(c[5])*int64(x[5]) + int64(c[7])*int64(x[7])
		coef, pcm = coef[8:], pcm[8:]
	}
	return even + odd
}

// Flush appends the last Latency samples of the stream, which are still in the
// filter's history, and resets the resampler. It allocates only if dst lacks the
// capacity.
func (r *Resampler) Flush(dst []int16) []int16 {
	if r.latency == 0 {
		return dst
	}
	dst = slices.Grow(dst, r.latency)
	// The latency is shorter than a chunk, so one chunk of silence is enough.
	clear(r.buf[r.history:])
	r.due = r.latency * r.down
	dst = r.drain(dst)
	r.Reset()
	return dst
}

// Resample converts a whole recording. The result is aligned with pcm and has
// ceil(len(pcm)*to/from) samples. Rates are in hertz.
func Resample(pcm []int16, from, to int) ([]int16, error) {
	r, err := NewResampler(ResamplerOptions{From: from, To: to})
	if err != nil {
		return nil, err
	}
	out := make([]int16, 0, r.MaxOutput(len(pcm))+r.latency)
	return r.Flush(r.Append(out, pcm))[r.latency:], nil
}
