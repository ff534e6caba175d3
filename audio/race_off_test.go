//go:build !race

package audio

// raceDetector reports whether the race detector slows down memory accesses.
const raceDetector = false
