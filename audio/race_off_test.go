//go:build !race

package audio

// raceDetector says that every access to memory is slow.
const raceDetector = false
