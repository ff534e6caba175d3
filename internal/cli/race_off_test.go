//go:build !race

package cli

// raceDetector reports whether the race detector slows down memory accesses.
const raceDetector = false
