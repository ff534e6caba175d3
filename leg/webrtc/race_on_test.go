//go:build race

package webrtc

// raceDetector says that every access to memory is slow.
const raceDetector = true
