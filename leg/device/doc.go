// Package device provides a call leg that uses this machine's microphone and speaker,
// and a speaker that plays the call of another leg.
//
// It accesses sound devices through miniaudio, in builds with cgo and the tag "sound".
// In other builds, opening a device returns [ErrNoSound].
package device
