package energy

import "math"

// Periodicity is measured at 4 kHz, which contains the fundamental and first
// harmonics of a voice.
const (
	pitchRate   = 4000
	pitchHop    = pitchRate / 50 // samples per 20 ms frame
	pitchWindow = 96             // 24 ms
	shortestLag = 10             // 400 Hz
	longestLag  = 66             // 61 Hz
)

// pitchHistory contains the last samples at pitchRate.
type pitchHistory [pitchWindow + longestLag]float32

// push adds one frame.
func (h *pitchHistory) push(frame *[pitchHop]float32) {
	copy(h[:], h[pitchHop:])
	copy(h[len(h)-pitchHop:], frame[:])
}

// periodicity returns the largest normalized correlation of the newest window with
// an earlier one: near 1 for a vowel, about 0.3 for noise.
func (h *pitchHistory) periodicity() float64 {
	now := h[longestLag:]
	energy := dot(now, now)
	first := longestLag - shortestLag // start of the window at the shortest lag
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

// dot returns the inner product of two windows.
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
