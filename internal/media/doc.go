// Package media implements the audio path of one conversation: the uplink from the
// person's frames to events, and the downlink from the agent's speech to the carrier,
// which also records what was heard.
//
// The package makes no decisions about the conversation. The uplink runs the turn
// controller on every frame, with the acoustic features and the recognizer's words, and
// posts the results as events; the conversation answers with requests. Processing a
// frame allocates nothing.
//
// Both halves need one call per frame. In real time, a goroutine of package session
// makes the calls at the pace of the clock; in virtual time, the frames are the clock.
package media
