// Package media is the audio path of one conversation: the uplink from the
// person's frames to facts, and the downlink from the agent's speech to the
// carrier, with the ledger of what has been heard.
//
// It decides nothing about the conversation. The uplink steps the turn
// controller on every frame, where the acoustic features and the recognizer's
// words meet, and posts what it finds as facts; the conversation sends back
// what to do. The frame path allocates nothing.
//
// Both halves are plain values with a call per frame: in real time a goroutine
// of package session makes the calls on the beat of the clock, in virtual time
// the frames themselves are the clock.
package media
