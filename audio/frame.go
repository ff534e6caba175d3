package audio

import "time"

// FrameDuration is the length of every frame on the audio path.
const FrameDuration = 20 * time.Millisecond

// Pos is a position in a stream, counted in samples since its start at the
// stream's own rate.
type Pos int64

// Duration converts a position to a time at the given rate in hertz. It is exact to
// the nanosecond for the rates in use and does not overflow for streams of less
// than a year.
func (p Pos) Duration(rate int) time.Duration {
	if rate <= 0 {
		return 0
	}
	seconds := int64(p) / int64(rate)
	rest := int64(p) % int64(rate)
	return time.Duration(seconds)*time.Second + time.Duration(rest*int64(time.Second)/int64(rate))
}

// PosOf is the inverse of [Pos.Duration]. It returns the sample nearest to d, which
// must not be negative.
func PosOf(d time.Duration, rate int) Pos {
	seconds := int64(d / time.Second)
	rest := int64(d % time.Second)
	return Pos(seconds*int64(rate) + (rest*int64(rate)+int64(time.Second)/2)/int64(time.Second))
}

// FrameSamples returns the number of samples in a 20 ms frame at the given rate in
// hertz.
func FrameSamples(rate int) int { return rate / 50 }

// Frame is a piece of mono sound. On the frame path it is 20 ms long.
//
// PCM is valid only until the call that received the frame returns. A caller that
// keeps samples must copy them.
type Frame struct {
	Pos  Pos     // position of the first sample in its stream
	Rate int     // samples per second
	PCM  []int16 // the samples
}

// Duration returns the length of the frame.
func (f Frame) Duration() time.Duration { return Pos(len(f.PCM)).Duration(f.Rate) }

// End returns the position after the frame's last sample.
func (f Frame) End() Pos { return f.Pos + Pos(len(f.PCM)) }
