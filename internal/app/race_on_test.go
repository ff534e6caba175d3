//go:build race

package app

// raceDetector is true if the race detector slows down every access to memory.
const raceDetector = true
