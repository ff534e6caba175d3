//go:build race

package opus

// raceDetector reports whether the race detector slows down memory accesses.
const raceDetector = true
