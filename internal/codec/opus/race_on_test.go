//go:build race

package opus

// raceDetector says that every access to memory is slow.
const raceDetector = true
