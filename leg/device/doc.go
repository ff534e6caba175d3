// Package device provides a call leg on this machine's microphone and speaker, and a
// speaker that plays a call which is held by another leg.
//
// The sound devices are reached through miniaudio, in builds with cgo and the tag
// "sound"; in others opening a device returns [ErrNoSound].
package device
