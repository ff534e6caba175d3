package energy

import "math"

// Periodicity is measured on the sound reduced to 4 kHz, where a voice has its
// fundamental and first harmonics.
const (
	pitchRate   = 4000
	pitchHop    = pitchRate / 50 // samples of a 20 ms frame
	pitchWindow = 96             // 24 ms
	shortestLag = 10             // 400 Hz
	longestLag  = 66             // 61 Hz
)

// pitchHistory keeps the last samples at pitchRate.
type pitchHistory [pitchWindow + longestLag]float32

// push moves the history on by one frame.
func (h *pitchHistory) push(frame *[pitchHop]float32) {
	copy(h[:], h[pitchHop:])
	copy(h[len(h)-pitchHop:], frame[:])
}

// periodicity is the largest normalised correlation of the newest window with
// an earlier one: near 1 for a vowel, about 0.3 for noise.
func (h *pitchHistory) periodicity() float64 {
	now := h[longestLag:]
	energy := dot(now, now)
	first := longestLag - shortestLag // where the window at the shortest lag starts
	past := dot(h[first:first+pitchWindow], h[first:first+pitchWindow])
	best := float32(0)
	for start := first; start >= 0; start-- {
		c := dot(now, h[start:start+pitchWindow])
		if norm := energy * past; c > 0 && norm > 0 {
			best = max(best, c*c/norm)
		}
		if start > 0 {
			in, out := h[start-1], h[start-1+pitchWindow]
			past = max(past+in*in-out*out, 0)
		}
	}
	return math.Sqrt(float64(min(best, 1)))
}

// dot is the inner product of two windows.
func dot(a, b []float32) float32 {
	a, b = a[:pitchWindow], b[:pitchWindow]
	var s0, s1, s2, s3 float32
	for i := 0; i < pitchWindow; i += 4 {
		x, y := (*[4]float32)(a[i:]), (*[4]float32)(b[i:])
		s0 += x[0] * y[0]
		s1 += x[1] * y[1]
		s2 += x[2] * y[2]
		s3 += x[3] * y[3]
	}
	return s0 + s1 + s2 + s3
}
