package audio

import "math"

// fullScale is the magnitude of level 1.
const fullScale = 1 << 15

// SilenceDBFS is the value of [DBFS] for digital silence, and its minimum. It is
// just below one step of 16-bit sound and, unlike minus infinity, can be written as
// JSON.
const SilenceDBFS = -100.0

// RMS returns the root mean square of pcm, the "frame energy" of turn-taking: 0 for
// silence, 1 for a square wave at full scale, 0.707 for a sine at full scale. It
// returns 0 if pcm is empty.
//
// Source: seed 002, acoustic features (frame_energy).
func RMS(pcm []int16) float64 {
	if len(pcm) == 0 {
		return 0
	}
	return math.Sqrt(float64(energy(pcm))/float64(len(pcm))) / fullScale
}

// energy returns the sum of the squares. It is exact for up to 2^33 samples.
func energy(pcm []int16) int64 {
	var sum int64
	for _, s := range pcm {
		v := int64(s)
		sum += v * v
	}
	return sum
}

// Peak returns the largest magnitude in pcm, from 0 to 1.
func Peak(pcm []int16) float64 {
	var low, high int16
	for _, s := range pcm {
		low, high = min(low, s), max(high, s)
	}
	return float64(max(-int32(low), int32(high))) / fullScale
}

// DBFS converts a level from 0 to 1 ([RMS] or [Peak]) to decibels relative to full
// scale, at least [SilenceDBFS]. Level 1 is 0 dB, so a sine at full scale has an
// RMS of -3 dBFS; meters that follow AES17 show 3 dB more.
func DBFS(level float64) float64 {
	if !(level > 0) { // NaN too
		return SilenceDBFS
	}
	return max(20*math.Log10(level), SilenceDBFS)
}

// FromDBFS is the inverse of [DBFS]. It also converts decibels of gain to a factor.
// It returns 0 for [SilenceDBFS] and below.
func FromDBFS(db float64) float64 {
	if !(db > SilenceDBFS) {
		return 0
	}
	return math.Pow(10, db/20)
}
