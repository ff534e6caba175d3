//go:build race

package app

// raceDetector says that every access to memory is slow.
const raceDetector = true
