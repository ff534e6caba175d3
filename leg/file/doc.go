// Package file provides a call leg with a simulated caller: it plays recordings,
// each when the agent has finished or as a barge-in, and hangs up at the end. Both
// sides of the call can be written to WAV files.
//
// In virtual time the leg provides frames as fast as they are read; in real time at
// the pace of the clock. It starts no goroutines.
package file
