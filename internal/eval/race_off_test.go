//go:build !race

package eval

// raceDetector says that every access to memory is slow.
const raceDetector = false
