package audio

import "math"

// maxGain bounds every gain factor: more than the range of 16 bits is a mistake.
const maxGain = fullScale

// Mix adds src to dst, sample by sample and saturating, over the shorter of the
// two, and returns how many samples that were.
func Mix(dst, src []int16) int {
	n := min(len(dst), len(src))
	dst, src = dst[:n], src[:n]
	for i, s := range src {
		dst[i] = saturate(int32(dst[i]) + int32(s))
	}
	return n
}

// Ramp scales pcm in place by a gain that moves in a straight line: the last
// sample gets the gain to, the sample before the first would have had from.
// Ramps that follow each other therefore join without a step, and
// Ramp(pcm, 0, 1) and Ramp(pcm, 1, 0) fade in and out. Results saturate; a gain
// below 0 or NaN counts as 0.
func Ramp(pcm []int16, from, to float64) {
	from, to = validGain(from), validGain(to)
	ramp(pcm, from, to, 0, Pos(len(pcm)))
}

// ramp scales pcm, which lies done samples behind the start of a ramp of the
// given length and must not reach past its end.
func ramp(pcm []int16, from, to float64, done, length Pos) {
	if from == to {
		scale(pcm, to)
		return
	}
	for i, s := range pcm {
		pcm[i] = scaled(s, gainAt(from, to, done+Pos(i)+1, length))
	}
}

// gainAt is the gain after done samples of a ramp of the given length. The
// inner conversion keeps compilers from fusing multiplication and addition, so
// that every machine computes the same.
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

// Fader is a volume control that never clicks: it reaches a new gain in a
// straight line over as many samples as asked, across frames. The zero value
// passes sound unchanged.
//
// A Fader belongs to one goroutine.
type Fader struct {
	touched  bool // false until a gain was given: from and to mean nothing yet
	from, to float64

	done, length Pos // how far the ramp has come, and where it ends
}

// Set changes the gain at once. It is for moments when nothing sounds; while
// something does, use [Fader.FadeTo].
func (f *Fader) Set(gain float64) {
	*f = Fader{touched: true, to: validGain(gain)}
}

// FadeTo starts a ramp from the gain that holds now to the given one, over the
// next samples. A ramp under way is abandoned where it is. With over <= 0 it is
// Set. A gain below 0 or NaN counts as 0.
func (f *Fader) FadeTo(gain float64, over Pos) {
	if over <= 0 {
		f.Set(gain)
		return
	}
	*f = Fader{touched: true, from: f.Gain(), to: validGain(gain), length: over}
}

// Gain is the factor that the last sample got.
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

// Settled reports whether no ramp is under way.
func (f *Fader) Settled() bool { return f.done >= f.length }

// Apply scales pcm in place and moves the ramp on by its length.
func (f *Fader) Apply(pcm []int16) {
	if !f.Settled() {
		n := min(f.length-f.done, Pos(len(pcm)))
		ramp(pcm[:n], f.from, f.to, f.done, f.length)
		f.done += n
		pcm = pcm[n:]
	}
	scale(pcm, f.Gain())
}
