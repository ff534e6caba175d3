package audio

import "time"

// FrameDuration is the length of every frame on the audio path.
const FrameDuration = 20 * time.Millisecond

// Pos is a position in a stream, counted in samples since its start at the
// stream's own rate.
type Pos int64

// Duration converts a position to time at the given rate in hertz. It is exact
// to the nanosecond for the rates in use and does not overflow for streams of
// less than a year.
func (p Pos) Duration(rate int) time.Duration {
	if rate <= 0 {
		return 0
	}
	seconds := int64(p) / int64(rate)
	rest := int64(p) % int64(rate)
	return time.Duration(seconds)*time.Second + time.Duration(rest*int64(time.Second)/int64(rate))
}

// PosOf is the inverse of [Pos.Duration]: the sample nearest to d, which is not
// negative.
func PosOf(d time.Duration, rate int) Pos {
	seconds := int64(d / time.Second)
	rest := int64(d % time.Second)
	return Pos(seconds*int64(rate) + (rest*int64(rate)+int64(time.Second)/2)/int64(time.Second))
}

// FrameSamples is the number of samples of a 20 ms frame at the given rate.
func FrameSamples(rate int) int { return rate / 50 }

// Frame is a piece of mono sound, 20 ms long on the frame path.
//
// PCM is lent, not given: it is valid until the call that received the frame
// returns. Who keeps samples copies them.
type Frame struct {
	Pos  Pos     // position of the first sample in its stream
	Rate int     // samples per second
	PCM  []int16 // the samples
}

// Duration is the length of the frame.
func (f Frame) Duration() time.Duration { return Pos(len(f.PCM)).Duration(f.Rate) }

// End is the position just behind the frame's last sample.
func (f Frame) End() Pos { return f.Pos + Pos(len(f.PCM)) }
