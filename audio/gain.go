package audio

import "math"

// maxGain bounds every gain factor. A larger factor exceeds the range of 16 bits
// and can only be a mistake.
const maxGain = fullScale

// Mix adds src to dst sample by sample, with saturation, over the length of the
// shorter slice, and returns the number of samples mixed.
func Mix(dst, src []int16) int {
	n := min(len(dst), len(src))
	dst, src = dst[:n], src[:n]
	for i, s := range src {
		dst[i] = saturate(int32(dst[i]) + int32(s))
	}
	return n
}

// Ramp scales pcm in place by a gain that changes linearly: the last sample is
// scaled by to, and the sample before the first would have been scaled by from.
// Consecutive ramps therefore join without a step; Ramp(pcm, 0, 1) fades in and
// Ramp(pcm, 1, 0) fades out. Results saturate. A gain below 0 or NaN counts as 0.
func Ramp(pcm []int16, from, to float64) {
	from, to = validGain(from), validGain(to)
	ramp(pcm, from, to, 0, Pos(len(pcm)))
}

// ramp scales pcm, which starts done samples after the start of a ramp of the given
// length and must not extend past its end.
func ramp(pcm []int16, from, to float64, done, length Pos) {
	if from == to {
		scale(pcm, to)
		return
	}
	for i, s := range pcm {
		pcm[i] = scaled(s, gainAt(from, to, done+Pos(i)+1, length))
	}
}

// gainAt returns the gain after done samples of a ramp of the given length. The
// inner conversion prevents compilers from fusing multiplication and addition, so
// that every machine computes the same result.
func gainAt(from, to float64, done, length Pos) float64 {
	return from + float64((to-from)*(float64(done)/float64(length)))
}

// scale applies a constant gain.
func scale(pcm []int16, gain float64) {
	switch gain {
	case 1:
	case 0:
		clear(pcm)
	default:
		for i, s := range pcm {
			pcm[i] = scaled(s, gain)
		}
	}
}

func scaled(s int16, gain float64) int16 {
	v := math.RoundToEven(float64(s) * gain)
	return int16(max(math.MinInt16, min(math.MaxInt16, v)))
}

func saturate(v int32) int16 {
	return int16(max(math.MinInt16, min(math.MaxInt16, v)))
}

func validGain(gain float64) float64 {
	if !(gain > 0) { // NaN too
		return 0
	}
	return min(gain, maxGain)
}

// Fader is a volume control that does not click: it approaches a new gain linearly
// over a given number of samples, across frames. The zero value leaves sound
// unchanged.
//
// A Fader must be used by one goroutine at a time.
type Fader struct {
	touched  bool // false until a gain was set; from and to are then meaningless
	from, to float64

	done, length Pos // progress and length of the ramp, in samples
}

// Set changes the gain at once. It is meant for silence; use [Fader.FadeTo] while
// sound is playing.
func (f *Fader) Set(gain float64) {
	*f = Fader{touched: true, to: validGain(gain)}
}

// FadeTo starts a ramp from the current gain to the given one, over the next
// samples. It replaces a ramp in progress. If over <= 0, it is equivalent to Set. A
// gain below 0 or NaN counts as 0.
func (f *Fader) FadeTo(gain float64, over Pos) {
	if over <= 0 {
		f.Set(gain)
		return
	}
	*f = Fader{touched: true, from: f.Gain(), to: validGain(gain), length: over}
}

// Gain returns the factor applied to the last sample.
func (f *Fader) Gain() float64 {
	switch {
	case !f.touched:
		return 1
	case f.Settled():
		return f.to
	default:
		return gainAt(f.from, f.to, f.done, f.length)
	}
}

// Settled reports whether no ramp is in progress.
func (f *Fader) Settled() bool { return f.done >= f.length }

// Apply scales pcm in place and advances the ramp by its length.
func (f *Fader) Apply(pcm []int16) {
	if !f.Settled() {
		n := min(f.length-f.done, Pos(len(pcm)))
		ramp(pcm[:n], f.from, f.to, f.done, f.length)
		f.done += n
		pcm = pcm[n:]
	}
	scale(pcm, f.Gain())
}
