//go:build race

package cli

// raceDetector says that every access to memory is slow.
const raceDetector = true
