//go:build !race

package webrtc

// raceDetector reports whether the race detector slows down memory accesses.
const raceDetector = false
