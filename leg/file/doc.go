// Package file is a call leg without a person: a caller made of recordings, who
// speaks each of them when the agent has finished, or breaks in, and hangs up
// at the end. Both sides of the call can be written to WAV files.
//
// In virtual time the leg hands out its frames as fast as they are read; in
// real time at the pace of the clock. It owns no goroutine.
package file
